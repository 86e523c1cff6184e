// Tables for the terminal: words to the left, numbers to the right, no wider than the screen where columns may be cut. Pure.
import { visibleText } from '../../core/wording/phrases.ts';
import { wrapped } from './wrapped.ts';

export interface Column {
  readonly title: string;
  /** Aligned to the right. */
  readonly numbers?: boolean;
  /** On a screen that is too narrow it is cut, to no fewer letters than these; without it never. */
  readonly least?: number;
  /** Left out where the line does not fit even when every other column is cut. */
  readonly optional?: boolean;
}

const gap = '  ';

/**
 * The title's line, then one a row. `width`: the columns of the screen; infinite where nothing may be cut. What fits no
 * screen of that width is a record a row instead, with a line a cell.
 */
export function tableText(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const lines = tableCells(columns, rows, width).map(lineOf);
  const fits = lines.every((line) => line.length <= width);
  return fits ? lines.map((line) => `${line}\n`).join('') : recordsText(columns, rows, width);
}

function recordsText(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string {
  const room = Math.max(...columns.map(({ title }) => title.length)) + gap.length;
  const linesOf = (text: string, title: string) =>
    wrapped(visibleText(text), width - room).map((line, index) => `${(index === 0 ? title : '').padEnd(room)}${line}`);
  const records = rows.map((row) => columns.flatMap(({ title }, index) => linesOf(row[index] ?? '', title)));
  return records.map((lines) => `${lines.map((line) => line.trimEnd()).join('\n')}\n`).join('\n');
}

/** The cells of a line as they stand side by side. */
export function lineOf(cells: readonly string[]): string {
  return cells.join(gap).trimEnd();
}

/** The same as cells, each as wide as its column, for who colours them. */
export function tableCells(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(visibleText))];
  const widths = columns.map((_, index) => lines.reduce((most, line) => Math.max(most, line[index]?.length ?? 0), 0));
  const over = narrow(widths, columns, width);
  const spared = over > 0 ? columns.findIndex(({ optional }) => optional) : -1;
  if (spared >= 0)
    return tableCells(
      columns.toSpliced(spared, 1),
      rows.map((row) => row.toSpliced(spared, 1)),
      width,
    );
  return lines.map((line) => line.map((text, index) => padded(text, widths[index] ?? 0, columns[index])));
}

/** Takes from the widest column that may be cut, again and again, until the line fits or nothing may be cut further. Answers how much too wide it still is. */
function narrow(widths: number[], columns: readonly Column[], width: number): number {
  let over = widths.reduce((sum, one) => sum + one + gap.length, -gap.length) - width;
  while (over > 0) {
    const spare = columns.map(({ least }, index) => (least === undefined ? 0 : (widths[index] ?? 0) - least));
    if (Math.max(...spare) <= 0) return over;
    const cuttable = widths.map((one, index) => ((spare[index] ?? 0) > 0 ? one : 0));
    const [widest = 0, next = 0] = [...cuttable].sort((a, b) => b - a);
    const index = cuttable.indexOf(widest);
    const cut = Math.min(over, Math.max(1, widest - next), spare[index] ?? 0);
    widths[index] = widest - cut;
    over -= cut;
  }
  return 0;
}

function padded(text: string, width: number, column: Column | undefined): string {
  const short = shortened(text, width);
  return column?.numbers ? short.padStart(width) : short.padEnd(width);
}

/** At most `width` letters: what is cut ends with an ellipsis. */
export function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
