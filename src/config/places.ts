// The sections store, recipes and retention: what is kept, where, and for how long. Commands that run beside the daemon
// read only these, so that no API key is required.
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { isEscaped, isLoopback } from '../core/egress.ts';
import { keyPlanNames } from '../core/recipe.ts';
import { type PostgresPlace, pathOf, type StorePlace } from '../core/store-failure.ts';
import { dayMs } from '../core/time.ts';
import { fieldsOf } from '../world/schema/json.ts';
import type { Problem } from '../world/schema/problem.ts';
import { checked, duration, label, tokenDigest } from '../world/schema/scalars.ts';
import { keyed, oneOf, optional, secret, section } from '../world/schema/section.ts';
import { type ConfigTree, readSource } from './include.ts';
import { checkPart, type Environment } from './source.ts';

/** Prefix of the files beside a PostgreSQL store, in store.directory. */
const besideName = 'warmwarden-postgres';
const usualPort = 5432;
const usualDirectory = './data';

const postgresForm = 'postgres://USER@HOST:5432/DATABASE';
const isPostgres = (url: string) => /^postgres(ql)?:/.test(url);

export const storeSchema = section(
  {
    url: secret(
      keyed(
        checked((url) => (isPostgres(url) ? postgresComplaint(url) : sqliteComplaint(url))),
        'sqlite:./data/warmwarden.db',
        `sqlite: and a path relative to this file, or ${postgresForm}. Give SQLite a folder of its own: Warmwarden closes the folder to other users.`,
      ),
    ),
    password: secret(optional(z.string().min(1), 'The password of the PostgreSQL user.')),
    tls: optional(
      oneOf(['verify-full', 'off']),
      'verify-full, the default, checks the certificate and the name of the server. off: for this machine, or a network that you trust.',
    ),
    ca: secret(
      optional(
        z.string().includes('-----BEGIN CERTIFICATE-----', 'must be certificates in PEM'),
        'The authorities of the PostgreSQL server (PEM). Default: those of Node.js.',
      ),
    ),
    directory: optional(
      z.string().min(1),
      'With PostgreSQL: the folder of the command socket and of notes about the store, relative to this file. Default: ./data.',
    ),
  },
  ({ url, ...keys }, refuse) => {
    if (typeof url !== 'string') return;
    const onlyPostgres = ['password', 'tls', 'ca', 'directory'].filter((key) => keys[key] !== undefined);
    if (!isPostgres(url)) for (const key of onlyPostgres) refuse(key, 'is only for postgres: remove it');
    else if (keys['password'] !== undefined && URL.canParse(url) && new URL(url).password !== '')
      refuse('password', 'is in store.url, too: write it only once');
  },
);
type CheckedStore = z.output<typeof storeSchema>;

function sqliteComplaint(url: string): string | null {
  if (/^sqlite:(:memory:|\/\/)/.test(url)) return 'must be sqlite: and the path of a file';
  return /^sqlite:./.test(url) ? null : `must be sqlite: and the path of a file, or ${postgresForm}`;
}

/** Mistake in a PostgreSQL URL, or null. Quotes nothing, since the URL may contain a password. */
function postgresComplaint(url: string): string | null {
  const wanted = `must be ${postgresForm}`;
  if (!URL.canParse(url)) return `${wanted}; a password with characters such as @ or / needs store.password instead`;
  const { hostname, username, password, pathname, search, hash } = new URL(url);
  if ([username, password, pathname].some((part) => !isEscaped(part)))
    return 'has a % that begins no escape: write %25 for it, or set store.password instead';
  if (search !== '' || hash !== '') return 'must have no ? and no #: set store.tls and store.ca_file instead';
  return hostname !== '' && username !== '' && /^\/[^/]+$/.test(pathname) ? null : wanted;
}

/** Relative paths begin in the folder of the file that has the key. */
type Folders = Pick<ConfigTree, 'folderOf'>;

export function placeOf(store: CheckedStore, { folderOf }: Folders): StorePlace {
  if (isPostgres(store.url)) return postgresPlace(store, folderOf(['store', 'directory']));
  return resolve(folderOf(['store', 'url']), store.url.slice('sqlite:'.length));
}

/** Database at an address from outside the configuration, or a string that says what is wrong with it. */
export function placeAt(url: string): PostgresPlace | string {
  if (!isPostgres(url)) return `must be ${postgresForm}`;
  const wrong = postgresComplaint(url);
  const isHere = wrong === null && isLoopback(new URL(url).hostname);
  return wrong ?? postgresPlace({ url, tls: isHere ? 'off' : 'verify-full' }, '.');
}

function postgresPlace(store: CheckedStore, folder: string): PostgresPlace {
  const { hostname, port, username, password, pathname } = new URL(store.url);
  const inUrl = password === '' ? null : decodeURIComponent(password);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? usualPort : Number(port),
    database: decodeURIComponent(pathname.slice(1)),
    user: decodeURIComponent(username),
    password: store.password ?? inUrl,
    tls: store.tls === 'off' ? { kind: 'off' } : { kind: 'verify', ca: store.ca ?? null },
    path: resolve(folder, store.directory ?? usualDirectory, besideName),
  };
}

const recipeKey = section({
  name: label().describe('The name of its owner.'),
  sha256: secret(
    tokenDigest('--recipe-key').describe('Its SHA-256 in hex, as `warmwarden token new NAME --recipe-key` prints it.'),
  ),
  plan: oneOf(keyPlanNames).describe('Requests a minute: 60, 600 or 6,000.'),
  role: oneOf(['viewer', 'operator']).describe('An operator may also apply recipes.'),
});
export const recipes = section({
  directory: keyed(z.string().min(1), './recipes', 'The folder of your recipes, relative to this file.'),
  apiKeys: keyed(z.array(recipeKey), [], 'Who may run recipes over HTTP. Without keys, HTTP has no recipes.'),
});

const kept = () => duration(dayMs, 3_650 * dayMs);

export const retention = section({
  historyMs: keyed(
    kept(),
    '400d',
    'Decisions, changes by others, and mailboxes from their removal on. The newest decision on each mailbox is always kept.',
  ),
  messagesMs: keyed(
    kept(),
    '90d',
    'Sent messages and runs of recipes. Pending and undelivered messages are always kept.',
  ),
});

export type Places =
  | {
      readonly ok: true;
      readonly store: StorePlace;
      /** Names of accounts that are written as plain words in the file. */
      readonly accountNames: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const placesSchema = section({ store: keyed(storeSchema, {}, '') });

/** Reads only the place of the store; the rest of the file is neither substituted nor checked. */
export function loadPlaces(path: string, environment: Environment): Places {
  const part = loadPart(path, environment, placesSchema, ['store']);
  if ('problems' in part) return { ok: false, problems: part.problems };
  const { checked, source } = part;
  return {
    ok: true,
    store: placeOf(checked.store, source),
    accountNames: namesIn(source.tree),
  };
}

export function usualStore(path: string): string {
  return pathOf(placeOf(storeSchema.parse({}), { folderOf: () => dirname(resolve(path)) }));
}

/** Problems in the rest of the files do not count. */
export function loadPart<Schema extends z.ZodType>(
  path: string,
  environment: Environment,
  schema: Schema,
  keys: readonly string[],
) {
  const source = readSource(path);
  if (!('tree' in source)) return { problems: source };
  const written = Object.fromEntries(Object.entries(source.tree).filter(([key]) => keys.includes(key)));
  const part = checkPart({ source: { ...source, findings: [], unreadable: [] }, written, schema, environment });
  return 'problems' in part ? part : { checked: part.checked, source };
}

function namesIn(tree: { readonly accounts?: unknown }): readonly string[] {
  const accounts: readonly unknown[] = Array.isArray(tree.accounts) ? tree.accounts : [];
  return accounts.map((account) => fieldsOf(account)['name']).filter((name) => typeof name === 'string');
}
