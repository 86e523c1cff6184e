// 120 days of the whole daemon for each mode and incident, asserted by the reasons in its ledger. It is on duty for some
// minutes once or twice a working day, each time as another process: what it knows of the days before comes from the store.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../src/core/answers.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const totalDays = 120;
/** Twice a working day while something happens, once afterwards. */
const busyDays = 36;
const modes = ['slow', 'balanced', 'aggressive'] as const;
/** On New Year's day: a process asks only for what it asks for at its start. */
const never = '0 3 1 1 *';
const poll = Object.fromEntries(routes.map((route) => [route, never]));

/** Each mailbox has a domain of its own, and never do five want action within an hour: the breaker is another test's. */
const address = (name: string) => `${name}@${name}.example`;

function settled(name: string, mode: MailboxSpec['mode'] = 'balanced'): MailboxSpec {
  return { email: address(name), provider: 'google', mode, startedDaysAgo: 60 };
}

/** This share of the emails of some days; without a number of days for ever. Day 0 is a Tuesday. */
function bounces(name: string, rate: number, fromDay: number, forDays?: number): Incident {
  const until = forDays === undefined ? {} : { until: (fromDay + forDays) * dayMs };
  return { kind: 'bounce', mailbox: address(name), rate, from: fromDay * dayMs, ...until };
}

/** Three bounces that are a tenth of two days' emails are an emergency: only one of the spikes becomes that. */
const incidents: readonly Incident[] = [
  bounces('spike-slow', 0.12, 6, 1),
  bounces('spike-balanced', 0.08, 7, 1),
  bounces('spike-aggressive', 0.12, 8, 1),
  ...modes.map((mode, index) => bounces(`transient-${mode}`, 0.05, 13 + 7 * index, 5)),
  ...modes.map((mode, index) => bounces(`persistent-${mode}`, 0.07, 14 + 7 * index)),
  bounces('paused-by-hand', 0.5, 3),
  bounces('taken-out', 0.08, 9, 1),
  { kind: 'block', mailbox: address('resumed'), from: 10 * dayMs, until: 11 * dayMs },
  bounces('barely-sending', 1, 41, 1),
];

const fleet: readonly MailboxSpec[] = [
  ...modes.flatMap((mode) =>
    ['healthy', 'spike', 'transient', 'persistent'].map((name) => settled(`${name}-${mode}`, mode)),
  ),
  ...['paused-by-hand', 'taken-out', 'resumed', 'barely-sending'].map((name) => settled(name)),
];

const takenOutOn = 10;
const resumedOn = 13;

/** The hours at which the daemon comes on duty; day 0 is a Tuesday, and at week-ends nothing is sent. */
function shiftsOn(day: number): readonly number[] {
  const weekday = (day + 2) % 7;
  if (weekday === 0 || weekday === 6) return [];
  return day < busyDays ? [11, 17] : [17];
}

/** What people do in the service's own pages at the end of a day. */
const people: Readonly<Record<number, (stage: MovedDaemon) => void>> = {
  0: ({ simulator }) => {
    simulator.fleet.pause(address('paused-by-hand'));
    simulator.fleet.configure(address('barely-sending'), { targetDailyLimit: 2 });
  },
  [takenOutOn]: ({ simulator }) => simulator.fleet.setMode(address('taken-out'), 'balanced'),
  [resumedOn]: ({ simulator }) => simulator.fleet.resume(address('resumed')),
};

/** Bounces over the week that a mailbox shows on a day: what a guard without memory would judge. */
function weekOf(stage: MovedDaemon, name: string): number {
  const rows = stage.simulator.fleet.find(address(name))?.rows.slice(-7) ?? [];
  const sum = (key: 'sent' | 'bounced') => rows.reduce((total, row) => total + row[key], 0);
  return sum('bounced') / sum('sent');
}

describe('120 days', () => {
  let stage: MovedDaemon;
  let ledgers: ReadonlyMap<string, readonly string[]>;
  /** The week's rate when a person took our change back. */
  const rateWhenTakenBack = new Map<string, number>();

  const posts = (name: string) => stage.posts.filter(({ email }) => email === address(name));
  const changes = (name: string) => posts(name).map(({ change }) => change);
  const days = (name: string) => posts(name).map(({ at }) => Math.floor((at - scenarioStart) / dayMs));
  const ledger = (name: string) => ledgers.get(address(name)) ?? [];
  /** The ledger's decisions to do something. */
  const actions = (name: string) => ledger(name).filter((entry) => !/^(none|hold) /.test(entry));

  beforeAll(async () => {
    stage = await startMovedDaemon({ scenario: { name: 'long', summary: 'Many days.', fleet, incidents }, poll });
    await stage.run(3 * minuteMs);
    for (let day = 0; day < totalDays; day += 1) {
      for (const hour of shiftsOn(day)) {
        await stage.awayUntil(scenarioStart + day * dayMs + (hour - 8.5) * hourMs);
        await stage.run(minuteMs);
      }
      people[day]?.(stage);
      if (day === takenOutOn) rateWhenTakenBack.set('taken-out', weekOf(stage, 'taken-out'));
      if (day === resumedOn) rateWhenTakenBack.set('resumed', weekOf(stage, 'resumed'));
    }
    ledgers = await stage.ledgers();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  describe.each(modes)('in mode %s', (mode) => {
    it('leave a healthy mailbox alone', () => {
      expect(changes(`healthy-${mode}`)).toEqual([]);
      expect(ledger(`healthy-${mode}`)).toEqual(['none ok']);
    });

    it('take what goes on and on into recovery and then pause it, for good', () => {
      const name = `persistent-${mode}`;
      expect(changes(name)).toEqual(['recovery', 'pause']);
      expect(actions(name)).toEqual(['recovery bounce_rate_over_limit', 'pause bounce_rate_over_limit']);
      expect(ledger(name).at(-1)).toBe('none already_paused');
      expect(stage.mailbox(address(name)).memory?.claim).toMatchObject({ kind: 'pause', previousMode: 'recovery' });
    });
  });

  it.each([['spike-slow', 'slow'], ...modes.map((mode) => [`transient-${mode}`, mode])])(
    'take a %s into recovery once and bring it back to %s once it is clean',
    (name, mode) => {
      expect(changes(name)).toEqual(['recovery', mode]);
      expect(actions(name)).toEqual(['recovery bounce_rate_over_limit', 'restore clean_volume']);
      expect(ledger(name).at(-1)).toBe('none ok');
      const [switched = 0, restored = 0] = days(name);
      expect(restored - switched).toBeGreaterThan(7);
      expect(restored - switched).toBeLessThan(45);
      expect(stage.mailbox(address(name)).memory).toMatchObject({ mode, claim: null });
    },
  );

  it('pause a spike of over a tenth although it was taken into recovery in the evening before', () => {
    expect(changes('spike-aggressive')).toEqual(['recovery', 'pause']);
    expect(actions('spike-aggressive')).toEqual(['recovery bounce_rate_over_limit', 'pause emergency']);
  });

  it('never touch what a person paused, although it breached', () => {
    expect(changes('paused-by-hand')).toEqual([]);
    expect(ledger('paused-by-hand')).toEqual(['none ok', 'none already_paused']);
    expect(stage.mailbox(address('paused-by-hand')).memory).toMatchObject({ run: 'paused', claim: null });
  });

  it('never put back into recovery, on the old evidence, what a person took out', () => {
    // Without memory it would be over the limit at that moment.
    expect(rateWhenTakenBack.get('taken-out')).toBeGreaterThan(0.01);
    expect(changes('taken-out')).toEqual(['recovery']);
    expect(actions('taken-out')).toEqual(['recovery bounce_rate_over_limit']);
    expect(stage.mailbox(address('taken-out')).memory).toMatchObject({ mode: 'balanced', claim: null });
    expect(stage.mailbox(address('taken-out')).memory?.reversals).toHaveLength(1);
  });

  it('never pause again, on the old evidence, what a person resumed, and never resume by itself', () => {
    expect(rateWhenTakenBack.get('resumed')).toBeGreaterThan(0.01);
    expect(changes('resumed')).toEqual(['pause']);
    expect(ledger('resumed')).toEqual(['none ok', 'pause emergency', 'none already_paused', 'none ok']);
    expect(stage.mailbox(address('resumed')).memory).toMatchObject({ mode: 'balanced', run: 'running', claim: null });
  });

  it('tell of a recovery that lasts 45 days because too little is sent, and remind of it', () => {
    expect(changes('barely-sending')).toEqual(['recovery']);
    const [first, ...others] = stage.notified('recovery_without_effect');
    expect([first, ...new Set(others)]).toEqual(['firing', 'reminder']);
    const restore = stage.mailbox(address('barely-sending')).verdict?.answer.restore;
    expect(restore?.cleanDays).toBeGreaterThan(45);
    expect(restore?.cleanMails).toBeLessThan(100);
  });

  it('tell of each action once, and never hold one', () => {
    const protecting = stage.posts.filter(({ change }) => change === 'recovery' || change === 'pause');
    const acted = stage.told('guard_acted');
    expect(acted.map(({ mailbox }) => mailbox).sort()).toEqual(protecting.map(({ email }) => email).sort());
    for (const rule of ['guard_held', 'contested', 'guard_action_failed']) expect(stage.notified(rule)).toEqual([]);
  });
});
