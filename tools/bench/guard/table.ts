// The guard's figures as a table for people.
import { warmupModes } from '../../../src/core/policy.ts';
import type { Figure } from '../figure.ts';
import type { CellResult, JudgedCell } from './cell.ts';
import { columns } from './columns.ts';

export interface TableCell extends JudgedCell {
  readonly figures: readonly Figure[];
}

const titleWidth = 16;
const cellWidth = 30;

/** One line a column and one block a mode; ours, the literal rule and the study side by side; `!` where it misses. */
export function tableText(cells: readonly TableCell[]): string {
  const line = (words: readonly string[]) =>
    words
      .map((word, index) => word.padEnd(index === 0 ? titleWidth : cellWidth))
      .join('')
      .trimEnd();
  const blocks = warmupModes.map((mode) => {
    const rows = columns.flatMap((column) => {
      const cell = cells.find((one) => one.mode === mode && one.column === column);
      if (!cell) return [];
      const mark = cell.figures.every(({ holds }) => holds) ? '' : '!';
      return [line([column.name, textOf(cell.ours), textOf(cell.literal), studyText(cell.figures), mark])];
    });
    return [line([mode, 'measured', 'literal rule', 'study']), ...rows].join('\n');
  });
  const legend =
    'Interventions a mailbox in 90 days; for an incident the median days and the mean bounced emails before the action,\n' +
    'the share that is missed, and the share where the first action is a pause out of an emergency.';
  return [...blocks, legend].join('\n\n');
}

function textOf(result: CellResult): string {
  if (result.kind === 'steady') return result.interventionsPer90Days.toFixed(3);
  const { medianDays, meanBounces, missedShare, pauseFirstShare } = result;
  return incidentText([medianDays, meanBounces, missedShare, pauseFirstShare]);
}

function studyText(figures: readonly Figure[]): string {
  const targets = figures.map(({ target }) => target);
  return targets.length === 1 ? String(targets[0]) : incidentText(targets);
}

function incidentText([days = 0, bounces = 0, missed = 0, pauseFirst]: readonly number[]): string {
  const share = (value: number) => `${Math.round(value * 100)}%`;
  const paused = pauseFirst === undefined ? '' : `, ${share(pauseFirst)} paused`;
  return `${days.toFixed(1)}d ${bounces.toFixed(1)}b ${share(missed)}${paused}`;
}
