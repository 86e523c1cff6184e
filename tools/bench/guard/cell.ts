// One cell of the acceptance table: many mailboxes of one mode in one column, judged by one or more policies.
import type { Policy, WarmupMode } from '../../../src/core/policy.ts';
import { type Alarm, alarmsOf } from './alarms.ts';
import { seededChance, seedOf } from './chance.ts';
import { type Column, missedAfterDays, missedSpikeAfterDays } from './columns.ts';
import { type History, pollsPerDay, simulateHistory } from './history.ts';

/** Days of a history; interventions on healthy mailboxes are counted in the first 90, the ramp included. */
const historyDays = 120;
const countedDays = 90;

/** What a policy made of a cell. */
export type CellResult =
  | { readonly kind: 'steady'; readonly interventionsPer90Days: number }
  | {
      readonly kind: 'incident';
      /** From the onset to the action; a missed one counts as 30 days. */
      readonly medianDays: number;
      /** That left between onset and action, whenever they came back. */
      readonly meanBounces: number;
      readonly missedShare: number;
      /** Of all mailboxes: the first alarm is an emergency. */
      readonly pauseFirstShare: number;
    };

export interface Cell {
  readonly mode: WarmupMode;
  readonly column: Column;
  readonly mailboxes: number;
  readonly seed: number;
}

/** A cell with both policies' results on the same mailboxes. */
export interface JudgedCell {
  readonly mode: WarmupMode;
  readonly column: Column;
  readonly ours: CellResult;
  /** The literal rule: one bounce is enough, and seven days are all it looks at. */
  readonly literal: CellResult;
}

/** Simulates the cell once, and judges it by each policy in turn. */
export function runCell(cell: Cell, policies: readonly Policy[]): readonly CellResult[] {
  const { mode, column, mailboxes, seed } = cell;
  const steady = column.kind === 'steady';
  const alarmCounts = policies.map(() => 0);
  const outcomes: Outcome[][] = policies.map(() => []);
  for (let index = 0; index < mailboxes; index += 1) {
    const chance = seededChance(seedOf(seed, mode, column.name, index));
    const history = simulateHistory(mode, column, steady ? countedDays : historyDays, chance);
    const polls = history.sent.length;
    const onsetPoll = Math.floor(history.onset * pollsPerDay);
    for (const [which, policy] of policies.entries()) {
      const stopFrom = steady ? Number.POSITIVE_INFINITY : onsetPoll;
      const until = steady ? polls : Math.min(polls, onsetPoll + missedAfterDays * pollsPerDay + 1);
      const alarms = alarmsOf({ policy, mode, history, stopFrom, polls: until, judgeAll: false });
      alarmCounts[which] = (alarmCounts[which] ?? 0) + alarms.length;
      if (!steady) outcomes[which]?.push(outcomeOf(column, history, alarms));
    }
  }
  return policies.map((_, which) =>
    steady
      ? { kind: 'steady', interventionsPer90Days: (alarmCounts[which] ?? 0) / mailboxes }
      : summaryOf(outcomes[which] ?? []),
  );
}

interface Outcome {
  readonly days: number;
  readonly bounces: number;
  readonly missed: boolean;
  readonly emergency: boolean;
}

function outcomeOf(column: Column, history: History, alarms: readonly Alarm[]): Outcome {
  const patience = column.kind === 'spike' ? missedSpikeAfterDays : missedAfterDays;
  const { onset } = history;
  const alarm = alarms.find(({ poll }) => (poll + 1) / pollsPerDay > onset);
  const days = alarm ? (alarm.poll + 1) / pollsPerDay - onset : missedAfterDays;
  const missed = alarm === undefined || days > patience;
  const last = missed ? (onset + patience) * pollsPerDay : alarm.poll + 1;
  let bounces = 0;
  for (let poll = 0; poll < last; poll += 1) bounces += history.lost[poll] ?? 0;
  const emergency = !missed && alarm.verdict.reason === 'emergency';
  return { days: missed ? missedAfterDays : days, bounces, missed, emergency };
}

function summaryOf(outcomes: readonly Outcome[]): CellResult {
  const sum = (value: (outcome: Outcome) => number) =>
    outcomes.reduce((total, outcome) => total + value(outcome), 0) / outcomes.length;
  const days = outcomes.map((outcome) => outcome.days).sort((a, b) => a - b);
  return {
    kind: 'incident',
    medianDays: days[Math.floor(days.length / 2)] ?? 0,
    meanBounces: sum(({ bounces }) => bounces),
    missedShare: sum(({ missed }) => Number(missed)),
    pauseFirstShare: sum(({ emergency }) => Number(emergency)),
  };
}
