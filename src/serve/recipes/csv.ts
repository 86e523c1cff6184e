// Rows as CSV (RFC 4180) that a spreadsheet shows and never computes.
import type { Cell, Row } from '../../model/recipe.ts';
import { visibleText } from '../../wording/visible-text.ts';

/** How a text begins that a spreadsheet takes for a formula, full-width forms too. Numbers of ours come as numbers and stay. */
const formulaStart = /^[\s;]*[=+\-@|%＝＋－＠﹢﹣﹦﹫−]|^[\t\r\n]/;
/** Where the decimal sign is a comma, a semicolon begins the next cell. */
const formulaBehindSemicolon = /;(?=\s*[=+\-@＝＋－＠﹢﹣﹦﹫−])/g;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

export function csvRows(columns: readonly string[], rows: readonly Row[]): string {
  return rows.map((row) => csvLine(columns.map((name) => row[name] ?? null))).join('');
}

/** A text that begins as a formula gets an apostrophe, which spreadsheets take as "this is text". */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const begun = formulaStart.test(cell) ? `'${cell}` : cell;
  const inert = visibleText(begun.replace(formulaBehindSemicolon, ";'"));
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
