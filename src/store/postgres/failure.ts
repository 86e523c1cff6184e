// Failures of PostgreSQL, explained to people: the cause and the remedy.
import { errorText } from '../../core/nearest.ts';
import { nameOf, type PostgresPlace, type StoreFailure } from '../../core/store-failure.ts';
import { DamagedRowError, StoreError } from '../failure.ts';
import { NewerStoreError } from '../schema/migrations.ts';
import { OldPrimaryError, schema } from './connection.ts';
import { settingRole, sqlName } from './setup.ts';

class PostgresFailure extends StoreError {
  /** Original error. Private, because a log would repeat it. */
  readonly #raw: unknown;

  constructor(message: string, raw: unknown) {
    super(message);
    this.#raw = raw;
  }

  static rawOf(error: unknown): unknown {
    return error instanceof PostgresFailure ? error.#raw : error;
  }
}

/** PostgreSQL's code of five letters, or Node.js's code of a connection error, or null. */
function codeOf(given: unknown): string | null {
  const error = PostgresFailure.rawOf(given);
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}

const isServers = (code: string) => /^[0-9A-Z]{5}$/.test(code);

/** True if the connection was lost or never existed: the outcome of the last statement is unknown. */
function isAway(given: unknown): boolean {
  const error = PostgresFailure.rawOf(given);
  const code = codeOf(error);
  if (code !== null && isServers(code)) return /^(08|57P0)/.test(code);
  if (code !== null) return /^E[A-Z_]+$/.test(code);
  if (error instanceof StoreError) return false;
  return error instanceof Error && /connection|timeout|not queryable|discarded/i.test(error.message);
}

/** Failure inside the server, for example "tuple concurrently updated", or a session that a pooler ended. */
const isInternal = (error: unknown) => codeOf(error) === 'XX000';

/** True if a COMMIT that failed so may have taken place. */
export const leavesDoubt = (error: unknown) => isAway(error) || isInternal(error);

/** True for failures with a temporary cause: connection, failover, lock, slow statement, too many connections. */
export const mayPass = (error: unknown) =>
  isAway(error) || isInternal(error) || /^(25006|25P0[34]|40|53300|55P03|57014)/.test(codeOf(error) ?? '');

const tlsCode = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/;

function isOfTls(error: unknown): boolean {
  const said = error instanceof Error ? error.message : '';
  return tlsCode.test(codeOf(error) ?? '') || said.includes('SSL');
}

/** True if the server refused or ended the connection: the next write uses another connection. */
const isRefusedConnection = (error: unknown) =>
  /^(25P0[34]|28|3D000|53300)/.test(codeOf(error) ?? '') || isOfTls(error);

const isReadOnly = (error: unknown) => codeOf(error) === '25006';

/** A failure of PostgreSQL or its connection becomes sentences that name the server. */
export function forCaller(place: PostgresPlace, error: unknown): unknown {
  const isTheirs = !(error instanceof StoreError) && (codeOf(error) !== null || isAway(error));
  if (!isTheirs) return error;
  const { said, remedy } = failureOf(place, error);
  return new PostgresFailure(`${said}. ${remedy}`, error);
}

export function failureOf(place: PostgresPlace, given: unknown): StoreFailure {
  const error = PostgresFailure.rawOf(given);
  const said = errorText(error);
  if (error instanceof DamagedRowError)
    return { said, remedy: 'Restore a backup, or keep a copy of the row and delete it.', lasting: true };
  return {
    said: saidOf(place, error),
    remedy: remedyOf(place, error),
    lasting: isDamage(error),
    ...((isAway(error) || isReadOnly(error) || isRefusedConnection(error)) && { untilWritten: true }),
    ...(mayPass(error) && { mayPass: true }),
  };
}

function saidOf(place: PostgresPlace, error: unknown): string {
  const said = errorText(error);
  // A host with several addresses fails with one error per address, in an outer error with an empty text.
  const inner = error instanceof AggregateError ? error.errors.map((one) => (one as Error).message).join('; ') : said;
  const server = `PostgreSQL at ${place.host}:${place.port}`;
  return isAway(error) ? `${server} does not answer: ${inner}` : `${server} reports: ${inner}`;
}

const isDamage = (error: unknown) => ['XX001', 'XX002'].includes(codeOf(error) ?? '');

export const damageSaid = (place: PostgresPlace, error: unknown): string | null =>
  isDamage(error) ? saidOf(place, error) : null;

/** Remedy for a missing schema, table or column. The error also occurs if the role may not access the schema. */
const missing = ({ user }: PostgresPlace) =>
  `A part of the store was deleted, or ${user} may not use its schema. Give the role its rights: ${granting(user)} Warmwarden then continues by itself. Otherwise stop Warmwarden and restore a backup: a restart without one begins with an empty store.`;

const granting = (user: string) =>
  `GRANT USAGE ON SCHEMA ${schema} TO ${sqlName(user)}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${sqlName(user)};`;

const byItself = '; Warmwarden then continues by itself';

const damaged =
  'Data in the database seems damaged: run `warmwarden store check`. Only if it finds damage too, stop Warmwarden and restore a backup.';

/** Remedies by the code, or by its first two letters. */
const remedies: Readonly<Record<string, string | ((place: PostgresPlace, said: string) => string)>> = {
  '28': ({ user }) => `Check the user ${user} and its password: store.url, store.password or store.password_file.`,
  '3D000': ({ database }) => `Create the database: CREATE DATABASE ${sqlName(database)};`,
  '42501': ({ user, database }, said) =>
    said.includes('for database')
      ? `Give the role its rights: GRANT CREATE ON DATABASE ${sqlName(database)} TO ${sqlName(user)};`
      : `Use the role that owns the store, or give the role its rights: ${granting(user)}`,
  '25006': `It is a standby, or default_transaction_read_only is on. Point store.url at the primary, or set this to off${byItself}.`,
  '3F000': missing,
  '42P01': missing,
  '42703': missing,
  '53100': `Free up space on the PostgreSQL server's disk${byItself}.`,
  '53300':
    'Raise max_connections, or the limit of the role or of the database: each Warmwarden process needs four connections.',
  '25P03': `A transaction paused for 2 s. Reduce the load of the machine that runs Warmwarden, or of the network${byItself}.`,
  '25P04': `A transaction took too long: raise transaction_timeout of the role${byItself}.`,
  '40': `Another transaction was in the way: wait a moment${byItself}.`,
  '55P03': `Another session holds a lock on the tables: find it in pg_stat_activity, and end it${byItself}.`,
  '57014': (place) => {
    const less = `A statement took too long: reduce the load of the PostgreSQL server, or use a faster one${byItself}.`;
    // Each connection sets its own timeout, which overrides that of the role, unless a pooler answers.
    if (place.isPooled !== true) return less;
    return `${less} If statement_timeout of the role is shorter than 20 s, run ${settingRole(place, 'statement_timeout', 20)} and RECONNECT in the pooler.`;
  },
  XX000: `The log of the PostgreSQL server or of the pooler has the cause: wait a moment${byItself}.`,
  XX001: damaged,
  XX002: damaged,
};

function remedyOf(place: PostgresPlace, error: unknown): string {
  const code = codeOf(error) ?? '';
  const said = errorText(error);
  const known = remedies[code] ?? remedies[code.slice(0, 2)];
  if (known !== undefined) return typeof known === 'string' ? known : known(place, said);
  if (isOfTls(error))
    return 'Set store.ca_file to the certificate of the authority that signed the certificate of the server, or store.tls to "off" in a network that you trust.';
  if (isAway(error)) return `Start PostgreSQL or repair the network${byItself}.`;
  return 'The log of the PostgreSQL server has the cause.';
}

export function postgresError(place: PostgresPlace, given: unknown): Error {
  return given instanceof PostgresFailure && isAway(given) ? given : openingError(place, given);
}

export function openingError(place: PostgresPlace, given: unknown): Error {
  const error = PostgresFailure.rawOf(given);
  if (error instanceof DamagedRowError)
    return new StoreError(`The store ${nameOf(place)} is damaged: ${error.message}.`);
  if (error instanceof OldPrimaryError)
    return new StoreError(
      `The store ${nameOf(place)} can't be used: ${error.message}. ${error.remedy.replace(byItself, ', and try again')} ${error.atStart}`,
    );
  if (error instanceof StoreError || error instanceof NewerStoreError) return error;
  const { said, remedy } = failureOf(place, error);
  // The address may lead to the wrong server.
  const address = isAway(error) ? 'Check the host and the port in store.url. ' : '';
  return new StoreError(
    `The store ${nameOf(place)} can't be opened: ${said}. ${address}${remedy.replace(byItself, ', and try again')}`,
  );
}
