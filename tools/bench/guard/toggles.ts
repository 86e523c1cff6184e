// What a status or a mode that toggles costs: the same mailboxes with and without it, from the onset of their bounces to the action.

import type { StatsRow } from '../../../src/core/answers.ts';
import { judge, situationOf } from '../../../src/core/guard/judge.ts';
import { afterJudgement, afterSight, firstSight, type GuardMemory } from '../../../src/core/guard/memory.ts';
import { runStateOf } from '../../../src/core/guard/run-state.ts';
import { defaultPolicy, type WarmupMode } from '../../../src/core/policy.ts';
import { dayMs, type EpochMs, hourMs, minuteMs } from '../../../src/core/time.ts';
import { type Figure, rounded } from '../figure.ts';
import { firstDayMs, rowOf } from './alarms.ts';
import { seededChance, seedOf } from './chance.ts';
import type { Column } from './columns.ts';
import { type History, pollsPerDay, simulateHistory } from './history.ts';

/** What the API says of a mailbox of a mode at a moment, whatever the mailbox does. */
interface Toggle {
  readonly name: string;
  readonly says: (mode: WarmupMode, at: EpochMs) => { readonly mode: WarmupMode; readonly status: string };
}

const words = { paused: ['paused'], running: ['active'], notRunning: [] };
const active = 'active';
const pausedWhen = (name: string, isPaused: (at: EpochMs) => boolean): Toggle => ({
  name,
  says: (mode, at) => ({ mode, status: isPaused(at) ? 'paused' : active }),
});
const otherWhen = (name: string, isOther: (at: EpochMs) => boolean): Toggle => ({
  name,
  says: (mode, at) => ({ mode: isOther(at) === (mode === 'slow') ? 'balanced' : 'slow', status: active }),
});
const timeOfDay = (at: EpochMs) => (at - firstDayMs) % dayMs;
const dayOf = (at: EpochMs) => Math.floor((at - firstDayMs) / dayMs);

/** How often the guard looks. */
const lookEveryMs = 15 * minuteMs;

const plain: Toggle = { name: 'plain', says: (mode) => ({ mode, status: active }) };
const toggles: readonly Toggle[] = [
  pausedWhen('paused_at_night', (at) => timeOfDay(at) < 6.5 * hourMs || timeOfDay(at) >= 18.5 * hourMs),
  pausedWhen('paused_at_weekends', (at) => dayOf(at) % 7 >= 5),
  pausedWhen('paused_for_an_hour_a_day', (at) => Math.floor(timeOfDay(at) / hourMs) === 12),
  otherWhen('misread_for_an_hour_a_day', (at) => Math.floor(timeOfDay(at) / hourMs) === 12),
  otherWhen('mode_alternates_daily', (at) => dayOf(at) % 2 === 1),
  otherWhen('mode_alternates_every_15_minutes', (at) => Math.floor(at / lookEveryMs) % 2 === 1),
  pausedWhen('resumed_hourly', (at) => timeOfDay(at) % hourMs < lookEveryMs),
];

const modes = ['slow', 'balanced'] as const;
/** Of the limit: so many times as much bounces from the onset on. */
const times = 7.5;
const column: Column = { name: 'toggles', kind: 'step', times };
/** Days before the onset from which it is watched, by mailbox: the onset comes at any time after a restart of the evidence. */
const [leastDaysBefore, spreadDays] = [8, 9];
/** Days after the onset until it counts as missed. */
const daysAfter = 30;
const latestDays = 1;

/** Days from the onset to the first look that acts; null when one acts before the onset. */
function delayOf(mode: WarmupMode, { onset, sent, bounced }: History, { says }: Toggle): number | null {
  const rows: StatsRow[] = [];
  const day = { sent: 0, bounced: 0 };
  const from = Math.floor(onset) - leastDaysBefore - (Math.floor(onset * pollsPerDay) % spreadDays);
  let memory: GuardMemory | null = null;
  let before = '';
  for (let poll = 0; poll < sent.length && poll < (onset + daysAfter) * pollsPerDay; poll += 1) {
    const today = Math.floor(poll / pollsPerDay);
    if (poll % pollsPerDay === 0) [day.sent, day.bounced] = [0, 0];
    day.sent += sent[poll] ?? 0;
    day.bounced += bounced[poll] ?? 0;
    rows[today] = rowOf(today, day.sent, day.bounced);
    if (today < from) continue;
    const seen = rows.slice(-defaultPolicy.windowMaxDays);
    const pollMs = dayMs / pollsPerDay;
    // A poll shows what happened until its end: its last look is the first that sees it.
    const end = firstDayMs + (poll + 1) * pollMs - 1;
    for (let at = end; at < end + pollMs; at += lookEveryMs) {
      const said = says(mode, at);
      const look = `${poll} ${said.mode} ${said.status}`;
      if (look === before) continue;
      before = look;
      const fresh = at === end;
      const run = runStateOf(said.status, words, seen, at, memory);
      const sight = { mode: said.mode, run, word: said.status, rows: seen, now: at };
      const after: GuardMemory = memory ? afterSight(defaultPolicy, memory, sight) : firstSight(defaultPolicy, sight);
      const judged = after.answersJudged + (fresh ? 1 : 0);
      const situation = situationOf(defaultPolicy, after, { ...sight, statsAt: end, weekdaysOnly: false }, judged < 2);
      const verdict = judge(defaultPolicy, situation);
      memory = afterJudgement(after, verdict, { fresh, rows: seen, now: at });
      if (verdict.action !== 'recovery' && verdict.action !== 'pause') continue;
      const days = (at + 1 - firstDayMs) / dayMs - onset;
      return days > 0 ? days : null;
    }
  }
  return daysAfter;
}

const middleOf = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The figures in lines for people. */
export function togglesText(figures: readonly Figure[]): string {
  const lines = figures.map(
    ({ figure, ours, peer, holds }) => `  ${figure.padEnd(56)}${ours} (without ${peer})${holds ? '' : ' !'}`,
  );
  return ['Days from 7.5 times the limit to the action, while the status or the mode toggles:', ...lines].join('\n');
}

/** For each toggle, the median days that it adds: of the same mailboxes, without it. */
export function toggleFigures(mailboxes: number, seed: number): readonly Figure[] {
  return modes.flatMap((mode) => {
    const histories = Array.from({ length: mailboxes }, (_, index) =>
      simulateHistory(mode, column, 100, seededChance(seedOf(seed, mode, column.name, index))),
    );
    const delays = (toggle: Toggle) => histories.map((history) => delayOf(mode, history, toggle));
    const without = delays(plain);
    return toggles.map((toggle) => {
      const pairs = delays(toggle).flatMap((days, index) => {
        const usual = without[index] ?? null;
        return days === null || usual === null ? [] : [[days, usual] as const];
      });
      const [ours, peer] = [middleOf(pairs.map(([days]) => days)), middleOf(pairs.map(([, usual]) => usual))];
      const figure = `${mode}/${toggle.name}/median_days`;
      const target = peer + latestDays;
      const values = { ours: rounded(ours), peer: rounded(peer), ratio: null, target: rounded(target) };
      return { bench: 'guard', figure, ...values, holds: ours <= target };
    });
  });
}
