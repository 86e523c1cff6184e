// The notifier with an outbox in memory, on a clock that is moved by hand.
import { pino } from 'pino';
import { test } from 'vitest';
import type { Channel } from '../../src/channels/channel.ts';
import { slackChannel } from '../../src/channels/slack.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTally } from '../../src/core/records.ts';
import { createNotifier, type Notifier, type NotifierSettings } from '../../src/outbox/notifier.ts';
import { Loops } from '../../src/world/loop.ts';
import type { Log, World } from '../../src/world/world.ts';
import { type MovedClock, movedClock } from '../../tools/simulator/moved-clock.ts';
import { start } from '../alerts/samples.ts';
import { ending } from '../support/ending.ts';
import { expectNoSleepers } from '../support/sleepers.ts';
import { startReceiver } from './receiver.ts';
import { usualSettings } from './sample-delivery.ts';
import { type TestStore, testStore } from './test-store.ts';

export const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface Rig extends AsyncDisposable {
  readonly clock: MovedClock;
  readonly store: TestStore;
  readonly fleet: Fleet;
  readonly loops: Loops;
  readonly notifier: Notifier;
  readonly log: Log;
  readonly logged: string[];
  readonly tallied: string[];
  commit(...transitions: Parameters<TestStore['commit']>[0]): void;
  /** Other channels, with the same settings but for what is given. */
  reconfigure(channels: readonly Channel[], change?: Partial<NotifierSettings>): Promise<void>;
  /** Of all deliveries. */
  states(): readonly string[];
}

interface RigOptions {
  readonly random?: () => number;
  readonly store?: TestStore;
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
  const { random = () => 0.5, store = testStore(), at = start, maySend = () => true, alwaysMs = 10_000 } = options;
  const clock = movedClock(at);
  const fleet = new Fleet();
  const logged: string[] = [];
  const tallied: string[] = [];
  const log: Log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  const notification = (channel: string, outcome: string) => void tallied.push(`${channel} ${outcome}`);
  const tally = { ...noTally, notification };
  const world = { clock, random, log };
  const began = channels(clock, world);
  const settingsFor = (these: readonly Channel[]): NotifierSettings => ({ ...usualSettings(these), ...settings });
  const loops = new Loops(world);
  const notifier = createNotifier({
    world,
    loops,
    store,
    fleet,
    tally,
    maySend,
    alwaysMs,
    channels: began,
    settings: settingsFor(began),
    pageUrl: options.pageUrl ?? null,
    apiOf: () => null,
  });
  const reconfigure: Rig['reconfigure'] = (others, change) =>
    notifier.reconfigure(others, { ...settingsFor(others), ...change });
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
    states: () => store.deliveries().map(({ state }) => state),
    [Symbol.asyncDispose]: stop,
  };
}

export const hookChannel = (url: string, clock: MovedClock, name = 'hook') =>
  webhookChannel({ name, url, secrets: [secret] }, clock);
export const hookTo = (url: string) => (clock: MovedClock) => [hookChannel(url, clock)];
export const slackTo = (url: string, clock: MovedClock) =>
  slackChannel({ name: 'ops', url, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' }, clock);

/** A receiver and a second one, and a rig that sends to the first through a webhook. */
export async function stage(
  settings: Partial<NotifierSettings> = {},
  options: RigOptions = {},
  channels = (url: string, clock: MovedClock, _second: string): readonly Channel[] => [hookChannel(url, clock)],
) {
  const receiver = await startReceiver(() => rig.clock.now());
  const second = await startReceiver(() => rig.clock.now());
  const rig = rigWith((clock) => channels(receiver.url, clock, second.url), settings, options);
  const bodies = (from = 0) => receiver.received.slice(from).map(({ body }) => JSON.parse(body));
  return { receiver, second, rig, bodies, ...ending(rig, receiver, second) };
}

/** A test on a stage with the usual settings. */
export const staged = (name: string, proof: (at: Awaited<ReturnType<typeof stage>>) => Promise<void>) =>
  test(name, async () => {
    await using at = await stage();
    await proof(at);
  });
