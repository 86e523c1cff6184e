// Run from its start to its end: the rows of the SELECT, and for a recipe with `do:` the outcome of each row.
import { type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { errorText } from '../core/nearest.ts';
import { type CommandOutcome, type Operate, succeeded } from '../core/operator-command.ts';
import type { Cell, NamedThing, ParameterType, Row, Run } from '../core/recipe.ts';
import type { StorePlace } from '../core/store-failure.ts';
import { secondMs } from '../core/time.ts';
import { withoutFolders } from '../core/wording/phrases.ts';
import type { RowChunk, RunStore } from '../store/runs.ts';
import type { World } from '../world/world.ts';
import type { Definition, RecipeStep } from './definition.ts';
import type { ProgramFacts } from './sandbox.ts';
import { nowParameter, runSelect, type SelectEnd, type SelectRequest, stepColumns } from './select.ts';

export interface RunLimits {
  readonly selectMs: number;
  readonly rows: number;
  readonly bytes: number;
  /** Largest number of mailboxes that one run may change. */
  readonly operationRows: number;
}

export const usualLimits: RunLimits = { selectMs: 60_000, rows: 20_000, bytes: 16 * 1024 * 1024, operationRows: 1_000 };

export interface ExecutionParts {
  readonly world: World;
  readonly runs: RunStore;
  readonly place: StorePlace;
  readonly facts: () => ProgramFacts;
  /** Returns null while mailboxes can only be read. */
  readonly commandAccess: () => CommandAccess | null;
  readonly limits: RunLimits;
}

export interface ExecutingRun {
  run: Run;
  readonly definition: Definition;
  /** Mailboxes that may be changed; null: all that the SELECT names. */
  readonly approved: ReadonlySet<string> | null;
  readonly signal: AbortSignal;
}

/** Thrown when the rows of a run fill the space for runs, and no finished run is left to delete. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';

  constructor() {
    super('it has too many rows: they fill all the space for runs, and there is no finished run left to delete');
  }
}

/** Executes a run. Rejects only when it can't be recorded; with NoRoomError when its rows can't. */
export async function executeRun(context: ExecutingRun, parts: ExecutionParts): Promise<void> {
  const { definition, signal } = context;
  const { world, runs } = parts;
  const change = async (changes: Partial<Run>, chunks: readonly RowChunk[] = []) => {
    const changed = { ...context.run, ...changes };
    if ((await runs.write(changed, chunks)) === 'no_room') throw new NoRoomError();
    context.run = changed;
  };
  await change({});
  const { step } = definition;
  const rows: Cell[][] = [];
  const maxRows = step ? parts.limits.operationRows : parts.limits.rows;
  const onRows = async (chunk: RowChunk, columns: readonly string[]) => {
    if (step) rows.push(...JSON.parse(chunk.rows));
    else await change({ columns, rowCount: context.run.rowCount + chunk.count }, [chunk]);
  };
  const end = await world.clock.busy(() =>
    ask({ select: definition.select, parameters: context.run.parameters, maxRows, onRows }, context, parts),
  );
  const tooMany = `it names more mailboxes than ${parts.limits.operationRows}, or its rows are too large, so Warmwarden did nothing: narrow it down`;
  const found = rows.length + context.run.rowCount > 0;
  const failed =
    end.error ??
    (step && end.truncated ? tooMany : null) ??
    (found ? null : await world.clock.busy(() => unknownName(context, parts)));
  if (step && failed === null && !signal.aborted) {
    await change({ columns: [...end.columns, ...stepColumns] });
    await performSteps({ step, columns: end.columns, rows }, context, parts, (chunk) =>
      change({ rowCount: context.run.rowCount + chunk.count }, [chunk]),
    );
  }
  const status = signal.aborted ? 'cancelled' : failed === null ? 'succeeded' : 'failed';
  const error = status === 'failed' ? failed : null;
  await change({
    status,
    error,
    columns: context.run.columns.length > 0 ? context.run.columns : end.columns,
    truncated: end.truncated,
    endedAt: world.clock.now(),
  });
  const { run } = context;
  world.log.info(
    { run: run.id, recipe: run.recipe, by: run.by, status, rows: run.rowCount, apply: run.apply },
    'a run ended',
  );
}

const lookups: Readonly<Record<NamedThing, string>> = {
  mailbox: 'SELECT 1 FROM mailboxes WHERE is_called(:name, account, mailbox_id, email) LIMIT 1',
  account: 'SELECT 1 FROM mailboxes WHERE account = :name LIMIT 1',
  domain: 'SELECT 1 FROM mailboxes WHERE domain = lower(:name) LIMIT 1',
};

/** Names a parameter that names nothing: no rows would read as "all is well". */
async function unknownName(context: ExecutingRun, parts: ExecutionParts): Promise<string | null> {
  const { run, definition } = context;
  for (const { name: parameter, names } of definition.recipe.parameters) {
    const name = run.parameters[parameter];
    if (names === null || typeof name !== 'string') continue;
    const found: RowChunk[] = [];
    const onRows = async (chunk: RowChunk) => void found.push(chunk);
    const lookup = { select: lookups[names], parameters: { name }, maxRows: 1, onRows };
    const { error } = await ask(lookup, context, parts);
    if (error === null && found.length === 0) return `Warmwarden guards no ${names} called "${name}"`;
  }
  return null;
}

/** Types whose values SQLite has as INTEGER. */
const wholeTypes: readonly ParameterType[] = ['integer', 'boolean'];

function ask(
  { parameters, ...asked }: Pick<SelectRequest, 'select' | 'maxRows' | 'onRows'> & Pick<Run, 'parameters'>,
  { signal, definition }: ExecutingRun,
  { place, facts: factsNow, limits }: ExecutionParts,
): Promise<SelectEnd> {
  const facts = factsNow();
  const known: Record<string, Cell> = { [nowParameter]: new Date(facts.now).toISOString() };
  for (const [name, value] of Object.entries(parameters))
    known[name] = typeof value === 'boolean' ? Number(value) : value;
  const within = { maxBytes: limits.bytes, timeLimitMs: limits.selectMs };
  const integers = definition.recipe.parameters.filter(({ type }) => wholeTypes.includes(type)).map(({ name }) => name);
  return runSelect({ ...asked, ...within, place, facts, signal, parameters: known, integers });
}

/** Stores an outcome before the next row begins. Plans are stored in larger steps. */
async function performSteps(
  { step, columns, rows }: { step: RecipeStep; columns: readonly string[]; rows: readonly Cell[][] },
  { run, approved, signal }: ExecutingRun,
  parts: ExecutionParts,
  keep: (chunk: RowChunk) => Promise<void>,
): Promise<void> {
  const commandAccess = parts.commandAccess();
  if (!commandAccess) throw new Error('a run with do: was started where nothing can be done');
  const context = { apply: run.apply, by: run.by, recipe: run.recipe, approved };
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

export interface CommandAccess {
  readonly operate: Operate;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
}

/** planned: a dry run. skipped: the operation does not fit this mailbox. */
type StepOutcome = 'planned' | 'done' | 'failed' | 'skipped';

type StepContext = Pick<Run, 'apply' | 'by' | 'recipe'> & Pick<ExecutingRun, 'approved'>;

/** Performs the step, and never rejects. The message names no path of this machine: a key may read it. */
export async function performStep(
  step: RecipeStep,
  row: Row,
  { operate, mailbox }: CommandAccess,
  context: StepContext,
): Promise<{ readonly operation: string; readonly outcome: StepOutcome; readonly message: string }> {
  const operation = operationText(step);
  const say = (outcome: StepOutcome, message: string) => ({ operation, outcome, message });
  const [account, id] = [String(row['account']), String(row['mailbox_id'])];
  const found = mailbox(account, id);
  if (context.approved && !context.approved.has(mailboxInRow(row))) return say('skipped', notAgreed);
  if (!found) return say('skipped', `${mailboxKey(account, id)} is not guarded.`);
  if (step.operation === 'resume' && found.memory?.claim?.kind !== 'pause') {
    return say('skipped', `${found.email}: Warmwarden did not pause it, so it is left alone.`);
  }
  try {
    const outcome = await perform(step, found, operate, context);
    const message = outcome.messages.join(' ');
    return say(succeeded(outcome) ? (context.apply ? 'done' : 'planned') : 'failed', message);
  } catch (error) {
    return say('failed', withoutFolders(errorText(error)));
  }
}

function operationText(step: RecipeStep): string {
  if (step.operation === 'mode') return `mode ${step.mode}`;
  if (step.operation === 'limit') return `limit ${step.limit}`;
  if (step.operation !== 'set') return step.operation;
  const { replyRate, sendWindow } = step;
  const rate = replyRate === undefined ? [] : [`reply_rate=${replyRate}`];
  return ['set', ...rate, ...(sendWindow === undefined ? [] : [`send_window=${sendWindow}`])].join(' ');
}

const notAgreed = 'It was not part of the dry run that was confirmed, so it is left alone.';

function perform(
  step: RecipeStep,
  { account, id, memory }: MailboxState,
  operate: Operate,
  { apply, by, recipe }: StepContext,
): Promise<CommandOutcome> {
  const asked = { by, reason: `${step.reason} (recipe ${recipe})`, dry_run: !apply };
  if (step.operation === 'silence') {
    const match = { account: [account], mailbox: [id] };
    return operate('silence-add', { ...asked, match, for_seconds: step.forMs / secondMs });
  }
  if (step.operation === 'set') {
    const settings = { reply_rate: step.replyRate, send_window: step.sendWindow };
    return operate('set', { ...asked, mailbox: mailboxKey(account, id), ...settings });
  }
  const { operation, reason: _, ...given } = step;
  // The run may have waited, and a person may have taken the mailbox over meanwhile.
  const undoes = operation === 'resume' ? memory?.claim?.actionId : undefined;
  const mailbox = mailboxKey(account, id);
  return operate(operation, { ...asked, mailbox, ...given, ...(undoes !== undefined && { undoes }) });
}

export function mailboxInRow(row: Row): string {
  return JSON.stringify([row['account'], row['mailbox_id']]);
}
