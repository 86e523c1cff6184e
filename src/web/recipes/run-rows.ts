// Rows of a run as text, in batches: CSV (RFC 4180) in which a spreadsheet computes nothing, or JSON of the recipe API.
import type { Cell, RecipeService, Row, RowPage } from '../../core/recipe.ts';
import { visibleText } from '../../core/wording/phrases.ts';
import { runJson } from '../../recipes/shapes.ts';

/** Beginning of a text that a spreadsheet takes for a formula, with full-width forms. */
const formulaStart = /^[\s;]*[=+\-@|%＝＋－＠﹢﹣﹦﹫−]|^[\t\r\n]/;
/** Formula behind a semicolon, which begins a cell in countries with a decimal comma. */
const formulaBehindSemicolon = /;(?=\s*[=+\-@＝＋－＠﹢﹣﹦﹫−])/g;

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvRows(columns: readonly string[], rows: readonly Row[]): string {
  return rows.map((row) => csvLine(columns.map((name) => row[name] ?? null))).join('');
}

/** Puts an apostrophe before a formula: spreadsheets then show it as text. */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const begun = formulaStart.test(cell) ? `'${cell}` : cell;
  const inert = visibleText(begun.replace(formulaBehindSemicolon, ";'"));
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

export const rowsARead = 500;

/** Reads page by page, so that the memory never holds all rows of a run. `limit` is null for all rows. */
async function* pagesFrom(service: RecipeService, first: RowPage, limit: number | null): AsyncGenerator<RowPage> {
  let page = first;
  let left = limit ?? Number.POSITIVE_INFINITY;
  for (;;) {
    yield page;
    left -= page.rows.length;
    if (page.nextOffset === null || left <= 0) return;
    const next = await service.rows(first.run.id, { offset: page.nextOffset, limit: Math.min(left, rowsARead) });
    if ('refused' in next) return;
    page = next;
  }
}

export async function* csvOf(service: RecipeService, first: RowPage, limit: number | null): AsyncGenerator<string> {
  yield csvLine(first.run.columns);
  for await (const { run, rows } of pagesFrom(service, first, limit)) yield csvRows(run.columns, rows);
}

/** Writes one object: the run, its `rows`, and in `next` the path of the rows after them. */
export async function* jsonOf(service: RecipeService, first: RowPage, limit: number | null): AsyncGenerator<string> {
  yield `${JSON.stringify(runJson(first.run)).slice(0, -1)},"rows":[`;
  let next: number | null = null;
  let written = 0;
  for await (const page of pagesFrom(service, first, limit)) {
    const rows = page.rows.map((row: Row) => JSON.stringify(row)).join(',');
    if (rows !== '') yield written > 0 ? `,${rows}` : rows;
    written += page.rows.length;
    next = page.nextOffset;
  }
  const path =
    next === null ? null : `/v1/runs/${first.run.id}?offset=${next}${limit === null ? '' : `&limit=${limit}`}`;
  yield `],"next":${JSON.stringify(path)}}`;
}
