// All rows of a run as text, piece by piece: CSV, or JSON as the recipe API has it.
import type { RecipeService, Row, RowPage } from '../../model/recipe.ts';
import { csvLine, csvRows } from './csv.ts';
import { runJson } from './recipe-json.ts';

/** Of one page that is read. */
export const rowsARead = 500;

/** Page by page, so that neither the memory nor the event loop ever holds all rows of a run. `limit`: null for all. */
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

/** One object: the run, its `rows`, and in `next` the path of those that come after them. */
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
