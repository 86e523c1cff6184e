// One run from its start to its end: the SELECT's rows, and for a recipe with `do:` what was done, or would be, with each.
import type { Cell, Run } from '../model/recipe.ts';
import type { RowChunk } from '../store/runs.ts';
import type { BookParts } from './book.ts';
import type { Definition, Doing } from './definition.ts';
import { doForRow } from './doing.ts';
import { runSelect, type SelectEnd } from './select.ts';
import { doColumns, nowParameter } from './select-check.ts';

/** What a run may take and keep. */
export interface Limits {
  /** Of the SELECT, in real time. */
  readonly selectMs: number;
  readonly rows: number;
  readonly bytes: number;
  /** How many mailboxes one run may change. */
  readonly operationRows: number;
}

export const usualLimits: Limits = { selectMs: 60_000, rows: 20_000, bytes: 16 * 1024 * 1024, operationRows: 1_000 };

export interface Course {
  readonly run: Run;
  readonly definition: Definition;
  /** The mailboxes that may be changed; null: all that the SELECT names. */
  readonly agreed: ReadonlySet<string> | null;
  readonly signal: AbortSignal;
  /** The run as it is from now on. */
  readonly onChange: (run: Run) => void;
}

/** There is no room for the rows of a run, and no run that has ended to make it. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';

  constructor() {
    super('its rows are too many: they fill all the room that runs have, and no run that has ended is left to delete');
  }
}

/** Carries a run out. Rejects only when it can't be recorded; with NoRoomError when its rows can't. */
export async function carryOut(course: Course, parts: BookParts): Promise<void> {
  const { definition, signal } = course;
  const { world, runs } = parts;
  let { run } = course;
  const change = async (changes: Partial<Run>, chunks: readonly RowChunk[] = []) => {
    const changed = { ...run, ...changes };
    if ((await runs.write(changed, chunks)) === 'no_room') throw new NoRoomError();
    run = changed;
    course.onChange(run);
  };
  await change({});
  const { doing } = definition;
  const rows: Cell[][] = [];
  let columns: readonly string[] = [];
  const end = await world.clock.busy(() =>
    select(course, parts, {
      onColumns: (names) => {
        columns = names;
      },
      onRows: async (chunk) => {
        if (doing) rows.push(...JSON.parse(chunk.rows));
        else await change({ columns, rowCount: run.rowCount + chunk.count }, [chunk]);
      },
    }),
  );
  const failed = end.error ?? (doing && end.truncated ? tooMany(parts.limits) : null);
  if (doing && failed === null && !signal.aborted) {
    await change({ columns: [...columns, ...doColumns] });
    await doForAll({ doing, columns, rows }, course, parts, (chunk) =>
      change({ rowCount: run.rowCount + chunk.count }, [chunk]),
    );
  }
  const status = signal.aborted ? 'cancelled' : failed === null ? 'succeeded' : 'failed';
  const error = status === 'failed' ? failed : null;
  await change({
    status,
    error,
    columns: run.columns.length > 0 ? run.columns : columns,
    truncated: end.truncated,
    endedAt: world.clock.now(),
  });
  world.log.info(
    { run: run.id, recipe: run.recipe, by: run.by, status, rows: run.rowCount, apply: run.apply },
    'a run ended',
  );
}

function tooMany({ operationRows }: Limits): string {
  return `it names more than ${operationRows} mailboxes, so nothing was done: narrow it down`;
}

function select(
  { run, definition, signal }: Course,
  { storePath, facts, limits }: BookParts,
  taking: Pick<Parameters<typeof runSelect>[0], 'onColumns' | 'onRows'>,
): Promise<SelectEnd> {
  const values = Object.entries(run.parameters).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? Number(value) : value,
  ]);
  const known = facts();
  return runSelect({
    ...taking,
    signal,
    path: storePath,
    select: definition.select,
    parameters: { ...Object.fromEntries(values), [nowParameter]: new Date(known.now).toISOString() },
    facts: known,
    maxRows: definition.doing ? limits.operationRows : limits.rows,
    maxBytes: limits.bytes,
    timeLimitMs: limits.selectMs,
  });
}

/** Row by row: what was done is kept before the next is begun. Plans are kept in larger steps. */
async function doForAll(
  { doing, columns, rows }: { doing: Doing; columns: readonly string[]; rows: readonly Cell[][] },
  { run, agreed, signal }: Course,
  parts: BookParts,
  keep: (chunk: RowChunk) => Promise<void>,
): Promise<void> {
  const handling = parts.handling();
  if (!handling) throw new Error('a run with do: was started where nothing can be done');
  const asked = { apply: run.apply, by: run.by, recipe: run.recipe, agreed };
  const rowsAStep = run.apply ? 1 : 100;
  for (let firstRow = 0; firstRow < rows.length; firstRow += rowsAStep) {
    const done: Cell[][] = [];
    for (const cells of rows.slice(firstRow, firstRow + rowsAStep)) {
      if (signal.aborted) break;
      const row = Object.fromEntries(cells.map((cell, index) => [columns[index] ?? '', cell]));
      const { operation, outcome, message } = await doForRow(doing, row, handling, asked);
      done.push([...cells, operation, outcome, message]);
    }
    if (done.length > 0) await keep({ firstRow, count: done.length, rows: JSON.stringify(done) });
    if (signal.aborted) return;
  }
}
