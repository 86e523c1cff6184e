// What a mailbox looks like that nobody remembers, that `decide` and the daemon say the same of it, and the modes that it had.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideCases } from '../../src/cli/decide.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import { judge, situationOf } from '../../src/core/guard/judge.ts';
import {
  afterConfirmed,
  afterOperatorChange,
  afterSight,
  firstSight,
  type GuardMemory,
  type Sight,
} from '../../src/core/guard/memory.ts';
import { defaultPolicy, warmupModes } from '../../src/core/policy.ts';
import { addDays, dayMs, hourMs, utcDate } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { answered, daysUpTo, listedMailbox, now, times, today, warmupAnswer } from './samples.ts';
import { rowsUpTo } from './situations.ts';

/** The daemon's verdict on one fresh answer. */
function byDaemon(mode: string, rows: readonly StatsRow[], at: number, memory: GuardMemory | null = null) {
  const warmup = { at, answer: warmupAnswer(mode, 'active') };
  const observation = { route: 'stats', observed: { at, answer: { rows } } } as const;
  const { mailbox, verdict } = answered({ ...listedMailbox(at), warmup, memory }, observation);
  if (!verdict || !mailbox.memory) throw new Error('nothing was judged');
  return { verdict, memory: mailbox.memory };
}

const sixIn97 = daysUpTo(today, [14, 0], [14, 3], [14, 0], [14, 3], [14, 0], [13, 0], [14, 0]);

describe('a mailbox that is found in recovery mode with a breach', () => {
  test('is paused by bounces of the same day, and not by those that are added to days before (docs/guard.md)', () => {
    const { memory } = byDaemon('recovery', sixIn97, now);
    const adding = (back: number) => {
      const at = sixIn97.length - 1 - back;
      const rows = sixIn97.map((one, index) => (index === at ? { ...one, bounced: (one.bounced ?? 0) + 2 } : one));
      return byDaemon('recovery', rows, now + hourMs, memory).verdict;
    };
    expect(adding(0)).toMatchObject({ action: 'pause', bounced: 2 });
    expect(adding(2)).toMatchObject({ action: 'none', reason: 'insufficient_evidence' });
  });

  test('starts over with another mode', () => {
    const { memory } = byDaemon('recovery', sixIn97, now);
    const sight = { mode: 'slow', run: 'running', rows: sixIn97, now } as const;
    expect(afterSight(defaultPolicy, memory, sight).foundBreachAt).toBeNull();
  });
});

test('a mailbox that is found in recovery mode with one bounce, or within its limit, was not found with a breach', () => {
  const memoryOf = (mode: string, days: readonly (readonly [number, number])[]) =>
    firstSight(defaultPolicy, { mode, run: 'running', rows: daysUpTo(today, ...days), now });
  expect(memoryOf('recovery', [...times(6, 14), [13, 1]]).foundBreachAt).toBeNull();
  expect(memoryOf('recovery', [...times(6, 200), [200, 2]]).foundBreachAt).toBeNull();
  expect(memoryOf('recovery', [...times(6, 14), [13, 2]]).foundBreachAt).toBe(now);
  expect(memoryOf('slow', [...times(6, 14), [13, 2]]).foundBreachAt).toBeNull();
});

test('decide and the daemon say the same of any mailbox, known or seen for the first time', () => {
  const anyFound = fc.record({
    mode: fc.constantFrom(...warmupModes),
    rows: rowsUpTo(today),
    evidenceFrom: fc.option(fc.integer({ min: -1, max: 30 }).map((age) => utcDate(now - age * dayMs))),
    interventions: fc.integer({ min: 0, max: 3 }),
  });
  const essence = ({ action, reason, sent, bounced }: Pick<Verdict, 'action' | 'reason' | 'sent' | 'bounced'>) => {
    return { action, reason, sent, bounced };
  };
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyFound, ({ mode, rows, evidenceFrom, interventions }) => {
      const stats = rows.map(({ date, sent, bounced, delivered, bounceRatePercent: rate }) => {
        return { date, sent, bounced, delivered, bounce_rate: rate };
      });
      const one = { id: 'x', mode, now: new Date(now).toISOString(), stats };
      const state = { evidence_from: evidenceFrom, recent_interventions: interventions };
      const [known, first] = decideCases([
        { ...one, state },
        { ...one, state: { first_sight: true } },
      ]);
      const sight = { mode, run: 'running', rows, now } as const;
      const evidence = evidenceFrom === null ? null : { from: evidenceFrom, before: null };
      const memory = { ...firstSight(defaultPolicy, sight), answersJudged: 5, foundBreachAt: null };
      const remembered = { ...memory, evidence, interventions: Array.from({ length: interventions }, () => now) };
      const look = { ...sight, statsAt: now, weekdaysOnly: false };
      const byGuard = judge(defaultPolicy, situationOf(defaultPolicy, remembered, look, false));
      expect(essence(byGuard)).toEqual(essence(known as never));
      if (evidence !== null)
        expect(essence(byDaemon(mode, rows, now, remembered).verdict)).toEqual(essence(known as never));
      expect(essence(byDaemon(mode, rows, now).verdict)).toEqual(essence(first as never));
      seen.add(`${mode} ${first?.reason}`);
    }),
    { numRuns: 1_500 },
  );
  expect([...seen]).toEqual(expect.arrayContaining(['slow first_sight', 'recovery insufficient_evidence', 'slow ok']));
});

function sightOf(mode: string | null, day: number): Sight {
  const at = now + day * dayMs;
  return { mode, run: 'running', rows: daysUpTo(utcDate(at), ...times(7, 40)), now: at };
}

const first = firstSight(defaultPolicy, sightOf('slow', 0));

test('a mode that stays, or that cannot be read, leaves nothing behind', () => {
  const same = afterSight(defaultPolicy, first, sightOf('slow', 1));
  const unread = afterSight(defaultPolicy, same, sightOf('turbo', 2));
  expect([first.earlierModes, same.earlierModes, unread.earlierModes]).toEqual([undefined, undefined, undefined]);
});

test('others, the guard and a person change it: each mode before is kept with its last day, the newest first', () => {
  const raised = afterSight(defaultPolicy, first, sightOf('aggressive', 2));
  const done = { actionId: 'a1', previousMode: 'aggressive', word: 'active' };
  const recovered = afterConfirmed(raised, { ...done, kind: 'recovery' }, sightOf('recovery', 5));
  const back = afterOperatorChange(defaultPolicy, recovered, { ...done, kind: 'mode' }, sightOf('balanced', 5));
  expect(back).toMatchObject({
    mode: 'balanced',
    earlierModes: [
      { mode: 'recovery', until: addDays(today, 5) },
      { mode: 'aggressive', until: addDays(today, 5) },
      { mode: 'slow', until: addDays(today, 2) },
    ],
  });
  expect(afterSight(defaultPolicy, back, sightOf('balanced', 6)).earlierModes).toBe(back.earlierModes);
});

test('what no statistics reach any more is forgotten', () => {
  const raised = afterSight(defaultPolicy, first, sightOf('aggressive', 2));
  const later = afterSight(defaultPolicy, raised, sightOf('balanced', 93));
  expect(later.earlierModes).toEqual([{ mode: 'aggressive', until: addDays(today, 93) }]);
});
