// An account on duty: the simulator behind a go-between, a real store in a folder, the fleet and the watch, on one moved clock.

import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { AccountWatch } from '../../src/account/account-watch.ts';
import { GroupCommit, Turns } from '../../src/account/commit/group-commit.ts';
import { ApiClient } from '../../src/api/client.ts';
import type { Action } from '../../src/core/action.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import { type AlertRule, defaultRuleSettings, type RuleSettings } from '../../src/core/alert-rules.ts';
import type { Route } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { guardStateOf } from '../../src/core/guard/run-state.ts';
import type { MailboxState, RequestCount } from '../../src/core/mailbox.ts';
import { defaultPolicy, type Policy } from '../../src/core/policy.ts';
import { noTally } from '../../src/core/records.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { cronSchedule } from '../../src/world/schedule.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { scenarioStart, scenarios } from '../../tools/simulator/scenarios.ts';
import { type SimulatorOptions, startSimulator } from '../../tools/simulator/simulator.ts';
import type { OtherApi } from '../support/other-api.ts';
import { expectNoSleepers } from '../support/sleepers.ts';
import { type Meddling, startGoBetween } from './go-between.ts';

/** Drifts over its limit in the morning: the switch to recovery mode. */
export const amelia = 'amelia.ward@northbeam.example';
/** Burns at noon: the pause. */
export const jonas = 'jonas.keller@brightpath.example';
/** Nothing is wrong with it. */
export const oliver = 'oliver.hart@northbeam.example';

/** The bounce storm with these mailboxes only. */
export function stormOf(...emails: readonly string[]): Scenario {
  const storm = scenarios['bounce-storm'];
  return { ...storm, fleet: storm.fleet.filter(({ email }) => emails.includes(email)) };
}

/** What no test of an account changes. */
export const usualAccount = {
  expects: () => [],
  patterns: () => ({ ofAccount: [], ofRoutes: [], accounts: [] }),
  words: { paused: ['paused'], running: ['active'], notRunning: ['finished'] },
  others: { tookFrom: () => {}, askLists: () => {} },
};

/** The daemon's own cadence. */
const usualPoll: Readonly<Record<Route, string>> = {
  health: '* * * * *',
  mailboxes: '* * * * *',
  stats: '*/15 * * * *',
  warmup: '*/30 * * * *',
  mailbox: '29 */6 * * *',
  dns: '17 */6 * * *',
  blacklist: '41 */6 * * *',
};

/** Where nothing happens by the minute. */
export const calmPoll = { ...usualPoll, health: '*/10 * * * *', mailboxes: '*/10 * * * *' };

/** Enough for tests of days. */
export const rarePoll = { ...usualPoll, health: '0 */6 * * *', mailboxes: '*/30 * * * *', stats: '*/30 * * * *' };

export interface DutyOptions {
  readonly scenario?: Scenario;
  readonly policy?: Partial<Policy>;
  readonly poll?: Readonly<Partial<Record<Route, string>>>;
  readonly keys?: SimulatorOptions['keys'];
  readonly rules?: RuleSettings;
  readonly selects?: (mailbox: { readonly email: string }) => boolean;
  /** 0, as here by default: extra polls are not made. */
  readonly statsIntervalMinMs?: number;
  /** Of the key; 100 by default. */
  readonly requestsPerMinute?: number;
  /** 10% by default. */
  readonly headroomPpm?: number;
  /** Of the key at the other API, which counts it. */
  readonly keyLimit?: number;
  /** The API that is watched, on the clock of the duty; by default the simulator. */
  readonly other?: OtherApi;
  /** How late the watch begins, the simulation going on before it. */
  readonly afterMs?: number;
}

/** A number in [0, 1), the same in every run and never twice. */
function chance(): () => number {
  let state = 7;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

export async function goOnDuty(options: DutyOptions = {}) {
  const clock = movedClock(scenarioStart);
  const world = {
    clock,
    random: chance(),
    log: pino({ level: process.env['DUTY_LOG'] ?? 'silent' }),
  };
  // How far the daemon's wall clock is behind; the simulator's is right.
  const behind = { ms: 0 };
  // Of the account; moved by hand.
  const lease = { held: true, mayPost: true, openWaitMs: 0 };
  const daemonsWorld = { ...world, clock: { ...clock, now: () => clock.now() - behind.ms } };
  const simulator = await startSimulator({
    world,
    scenario: options.scenario ?? stormOf(amelia),
    ...(options.keys && { keys: options.keys }),
  });
  const { other } = options;
  if (other) other.now = () => clock.now();
  const apiKey = other?.addKey(options.keyLimit === undefined ? {} : { limit: options.keyLimit }) ?? demoKey;
  const between = await startGoBetween(other?.url ?? simulator.url, clock);
  await clock.advance(options.afterMs ?? 0);
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warmwarden-duty-'));
  const transitions: Transition[] = [];
  const counted: RequestCount[] = [];
  let shift = await begin(join(root, 'first'), options);
  let shifts = 1;

  async function begin(
    folder: string,
    { policy, poll, selects = () => true, requestsPerMinute = 100, headroomPpm = 100_000 }: DutyOptions,
  ) {
    const store = await Store.open(join(folder, 'warmwarden.db'), clock.now(), { clock });
    const fleet = new Fleet();
    const picture = await store.loadPicture();
    for (const mailbox of picture.mailboxes) fleet.putMailbox(mailbox);
    for (const alert of picture.alerts) fleet.putAlert(alert);
    for (const action of picture.actions) fleet.putAction(action);
    const tally = { ...noTally, request: (count: RequestCount) => void counted.push(count) };
    const client = { account: 'agency', baseUrl: between.url, apiKey };
    const api = new ApiClient({ ...client, requestsPerMinute, headroomPpm }, daemonsWorld, tally);
    const schedules = Object.fromEntries(
      Object.entries({ ...usualPoll, ...poll }).map(([route, expression]) => [route, cronSchedule(expression)]),
    ) as Record<Route, ReturnType<typeof cronSchedule>>;
    const turns = new Turns(clock);
    const group = new GroupCommit({ world: daemonsWorld, store, fleet, turns });
    const watch = new AccountWatch(
      { world: daemonsWorld, api, store, fleet, tally, turns, group, onTransitions: () => {} },
      {
        account: 'agency',
        lease: { holds: () => lease.held, mayPost: () => lease.mayPost, openWaitMs: lease.openWaitMs },
        schedules,
        statsIntervalMinMs: options.statsIntervalMinMs ?? 0,
        sparePpm: 500_000,
        policyFor: () => ({ ...defaultPolicy, ...policy }),
        ...usualAccount,
        selects,
        rules: () => options.rules ?? defaultRuleSettings,
        api: between.url,
        accountsOfApi: () => ['agency'],
      },
    );
    watch.start();
    return { store, fleet, watch, api, turns, group, folder };
  }

  /** Stops the watch while the clock goes on, for its last steps may wait on it; then closes the store. */
  async function stop(): Promise<void> {
    let stopped = false;
    const stopping = shift.watch.stop().then(() => {
      stopped = true;
    });
    while (!stopped) await clock.advance(secondMs);
    await stopping;
    await shift.group.stop();
    transitions.push(...(await transitionsOf(shift.store)));
    await shift.store.close();
  }

  const mailbox = (email = amelia): MailboxState | undefined =>
    [...shift.fleet.mailboxes()].find((one) => one.email === email);

  return {
    clock,
    behind,
    lease,
    simulator,
    between,
    counted,
    mailbox,
    fleet: () => shift.fleet,
    store: () => shift.store,
    folder: () => shift.folder,
    watch: () => shift.watch,
    /** The daemon's client; a method may be replaced, so that an answer is late while the clock goes on. */
    api: () => shift.api,
    turns: () => shift.turns,
    action: (email = amelia): Action | null => mailbox(email)?.action ?? null,
    reason: (email = amelia) => mailbox(email)?.verdict?.answer.reason,
    state: (email = amelia) => {
      const known = mailbox(email);
      return known && guardStateOf(known, defaultPolicy.nearLimitPpm, shift.fleet.isStale(known));
    },
    account: () => shift.fleet.account('agency'),
    /** The alerts that fire. */
    firing: (): readonly Alert[] => [...shift.fleet.alerts()].filter(({ status }) => status === 'firing'),
    /** What becomes of each POST from now on; everything else passes. */
    meddleWithPosts: (meddle: () => Meddling) => {
      between.meddle = ({ method }) => (method === 'POST' ? meddle() : 'pass');
    },
    /** Bodies of the POSTs that were sent, in order. */
    posts: () => between.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body)),
    asked: (path: string) => between.requests.filter((one) => one.method === 'GET' && one.path.startsWith(path)).length,
    /** `object`: of a rule with several causes, the cause. */
    alert: (rule: AlertRule, object?: string): Alert | undefined =>
      [...shift.fleet.alerts()].find((one) => one.rule === rule && (object === undefined || one.object === object)),
    /** What people were told, as "kind rule outcome", of all shifts. */
    notified: async () =>
      [...transitions, ...(await transitionsOf(shift.store))].map(({ kind, alert }) => {
        const outcome = alert.facts.numbers['outcome'];
        return `${kind} ${alert.rule}${kind === 'event' ? ` ${outcome}` : ''}`;
      }),
    run: (ms: number) => clock.advance(ms),
    /** Runs until it holds; an error when it does not within the time. */
    async until(met: () => boolean, withinMs = 12 * hourMs): Promise<void> {
      if (!(await clock.advanceUntil(met, withinMs))) throw new Error(`not within ${withinMs / minuteMs} minutes`);
    },
    /** The disk as it is at this moment: what a kill -9 now would leave. */
    image(): string {
      const folder = join(root, `image-${shifts}-${clock.now()}`);
      cpSync(shift.folder, folder, { recursive: true, filter: (name) => !name.endsWith('.lock') });
      return folder;
    },
    stop,
    /** Runs up to the next POST, and on as if the process were killed then: the disk of that moment, and what became of the POST. */
    async untilKilled(fate: 'cut' | 'applied-cut'): Promise<string> {
      let image: string | undefined;
      this.meddleWithPosts(() => {
        image ??= this.image();
        return fate;
      });
      await this.until(() => image !== undefined);
      return image ?? '';
    },
    /** Ends this shift and begins the next, on the same disk or on an image of it. */
    async restart(change: DutyOptions & { readonly image?: string; readonly pauseMs?: number } = {}): Promise<void> {
      const { folder } = shift;
      await stop();
      await clock.advance(change.pauseMs ?? 0);
      shifts += 1;
      shift = await begin(change.image ?? folder, { ...options, ...change });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await stop();
      await between[Symbol.asyncDispose]();
      await simulator.close();
      rmSync(root, { recursive: true, force: true });
      expectNoSleepers(clock);
    },
  };
}

export type Duty = Awaited<ReturnType<typeof goOnDuty>>;

async function transitionsOf(store: Store): Promise<readonly Transition[]> {
  return (await store.outbox.unnotifiedTransitions(10_000)).map(({ transition }) => transition);
}
