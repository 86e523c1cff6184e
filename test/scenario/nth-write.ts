// A short story (a breach, the switch to recovery, a reload while its intent is open, a pause, the messages about them)
// in which writes of the store fail. However it goes, every account is guarded, everything is done once and told once.
import { expect } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { amelia, jonas, stormOf } from '../account/duty.ts';
import { failWrites, type HowToFail } from '../support/failing-writes.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/5 * * * *', stats: '*/5 * * * *', warmup: '*/30 * * * *' };

/** What a daemon says whose store fails for a moment. */
const expectErrors = [
  'The store is failing.',
  'could not be',
  'an action could not be continued',
  'failed: Warmwarden retries every few seconds',
  'Sending a message failed',
  'the polling loop of an account ended with an error',
];

/** A moment of the story. */
export interface Moment {
  /** Which transaction begins, counted from 1. */
  readonly nth: number;
  /** Amelia's action. */
  readonly action: Action['state'] | 'none';
  /** How many have failed before. */
  readonly failed: number;
}

/** Plays it. Returns how many transactions there were, and how many failed. */
export async function playWith(fails: (moment: Moment) => boolean, how: HowToFail = {}): Promise<Counts> {
  await using stage = await startMovedDaemon({
    scenario: storm(),
    poll,
    second: [jonas],
    before: (_, clock) => clock.advance(2.5 * hourMs),
    expectErrors,
  });
  const counts = await play(stage, fails, how);
  await expectAllWell(stage);
  return counts;
}

interface Counts {
  readonly begun: number;
  readonly failed: number;
}

/** The storm, an hour earlier for Jonas: the daemon begins when Amelia is over her limit, and he burns soon after. */
function storm(): Scenario {
  const { fleet, incidents, ...rest } = stormOf(amelia, jonas);
  return {
    ...rest,
    fleet: fleet.map((one) => (one.email === jonas ? { ...one, sendWindow: [11, 14] } : one)),
    incidents: incidents.map((one) => (one.mailbox === jonas ? { ...one, from: one.from - hourMs } : one)),
  };
}

async function play(stage: MovedDaemon, fails: (moment: Moment) => boolean, how: HowToFail): Promise<Counts> {
  const stateOf = (email: string) => {
    const known = [...stage.fleet().mailboxes()].find((one) => one.email === email);
    return known?.action?.state ?? 'none';
  };
  let failed = 0;
  const counted = (nth: number) => {
    const met = fails({ nth, action: stateOf(amelia), failed });
    if (met) failed += 1;
    return met;
  };
  using writes = failWrites(counted, how);
  await stage.until('the intent', () => stateOf(amelia) === 'open', hourMs);
  await stage.reload((config) => {
    for (const account of config.accounts) Object.assign(account, { headroom: '20%' });
  });
  await stage.until('both actions', () => [amelia, jonas].every((one) => stateOf(one) === 'confirmed'), 2 * hourMs);
  await stage.run(2 * minuteMs);
  return { begun: writes.begun, failed };
}

async function expectAllWell(stage: MovedDaemon): Promise<void> {
  const at = stage.clock.now();
  await stage.run(6 * minuteMs);
  const lists = stage.simulator.requests.filter((one) => one.at > at && one.path === '/v1/mailboxes');
  expect(lists.length).toBeGreaterThanOrEqual(2);
  expect(stage.fleet().guarding()).toEqual([
    { account: 'agency', startingSince: null },
    { account: 'second', startingSince: null },
  ]);
  expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([
    [amelia, 'recovery'],
    [jonas, 'pause'],
  ]);
  // A message whose success could not be recorded is sent again, under its id: receivers take it once.
  const byId = new Map(stage.receiver.notified.map((message) => [message.headers['webhook-id'], message]));
  const notified = [...byId.values()].flatMap((message) => stage.receiver.verified(message));
  const acted = notified.filter(({ rule }) => rule === 'guard_acted');
  expect(acted.map(({ mailbox, numbers }) => [mailbox, numbers['outcome']])).toEqual([
    [amelia, 'confirmed'],
    [jonas, 'confirmed'],
  ]);
  expect(stage.fleet().storeFailure).toBeNull();
}
