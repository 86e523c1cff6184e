// The notifier with an outbox in memory, on a clock that is moved by hand.
import { pino } from 'pino';
import type { Channel } from '../../src/channels/channel.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { createNotifier, type Notifier, type NotifierSettings } from '../../src/outbox/notifier.ts';
import { Loops } from '../../src/world/loop.ts';
import { type Log, type MovedClock, movedClock, type World } from '../../src/world/world.ts';
import { start } from '../alerts/samples.ts';
import { expectNoSleepers } from '../support/sleepers.ts';
import { type MemoryOutbox, memoryOutbox } from './memory-outbox.ts';

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface Rig extends AsyncDisposable {
  readonly clock: MovedClock;
  readonly store: MemoryOutbox;
  readonly fleet: Fleet;
  readonly loops: Loops;
  readonly notifier: Notifier;
  readonly log: Log;
  readonly logged: string[];
  readonly tallied: string[];
  commit(...transitions: Parameters<MemoryOutbox['commit']>[0]): void;
  /** Other channels, with the same settings but for what is given. */
  reconfigure(channels: readonly Channel[], change?: Partial<NotifierSettings>): Promise<void>;
}

interface RigOptions {
  readonly random?: () => number;
  readonly store?: MemoryOutbox;
  /** Where the clock begins. */
  readonly at?: number;
  readonly maySend?: () => boolean;
  /** Real time, in place of ten seconds. */
  readonly alwaysMs?: number;
  readonly pageUrl?: string;
}

export function rigWith(
  channels: (clock: MovedClock, world: World) => readonly Channel[],
  settings: Partial<NotifierSettings> = {},
  options: RigOptions = {},
): Rig {
  const { random = () => 0.5, store = memoryOutbox(), at = start, maySend = () => true, alwaysMs = 10_000 } = options;
  const clock = movedClock(at);
  const fleet = new Fleet();
  const logged: string[] = [];
  const tallied: string[] = [];
  const log: Log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const notification = (channel: string, outcome: string) => void tallied.push(`${channel} ${outcome}`);
  const tally = { decision: () => {}, action: () => {}, request: () => {}, notification };
  const world = { clock, random, log, command: 'warmwarden' };
  const inForce: NotifierSettings = {
    rules: defaultRuleSettings,
    digest: null,
    heartbeat: null,
    groupWaitMs: 30 * secondMs,
    groupIntervalMs: 5 * minuteMs,
    repeatIntervalMs: { critical: null, warning: null, info: null },
    routes: [],
    ...settings,
  };
  const loops = new Loops(world);
  const notifier = createNotifier({
    world,
    loops,
    store,
    fleet,
    tally,
    maySend,
    alwaysMs,
    channels: channels(clock, world),
    settings: inForce,
    pageUrl: options.pageUrl ?? null,
    apiOf: () => null,
  });
  const reconfigure: Rig['reconfigure'] = (others, change) => notifier.reconfigure(others, { ...inForce, ...change });
  notifier.start();
  const commit: Rig['commit'] = (...transitions) => {
    store.commit(transitions);
    notifier.wake();
  };
  const stop = async () => {
    await notifier.stop();
    expectNoSleepers(clock);
  };
  return {
    clock,
    store,
    fleet,
    loops,
    notifier,
    log,
    logged,
    tallied,
    commit,
    reconfigure,
    [Symbol.asyncDispose]: stop,
  };
}

export const hookChannel = (url: string, clock: MovedClock) =>
  webhookChannel({ name: 'hook', url, secrets: [secret], format: 'standard', pageUrl: null }, clock);
export const hookTo = (url: string) => (clock: MovedClock) => [hookChannel(url, clock)];
