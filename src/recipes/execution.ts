// One run from its start to its end: the SELECT's rows, and for a recipe with `do:` what was done, or would be, with each.
import type { Cell, NamedThing, Run } from '../core/recipe.ts';
import type { StorePlace } from '../core/store-failure.ts';
import type { RowChunk, RunLedger } from '../store/runs.ts';
import type { World } from '../world/world.ts';
import type { Definition, Step } from './definition.ts';
import type { Facts } from './sandbox.ts';
import { runSelect, type SelectEnd, type SelectRequest } from './select.ts';
import { nowParameter, stepColumns } from './select-check.ts';
import { type CommandAccess, performStep } from './step.ts';

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

/** What every run shares. */
export interface ExecutionParts {
  readonly world: World;
  readonly runs: RunLedger;
  /** The store, for the children that read it. */
  readonly place: StorePlace;
  readonly facts: () => Facts;
  /** null: nothing can be changed here (yet), only read. */
  readonly commandAccess: () => CommandAccess | null;
  readonly limits: Limits;
}

/** One run, and how it is watched and stopped. */
export interface RunContext {
  readonly run: Run;
  readonly definition: Definition;
  /** The mailboxes that may be changed; null: all that the SELECT names. */
  readonly approved: ReadonlySet<string> | null;
  readonly signal: AbortSignal;
  /** The run as it is from now on. */
  readonly onChange: (run: Run) => void;
}

/** There is no room for the rows of a run, and no run that has ended to make it. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';

  constructor() {
    super('it has too many rows: they fill all the space for runs, and there is no finished run left to delete');
  }
}

/** Executes a run. Rejects only when it can't be recorded; with NoRoomError when its rows can't. */
export async function executeRun(context: RunContext, parts: ExecutionParts): Promise<void> {
  const { definition, signal } = context;
  const { world, runs } = parts;
  let { run } = context;
  const change = async (changes: Partial<Run>, chunks: readonly RowChunk[] = []) => {
    const changed = { ...run, ...changes };
    if ((await runs.write(changed, chunks)) === 'no_room') throw new NoRoomError();
    run = changed;
    context.onChange(run);
  };
  await change({});
  const { step } = definition;
  const rows: Cell[][] = [];
  let columns: readonly string[] = [];
  const end = await world.clock.busy(() =>
    select(context, parts, {
      onColumns: (names) => {
        columns = names;
      },
      onRows: async (chunk) => {
        if (step) rows.push(...JSON.parse(chunk.rows));
        else await change({ columns, rowCount: run.rowCount + chunk.count }, [chunk]);
      },
    }),
  );
  const found = rows.length + run.rowCount > 0;
  const failed =
    end.error ??
    (step && end.truncated ? tooMany(parts.limits) : null) ??
    (found ? null : await world.clock.busy(() => unknownName(context, parts)));
  if (step && failed === null && !signal.aborted) {
    await change({ columns: [...columns, ...stepColumns] });
    await performSteps({ step, columns, rows }, context, parts, (chunk) =>
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
  return `it names more than ${operationRows} mailboxes, so Warmwarden did nothing: narrow it down`;
}

/** Looks for what has the name :name, as people name it. */
const lookups: Readonly<Record<NamedThing, string>> = {
  mailbox: `SELECT 1 FROM mailboxes
    WHERE lower(:name) IN (lower(email), lower(account || '/' || email)) OR mailbox_id = :name LIMIT 1`,
  account: 'SELECT 1 FROM accounts WHERE account = :name',
  domain: 'SELECT 1 FROM mailboxes WHERE domain = lower(:name) LIMIT 1',
};

/** Says which parameter of a run without rows names something that is not there: no rows would read as "all is well". */
async function unknownName({ run, definition, signal }: RunContext, parts: ExecutionParts): Promise<string | null> {
  for (const { name: parameter, names } of definition.recipe.parameters) {
    const name = run.parameters[parameter];
    if (names === null || typeof name !== 'string') continue;
    let found = false;
    const onRows = async () => {
      found = true;
    };
    const taking = { signal, onColumns: () => {}, onRows };
    const { error } = await runSelect({ ...taking, ...jobOf(lookups[names], { name }, parts), maxRows: 1 });
    if (error === null && !found) return `Warmwarden guards no ${names} called "${name}"`;
  }
  return null;
}

function select(
  { run, definition, signal }: RunContext,
  parts: ExecutionParts,
  taking: Pick<SelectRequest, 'onColumns' | 'onRows'>,
): Promise<SelectEnd> {
  const values = Object.entries(run.parameters).map(([name, value]) => [
    name,
    typeof value === 'boolean' ? Number(value) : value,
  ]);
  const maxRows = definition.step ? parts.limits.operationRows : parts.limits.rows;
  return runSelect({ ...taking, signal, ...jobOf(definition.select, Object.fromEntries(values), parts), maxRows });
}

function jobOf(select: string, parameters: SelectRequest['parameters'], { place, facts, limits }: ExecutionParts) {
  const known = facts();
  return {
    place,
    select,
    parameters: { ...parameters, [nowParameter]: new Date(known.now).toISOString() },
    facts: known,
    maxBytes: limits.bytes,
    timeLimitMs: limits.selectMs,
  };
}

/** Row by row: what was done is kept before the next is begun. Plans are kept in larger steps. */
async function performSteps(
  { step, columns, rows }: { step: Step; columns: readonly string[]; rows: readonly Cell[][] },
  { run, approved, signal }: RunContext,
  parts: ExecutionParts,
  keep: (chunk: RowChunk) => Promise<void>,
): Promise<void> {
  const commandAccess = parts.commandAccess();
  if (!commandAccess) throw new Error('a run with do: was started where nothing can be done');
  const { command } = parts.world;
  const context = { apply: run.apply, by: run.by, recipe: run.recipe, approved, command };
  const rowsAStep = run.apply ? 1 : 100;
  for (let firstRow = 0; firstRow < rows.length; firstRow += rowsAStep) {
    const done: Cell[][] = [];
    for (const cells of rows.slice(firstRow, firstRow + rowsAStep)) {
      if (signal.aborted) break;
      const row = Object.fromEntries(cells.map((cell, index) => [columns[index] ?? '', cell]));
      const { operation, outcome, message } = await performStep(step, row, commandAccess, context);
      done.push([...cells, operation, outcome, message]);
    }
    if (done.length > 0) await keep({ firstRow, count: done.length, rows: JSON.stringify(done) });
    if (signal.aborted) return;
  }
}
