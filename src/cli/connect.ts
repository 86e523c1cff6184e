// `warmwarden connect`: connects mailboxes of a file to the API, each at most once. It sends the requests itself, so
// that no password reaches the daemon or its store; a running daemon gives each request its slot of the rate limit.
import {
  closeSync,
  existsSync,
  lchownSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { takeSlot } from '../api/budget.ts';
import { ApiClient } from '../api/client.ts';
import type { AccountConfig } from '../config/config.ts';
import { Fleet } from '../core/fleet/fleet.ts';
import { errorText } from '../core/nearest.ts';
import { noTally } from '../core/records.ts';
import { pathOf } from '../core/store-failure.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import { counted, listText, spanText } from '../core/wording/phrases.ts';
import { writesAreOff } from '../core/write-scope.ts';
import { lockedOrNull } from '../store/file/lock.ts';
import { asItsUser, fileMode } from '../store/file/place.ts';
import { formatProblem } from '../world/schema/problem.ts';
import { systemClock, type World, worldOn } from '../world/world.ts';
import { findStore, loadConfigured } from './configuration.ts';
import { type ConnectRow, readRows } from './connect-file.ts';
import { askFor, daemonListens } from './daemon.ts';
import { CommandError, exitFailed } from './errors.ts';
import { agrees, type ConfirmOptions, declined, mustBeConfirmed, withConfirmOptions } from './operations.ts';
import { type Answers, type ConfigOptions, configOption, jsonOption, printJson } from './options.ts';
import { printLines, tableLines } from './terminal.ts';
import { storedStops } from './writes.ts';

interface ConnectOptions extends ConfigOptions, ConfirmOptions {
  readonly account?: string;
}

type ConnectOutcome = Answers['connect']['mailboxes'][number];

export function connectCommand(): Command {
  return withConfirmOptions(new Command('connect'))
    .description('connect the mailboxes of a CSV or YAML file to the API, which starts their warm-up')
    .argument('<file>', 'one row a mailbox; passwords are in the environment or in files')
    .addOption(configOption())
    .option('--account <name>', 'the account of rows that name none')
    .addOption(jsonOption())
    .action((file: string, options: ConnectOptions) =>
      connect(file, options, worldOn(systemClock(), { level: 'silent', format: 'json' })),
    );
}

/** A POST that left may still arrive within this. */
const settlesWithinMs = minuteMs;
/** Waits before the looks in the list after a POST without a clear answer. */
const lookWaitsMs = [0, 2, 5, 10].map((seconds) => seconds * secondMs);
const throttledTries = 5;
const throttledMs = 30 * secondMs;
/** Requests without an answer after which an account gets no more. */
const mostUnanswered = 3;
const mostProblems = 20;

export async function connect(file: string, options: ConnectOptions, world: World): Promise<void> {
  mustBeConfirmed(options);
  const { config, secrets } = loadConfigured(options.config, ['accounts', 'proxy']);
  const rows = rowsOf(file, options, config.accounts);
  using lock = lockFile(file, options);
  const waitMs = lock.settledAt - world.clock.now();
  if (waitMs > 0)
    process.stderr.write(`An earlier run was cut off: waiting ${spanText(waitMs)} for its last request.\n`);
  await world.clock.sleep(waitMs);
  const store = findStore(options.config);
  const daemon = (await daemonListens(store)) ? store : null;
  const picture = new Fleet();
  if (daemon === null) for (const stop of await storedStops(store, world.clock.now())) picture.putWritesOff(stop);
  const slot = async (account: string) => {
    const off = picture.writesOffOver(account, null, world.clock.now());
    if (off) throw new CommandError('failed', writesAreOff(off));
    if (daemon) await askFor(daemon, 'slot', { account });
  };
  const turn = () => takeTurn(`${pathOf(store)}.connecting`, world);
  const outcomes: ConnectOutcome[] = [];
  const byAccount = Map.groupBy(rows, ({ account }) => account);
  const connecting = [...byAccount].map(([name, theirs]) => {
    const account = config.accounts.find((one) => one.name === name) as AccountConfig;
    return new Connecting(account, theirs, {
      world: { ...world, secrets: () => secrets },
      slot,
      turn,
      touch: lock.touch,
    });
  });
  try {
    for (const one of connecting) await one.look();
    const { dryRun = false, yes = false } = options;
    const effect = connecting.flatMap((one) => one.effect());
    if (!dryRun && !yes) {
      if (!(await agrees(effect))) throw declined();
      for (const one of connecting) await one.look();
    }
    for (const one of connecting) outcomes.push(...(dryRun ? one.planned() : await one.connectAll()));
    const left = rows.filter(({ email }) => outcomes.some((one) => one.email === email && isFailure(one)));
    const failedFile = dryRun ? null : keepFailed(file, left);
    report(outcomes, failedFile, { ...options, effect: dryRun ? effect : [] });
  } finally {
    for (const one of connecting) await one.close();
  }
}

interface RowOf extends ConnectRow {
  readonly account: string;
}

/** Rows with their accounts. Throws a CommandError with the problems of the file. */
function rowsOf(file: string, { account }: ConnectOptions, accounts: readonly AccountConfig[]): readonly RowOf[] {
  const read = readRows(file, process.env);
  if ('problems' in read) {
    const { problems } = read;
    const shown = problems.slice(0, mostProblems).map((problem) => formatProblem(file, problem));
    const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
    throw new CommandError('usage', [...shown, ...more].join('\n'));
  }
  const names = accounts.map(({ name }) => name);
  const usual = account ?? (names.length === 1 ? names[0] : undefined);
  return read.rows.map((row) => {
    const name = row.account ?? usual;
    if (name !== undefined && names.includes(name)) return { ...row, account: name };
    const known = `The accounts are ${names.join(', ')}.`;
    if (name === undefined)
      throw new CommandError('usage', `${row.email}: add a column account, or --account. ${known}`);
    throw new CommandError('unknown_name', `${row.email}: there is no account ${name}. ${known}`);
  });
}

interface ConnectRooms {
  readonly world: World;
  /** Resolves when the running daemon gives a request its slot. */
  readonly slot: (account: string) => Promise<void>;
  /** Resolves when no other run with this store is between its look in the list and the answer to its POST. */
  readonly turn: () => Promise<Disposable>;
  /** Called before each POST. */
  readonly touch: () => void;
}

/** Connects the mailboxes of one account, one after the other. */
class Connecting {
  readonly #account: AccountConfig;
  readonly #rows: readonly RowOf[];
  readonly #rooms: ConnectRooms;
  readonly #api: ApiClient;
  /** Ids by lower-case address. */
  #listed: ReadonlyMap<string, string> = new Map();
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(account: AccountConfig, rows: readonly RowOf[], rooms: ConnectRooms) {
    this.#account = account;
    this.#rows = rows;
    this.#rooms = rooms;
    this.#api = new ApiClient({ ...account, account: account.name }, rooms.world, noTally);
  }

  close(): Promise<void> {
    return this.#api.close();
  }

  /** Reads the list. Throws a CommandError where absence from the list would prove nothing. */
  async look(): Promise<void> {
    const said = (text: string) => new CommandError('failed', `account ${this.#account.name}: ${text}`);
    const failure = await this.#readList();
    if (failure !== null) throw said(failure);
  }

  /** Returns a sentence if the list can't be read. */
  async #readList(): Promise<string | null> {
    const refusal = await this.#slot('mailboxes');
    if (refusal !== null) return refusal;
    const list = await this.#api.mailboxes();
    if (!list.ok) return list.failure.detail;
    const { mailboxes, truncated } = list.value.answer;
    if (truncated) return 'its list of mailboxes is incomplete, so nothing shows which are connected already';
    this.#listed = new Map(mailboxes.map(({ email, id }) => [email.toLowerCase(), id]));
    return null;
  }

  effect(): readonly string[] {
    const known = this.#rows.filter(({ email }) => this.#idOf(email) !== null).length;
    const news = this.#rows.length - known;
    const already =
      known === 0
        ? ''
        : ` ${counted(known, 'mailbox', 'mailboxes')} of the file ${known === 1 ? 'is' : 'are'} connected already.`;
    return [
      `Warmwarden will connect ${counted(news, 'mailbox', 'mailboxes')} to the account ${this.#account.name}: their warm-up starts at once.${already}`,
    ];
  }

  planned(): readonly ConnectOutcome[] {
    return this.#rows.map((row) => this.#alreadyIn(row) ?? this.#outcome(row, 'planned', ''));
  }

  async connectAll(): Promise<readonly ConnectOutcome[]> {
    const outcomes: ConnectOutcome[] = [];
    let stopped: string | null = null;
    let unanswered = 0;
    for (const row of this.#rows) {
      const outcome: ConnectOutcome =
        this.#alreadyIn(row) ??
        (stopped === null ? await this.#connectOne(row) : this.#outcome(row, 'not_tried', stopped));
      outcomes.push(outcome);
      unanswered = outcome.outcome === 'unknown' ? unanswered + 1 : 0;
      if (unanswered === mostUnanswered) stopped = 'the API does not answer';
      if (outcome.outcome === 'not_tried') stopped = outcome.detail;
    }
    return outcomes;
  }

  /**
   * Sends a POST at most once, unless the API answers 429 and does not list the mailbox. Looks right before: a copy of the
   * file may be connected elsewhere at the same time.
   */
  async #connectOne(row: RowOf): Promise<ConnectOutcome> {
    await this.#gap();
    using _turn = await this.#rooms.turn();
    const failure = await this.#readList();
    if (failure !== null) return this.#outcome(row, 'not_tried', failure);
    const already = this.#alreadyIn(row);
    if (already) return already;
    for (let tries = 1; ; tries += 1) {
      const refusal = await this.#slot('mailbox_write');
      if (refusal !== null) return this.#outcome(row, 'not_tried', refusal);
      this.#rooms.touch();
      const { written: _, account: __, smtpUser = row.email, imapUser = row.email, ...rest } = row;
      const sent = await this.#api.connect({ ...rest, smtpUser, imapUser });
      if (sent.ok) return this.#outcome(row, 'connected', '', sent.value.answer.id);
      const { kind, detail, retryAfterMs } = sent.failure;
      if (kind === 'unauthorized') return this.#outcome(row, 'not_tried', detail);
      if (kind === 'refused' || kind === 'missing') return this.#outcome(row, 'failed', detail);
      if (kind === 'throttled') await this.#rooms.world.clock.sleep(retryAfterMs ?? throttledMs);
      const waits = kind === 'throttled' ? [0] : lookWaitsMs;
      const found = await this.#find(row.email, waits);
      if (typeof found === 'string')
        return this.#outcome(row, 'connected', `found in the list after: ${detail}`, found);
      const mayRepeat = kind === 'throttled' && found.isAbsent && tries < throttledTries;
      if (!mayRepeat) return this.#outcome(row, 'unknown', detail);
    }
  }

  /** Looks in the list after a POST whose answer does not say whether it was carried out. Returns the id, if it is there. */
  async #find(email: string, waits: readonly number[]): Promise<string | { readonly isAbsent: boolean }> {
    let isAbsent = false;
    for (const wait of waits) {
      await this.#rooms.world.clock.sleep(wait);
      isAbsent = (await this.#readList()) === null;
      const id = isAbsent ? this.#idOf(email) : null;
      if (id !== null) return id;
    }
    return { isAbsent };
  }

  /**
   * Takes at most half of the rate limit, so that a daemon keeps guarding meanwhile. Returns a sentence if the daemon
   * refuses.
   */
  async #slot(kind: 'mailboxes' | 'mailbox_write'): Promise<string | null> {
    const { clock } = this.#rooms.world;
    await this.#gap();
    this.#startedAt = clock.monotonic();
    try {
      await this.#rooms.slot(this.#account.name);
    } catch (error) {
      if (error instanceof CommandError) return error.message.split('\n')[0] ?? '';
      throw error;
    }
    await takeSlot(this.#api.budget, kind, clock);
    return null;
  }

  /** Waits until the next request of this account may start. */
  #gap(): Promise<void> {
    const { clock } = this.#rooms.world;
    const gapMs = (2 * minuteMs) / this.#account.requestsPerMinute;
    return clock.sleep(this.#startedAt + gapMs - clock.monotonic());
  }

  #idOf(email: string): string | null {
    return this.#listed.get(email.toLowerCase()) ?? null;
  }

  #alreadyIn(row: RowOf): ConnectOutcome | null {
    const id = this.#idOf(row.email);
    return id === null ? null : this.#outcome(row, 'connected_before', '', id);
  }

  #outcome(
    { email, account }: RowOf,
    outcome: ConnectOutcome['outcome'],
    detail: string,
    id: string | null = null,
  ): ConnectOutcome {
    return { email, account, outcome, id, detail };
  }
}

const failures: readonly ConnectOutcome['outcome'][] = ['failed', 'unknown', 'not_tried'];

function isFailure({ outcome }: ConnectOutcome): boolean {
  return failures.includes(outcome);
}

/** Writes the rows that were not connected beside their file, as they were written, and returns its name. */
function keepFailed(file: string, left: readonly RowOf[]): string | null {
  const name = basename(file, extname(file)).replace(/\.failed$/, '');
  const path = join(dirname(file), `${name}.failed.yaml`);
  if (left.length === 0) {
    if (path !== file) rmSync(path, { force: true });
    return null;
  }
  const head = `# These mailboxes were not connected. To try again: warmwarden connect ${path}\n`;
  const rows = left.map(({ written, account }) => ({ ...written, account }));
  writeFileSync(path, head + stringify(rows), { mode: 0o600 });
  return path;
}

function report(
  outcomes: readonly ConnectOutcome[],
  failedFile: string | null,
  { json = false, effect }: ConnectOptions & { readonly effect: readonly string[] },
): void {
  if (outcomes.some(isFailure)) process.exitCode = exitFailed;
  if (json) return void printJson('connect', { mailboxes: [...outcomes], failed_file: failedFile });
  const rows = outcomes.map((one) => [one.email, one.account, one.outcome.replaceAll('_', ' '), one.detail]);
  const counts = [...Map.groupBy(outcomes, ({ outcome }) => outcome)].map(
    ([word, all]) => `${all.length} ${word.replaceAll('_', ' ')}`,
  );
  printLines([
    ...tableLines({ titles: ['MAILBOX', 'ACCOUNT', 'OUTCOME', 'DETAIL'], rows }),
    `${listText(counts)}.`,
    ...(failedFile === null ? [] : [`To try the others again: warmwarden connect ${failedFile}`]),
    ...(effect.length > 0 ? [...effect, 'This was a dry run: nothing was done.'] : []),
  ]);
}

const turnWaitMs = 100;
const turnWaitsTold = 100;

/** Takes the lock of a file, which is free at once after kill -9. No lock without the folder, which the first start makes. */
async function takeTurn(path: string, { clock }: World): Promise<Disposable> {
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (!folder) return { [Symbol.dispose]: () => {} };
  try {
    closeSync(openSync(path, 'a', fileMode));
    // A run of root must not keep the file from the user that runs Warmwarden.
    if (process.getuid?.() === 0) lchownSync(path, folder.uid, folder.gid);
    for (let waits = 0; ; waits += 1) {
      const lock = lockedOrNull(path);
      if (lock) return lock;
      if (waits === turnWaitsTold) process.stderr.write('Waiting for another run that connects a mailbox.\n');
      await clock.sleep(turnWaitMs);
    }
  } catch (error) {
    throw new CommandError('failed', `${path} can't be locked: ${errorText(error)}. Usually, ${asItsUser}.`);
  }
}

interface ConnectLock extends Disposable {
  /** Moment from which the last POST of an earlier run shows in the list. */
  readonly settledAt: number;
  readonly touch: () => void;
}

/**
 * Keeps two runs of a file apart, and remembers the moment of the last POST if this one is killed. A dry run leaves the
 * lock of others as it is.
 */
function lockFile(file: string, { dryRun = false }: ConfirmOptions): ConnectLock {
  const path = join(dirname(file), `.${basename(file)}.connecting`);
  const pid = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  if (pid > 0 && pid !== process.pid && isAlive(pid))
    throw new CommandError('failed', `Process ${pid} connects the mailboxes of ${file} already. Nothing was done.`);
  const earlier = existsSync(path) ? statSync(path) : null;
  const settledAt = earlier ? earlier.mtimeMs + settlesWithinMs : 0;
  const touch = () => writeFileSync(path, String(process.pid));
  if (dryRun) return { settledAt, touch, [Symbol.dispose]: () => {} };
  touch();
  // The moment of the last POST is that of the earlier run until this one sends a POST.
  if (earlier) utimesSync(path, earlier.atime, earlier.mtime);
  return { settledAt, touch, [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
