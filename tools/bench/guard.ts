// `npm run bench -- guard`: the guard's false alarms, delays and costs, simulated; the study that the defaults come from is the target.
import { defaultPolicy, literalProfile, warmupModes } from '../../src/core/policy.ts';
import { type Figure, ratioOf, rounded } from './figure.ts';
import { acceptance, isWithin, type Measure } from './guard/acceptance.ts';
import { beyondFigures, beyondText, wholeScale } from './guard/beyond-figures.ts';
import { type JudgedCell, runCell } from './guard/cell.ts';
import { columns } from './guard/columns.ts';
import { tableText } from './guard/table.ts';
import { toggleFigures, togglesText } from './guard/toggles.ts';

const bench = 'guard';
const mailboxesPerCell = 2_000;
/** Every quarter of an hour is looked at. */
const toggledMailboxes = 200;
const seed = 20_260;

/** Simulates every cell of the table. */
function runCells(mailboxes: number, notified: (done: number, of: number) => void): readonly JudgedCell[] {
  const policies = [defaultPolicy, { ...defaultPolicy, ...literalProfile }];
  const cells: JudgedCell[] = [];
  for (const mode of warmupModes) {
    for (const column of columns) {
      const [ours, literal] = runCell({ mode, column, mailboxes, seed }, policies);
      if (ours && literal) cells.push({ mode, column, ours, literal });
      notified(cells.length, warmupModes.length * columns.length);
    }
  }
  return cells;
}

/** Every number of the study for a cell, held against it. */
export function figuresOf(cell: JudgedCell): readonly Figure[] {
  const { mode, column, ours, literal } = cell;
  const index = columns.indexOf(column);
  const { rates, incidents } = acceptance[mode];
  const figure = (name: string, measure: Measure, values: { ours: number; peer: number | null; target: number }) => ({
    bench,
    figure: `${mode}/${column.name}/${name}`,
    ours: rounded(values.ours),
    peer: values.peer === null ? null : rounded(values.peer),
    ratio: ratioOf(values.ours, values.peer),
    target: values.target,
    holds: isWithin(measure, values.ours, values.target),
  });
  if (ours.kind === 'steady' && literal.kind === 'steady') {
    const target = rates[index] ?? Number.NaN;
    const [mine, peer] = [ours.interventionsPer90Days, literal.interventionsPer90Days];
    return [figure('interventions_per_90_days', 'rate', { ours: mine, peer, target })];
  }
  const target = incidents[index - rates.length];
  if (ours.kind !== 'incident' || literal.kind !== 'incident' || !target) return [];
  const figures = [
    figure('median_days', 'days', { ours: ours.medianDays, peer: literal.medianDays, target: target.days }),
    figure('mean_bounces', 'bounces', { ours: ours.meanBounces, peer: literal.meanBounces, target: target.bounces }),
    figure('missed_share', 'rate', { ours: ours.missedShare, peer: literal.missedShare, target: target.missed }),
  ];
  if (target.pauseFirst === undefined) return figures;
  const [mine, peer] = [ours.pauseFirstShare, literal.pauseFirstShare];
  return [...figures, figure('pause_first_share', 'rate', { ours: mine, peer, target: target.pauseFirst })];
}

/** The benchmark: tables for people on stderr, and the figures. Takes about three minutes. */
export async function guardBenchmark(): Promise<readonly Figure[]> {
  const cells = runCells(mailboxesPerCell, (done, of) => {
    if (process.stderr.isTTY) process.stderr.write(`\rguard: ${done} of ${of} cells`);
  });
  const beyond = beyondFigures(wholeScale, (mode) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kguard: beyond one mailbox, ${mode}`);
  });
  const toggled = toggleFigures(toggledMailboxes, seed);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  const figures = cells.map(figuresOf);
  process.stderr.write(`${tableText(cells.map((cell, index) => ({ ...cell, figures: figures[index] ?? [] })))}\n\n`);
  process.stderr.write(`${beyondText(beyond)}\n\n${togglesText(toggled)}\n`);
  return [...figures.flat(), ...beyond, ...toggled];
}
