// The whole daemon with a simulator and a receiver on one clock that is moved by hand; it can be started again.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { askDaemon } from '../../src/cli/daemon.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Alert } from '../../src/core/alert.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import type { CommandOutcome } from '../../src/core/operator-command.ts';
import { pathOf } from '../../src/core/store-failure.ts';
import { secondMs } from '../../src/core/time.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import type { OperationBody, OperationName } from '../../src/operations/command-requests.ts';
import type { Store } from '../../src/store/store.ts';
import type { Clock } from '../../src/world/world.ts';
import type { Habits } from '../../tools/simulator/habits.ts';
import type { LoggedRequest } from '../../tools/simulator/http.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { type MovedClock, movedClock } from '../../tools/simulator/moved-clock.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { scenarioStart, scenarios } from '../../tools/simulator/scenarios.ts';
import { type Simulator, startSimulator } from '../../tools/simulator/simulator.ts';
import type { OtherApi } from '../support/other-api.ts';
import { Receiver } from '../support/receiver.ts';
import { silentWorld } from '../support/silent-world.ts';
import { expectNoSleepers } from '../support/sleepers.ts';

/** A log that keeps its errors, so that a test can fail for those that it does not expect. `expected`: parts of messages. */
function errorLog(expected: readonly string[]) {
  const parts = [...expected];
  const errors: { readonly msg: string; readonly line: string }[] = [];
  const write = (line: string) => {
    // The level is the configuration's, so that warnings and others arrive, too.
    const { level, msg } = JSON.parse(line) as { level: number; msg: string };
    if (level >= 50) errors.push({ msg, line: line.trim() });
  };
  return {
    log: pino({ level: 'error', base: null, timestamp: false }, { write }),
    expect: (...more: readonly string[]) => void parts.push(...more),
    /** Messages of errors with that part, oldest first. */
    saying: (part: string) => errors.map(({ msg }) => msg).filter((msg) => msg.includes(part)),
    /** The errors that are not expected, each with what it was about. */
    unexpected: () => errors.filter(({ msg }) => !parts.some((part) => msg.includes(part))).map(({ line }) => line),
  };
}

export interface MovedOptions {
  /** By default an empty fleet. */
  readonly scenario?: Scenario;
  /** The API that is guarded, on the moved clock; by default the simulator. Further ones only go by that clock. */
  readonly other?: OtherApi | readonly OtherApi[];
  /** The `poll` section; by default the hours pass quickly. */
  readonly poll?: Readonly<Record<string, string>>;
  /** Habits of the simulator: with them, a second account sees the same mailboxes through another key. */
  readonly habits?: Habits;
  /** The mailboxes of a second account under the same API; all others are the first one's. */
  readonly second?: readonly string[];
  /** Accounts by name, each with a key of its own, a tag and these mailboxes, in place of the usual ones. */
  readonly clients?: Readonly<Record<string, readonly string[]>>;
  /** Keys of the file that differ. */
  readonly file?: object;
  /** What happens in the simulation before the daemon starts. */
  readonly before?: (simulator: Simulator, clock: MovedClock) => Promise<void>;
  /** Keys of the accounts that differ: another plan, say. */
  readonly account?: object;
  /** The daemon's own clock, on top of the one that is moved. */
  readonly clock?: (moved: MovedClock) => Clock;
  /** Opens the daemon's store in another way. */
  readonly openStore?: typeof Store.open;
  /** Errors that its log may have: parts of a message. Any other fails the test at the end. */
  readonly expectErrors?: readonly string[];
}

/** A change that the daemon made, as the API took it. */
export interface Post {
  readonly at: number;
  readonly email: string;
  /** pause, resume, the mode that was set, the target daily limit, or other settings as JSON. */
  readonly change: string;
}

const usualPoll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const secondKey = 'sk_live_second_0123456789abcdef';

/** The body of a POST. */
interface Written {
  readonly mailbox_id?: string;
  readonly action?: string;
  readonly config?: { readonly warmup_mode?: string; readonly target_daily_limit?: number };
}
const limitIn = ({ target_daily_limit: limit }: NonNullable<Written['config']> = {}) =>
  limit === undefined ? null : `limit ${limit}`;
const settingsIn = (config: object | undefined) => config && JSON.stringify(config);

/** The configuration file as a test changes it. */
export interface WrittenConfig {
  accounts: Record<string, unknown>[];
  alerts: { channels: Record<string, unknown>[] };
  [key: string]: unknown;
}

interface HowToReload {
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Starts at scenarioStart, a Tuesday at 08:30 UTC. */
export async function startMovedDaemon(options: MovedOptions) {
  const { scenario = { ...scenarios.calm, fleet: [] }, poll = usualPoll, second = [], file: changes = {} } = options;
  const others = [options.other ?? []].flat();
  const [other] = others;
  const clock = movedClock(scenarioStart);
  for (const api of others) api.now = () => clock.now();
  const world = silentWorld(clock);
  const errors = errorLog(options.expectErrors ?? []);
  const daemonsWorld = { ...world, log: errors.log, clock: options.clock?.(clock) ?? clock };
  // Durability has tests of its own; in memory the many commits cost no fsync.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warmwarden-moved-'));
  const rights = { permissions: ['read', 'write'], plan: 'enterprise' } as const;
  const habits = options.habits && { habits: options.habits };
  const first = scenario.fleet.map(({ email }) => email).filter((email) => !second.includes(email));
  const clients = Object.entries(options.clients ?? {}).map(([name, mailboxes]) => {
    return { name, key: `sk_live_${name}_0123456789abcdef`, mailboxes };
  });
  const keys = [
    ...clients.map(({ key, mailboxes }) => ({ key, mailboxes, ...rights })),
    { key: demoKey, mailboxes: habits ? ['*'] : first, ...rights },
    { key: secondKey, mailboxes: habits ? ['*'] : second, ...rights },
  ];
  const simulator = await startSimulator({ world, scenario, keys, ...habits });
  const receiver = await Receiver.start();
  const file = join(folder, 'config.yaml');
  const hook = { name: 'hook', type: 'webhook', url: receiver.hookUrl, secret: receiver.secret };
  const account = { base_url: other?.url ?? simulator.url, plan: 'enterprise', ...options.account };
  const agency = { name: 'agency', key: other?.addKey() ?? demoKey };
  const owners = clients.length > 0 ? clients : [agency];
  const accounts = owners.map(({ name, key }) => ({ name, api_key: key, tags: { client: name }, ...account }));
  if (second.length > 0 || habits)
    accounts.push({ name: 'second', api_key: secondKey, tags: { client: 'second' }, ...account });
  const written: WrittenConfig = {
    accounts,
    // Every request is real work for the moved clock: spare ones are not spent here.
    poll: { stats_interval_min: '0s', ...poll },
    alerts: { channels: [hook] },
    server: { listen: '127.0.0.1:0' },
    ...changes,
  };
  writeFileSync(file, JSON.stringify(written));
  const load = () => loadConfig(file, {});
  const started = load();
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  const { config } = started;
  /** What a process that starts now is started with. */
  const source = () => {
    const now = load();
    if (!now.ok) throw new Error(JSON.stringify(now.problems));
    return { file, started: now, load };
  };
  await options.before?.(simulator, clock);
  const posts: Post[] = [];
  const seen = new WeakSet<LoggedRequest>();
  const crashes: string[] = [];
  const end = (why: string) => void crashes.push(why);
  const { openStore } = options;
  const begin = () => startDaemon(source(), daemonsWorld, { end, ...(openStore && { openStore }) });
  let daemon: Daemon = await begin();

  /** The simulator keeps the newest requests only, so they are taken over after every stretch. */
  const takePosts = () => {
    const emails = new Map(simulator.fleet.mailboxes().map(({ id, email }) => [id, email]));
    const fresh = (request: LoggedRequest) => !seen.has(request) && request.method === 'POST' && request.status === 200;
    for (const request of simulator.requests.filter(fresh)) {
      const { at, body } = request;
      seen.add(request);
      const { mailbox_id: id = '', action = '', config } = body as Written;
      posts.push({
        at,
        email: emails.get(id) ?? '',
        change: config?.warmup_mode ?? limitIn(config) ?? settingsIn(config) ?? action,
      });
    }
  };
  /** Moves the clock, and gives the process real time: what is slow on a busy machine must not take hours of the clock. */
  const step = async (ms: number) => {
    await clock.advance(ms);
    await setTimeout(2);
  };
  /** Waits for work of the machine's own time while the clock goes on. */
  const passing = async <Value>(work: Promise<Value>, ms: number): Promise<Value> => {
    let over = false;
    const watched = work.finally(() => {
      over = true;
    });
    while (!over) await step(ms);
    return watched;
  };
  /** Stops while the clock goes on: the last steps may wait on it. */
  const stop = async () => {
    await passing(daemon.stop(), secondMs);
  };

  /** What the daemon says to a reload, while the clock goes on. */
  const ask = async ({ force = false, dryRun = false }: HowToReload): Promise<CommandOutcome> => {
    const outcome = await passing(daemon.reload({ by: 'a test', force, dry_run: dryRun }), 100);
    takePosts();
    return outcome;
  };

  const read = async (path: string) => {
    const answer = await fetch(`${daemon.url}${path}`);
    return { status: answer.status, text: await answer.text() };
  };

  return {
    clock,
    simulator,
    receiver,
    posts,
    /** The posts as `EMAIL CHANGE`. */
    made: () => posts.map(({ email, change }) => `${email} ${change}`),
    /** What a path of the daemon answers. */
    text: async (path: string) => (await read(path)).text,
    json: async <Body>(path: string): Promise<Body> => JSON.parse((await read(path)).text),
    /** The status and the text of /readyz. */
    readyz: async () =>
      Object.values(await read('/readyz'))
        .join(' ')
        .trim(),
    /** How often the API was asked about a mailbox since then. */
    asked: (email: string, since: number) => {
      const mailbox = [...daemon.fleet.mailboxes()].find((one) => one.email === email);
      return simulator.requests.filter(({ at, path }) => at > since && path.includes(mailbox?.id ?? '')).length;
    },
    /** Alerts of a rule, as the daemon has them. */
    alerts: (rule: string): readonly Alert[] => [...daemon.fleet.alerts()].filter((alert) => alert.rule === rule),
    /** Alerts of a rule, as they were told. */
    told: (rule: string) => receiver.alerts().filter((alert) => alert.rule === rule),
    storePath: pathOf(config.store),
    /** Changes the store behind the daemon's back. */
    sql: (statements: string) => {
      using db = new DatabaseSync(pathOf(config.store));
      db.exec(`PRAGMA busy_timeout = 5000; ${statements}`);
    },
    /** Why processes ended by themselves. */
    crashes,
    fleet: () => daemon.fleet,
    breaker: () => daemon.fleet.breaker(simulator.url),
    mailbox(email: string): MailboxState {
      const found = [...daemon.fleet.mailboxes()].find((one) => one.email === email);
      if (!found) throw new Error(`the daemon knows no ${email}`);
      return found;
    },
    async run(ms: number): Promise<void> {
      await clock.advance(ms);
      takePosts();
    },
    /** Runs until it holds; an error when it does not within the time. */
    async until(what: string, met: () => boolean, withinMs: number): Promise<void> {
      if (!(await clock.advanceUntil(met, withinMs))) throw new Error(`${what}: not within ${withinMs / secondMs} s`);
      takePosts();
    },
    /** Waits for work of the machine's own time while the clock goes on. */
    async during<Value>(work: Promise<Value>): Promise<Value> {
      const value = await passing(work, secondMs);
      takePosts();
      return value;
    },
    /** `warmwarden writes off` or `on`. */
    writes: (off: boolean, change: { readonly forMs?: number; readonly mailbox?: string } = {}) => {
      const { forMs = null, mailbox = null } = change;
      const seconds = forMs === null ? null : forMs / secondMs;
      const request = { off, mailbox, for_seconds: seconds, by: 'a test', reason: 'to see it' };
      return askDaemon(pathOf(config.store), 'writes', request);
    },
    /** An operator command, while the clock goes on. */
    async command<Name extends OperationName>(name: Name, body: Omit<OperationBody<Name>, 'by' | 'reason'>) {
      const asked = { by: 'a test', reason: 'to see it', ...body } as OperationBody<Name>;
      return this.during(askDaemon(pathOf(config.store), name, asked));
    },
    url: () => daemon.url,
    folder,
    file,
    written: () => written,
    /** Changes the file, or puts a text in its place, and reloads. */
    reload(change: ((config: WrittenConfig) => void) | string, how: HowToReload = {}): Promise<CommandOutcome> {
      if (typeof change !== 'string') change(written);
      writeFileSync(file, typeof change === 'string' ? change : JSON.stringify(written));
      return ask(how);
    },
    /** Expects errors in the log from now on, by parts of a message. */
    expectErrors: errors.expect,
    errorsSaying: errors.saying,
    /** Reloads the file as it is. */
    ask,
    /** What was told of a rule, or of one of its causes, in order: firing, resolved or event. */
    notified: (rule: string, object?: string) =>
      receiver
        .alerts()
        .filter((alert) => alert.rule === rule && (object === undefined || alert.object === object))
        .map(({ status }) => status),
    /** Another process begins, with the file as it was changed for it. */
    async restart(change: (config: WrittenConfig) => void = () => {}): Promise<void> {
      await stop();
      change(written);
      writeFileSync(file, JSON.stringify(written));
      daemon = await begin();
    },
    /** Nobody is on duty until that moment; then another process begins. */
    async awayUntil(at: number): Promise<void> {
      await stop();
      takePosts();
      await clock.advance(at - clock.now());
      daemon = await begin();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await stop();
      await simulator.close();
      await receiver[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
      expect(errors.unexpected(), 'errors in the log that the test does not expect').toEqual([]);
      expectNoSleepers(clock);
    },
  };
}

/** Lets something go wrong in the simulator at `url`, as `warmwarden simulator KIND TARGET` does. */
export async function trouble(url: string, kind: string, target?: string): Promise<void> {
  const answer = await fetch(`${url}/admin/troubles`, { method: 'POST', body: JSON.stringify({ kind, target }) });
  if (answer.status !== 201) throw new Error(`${kind}: ${await answer.text()}`);
}

export type MovedDaemon = Awaited<ReturnType<typeof startMovedDaemon>>;
