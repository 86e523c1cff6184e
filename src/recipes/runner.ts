// The recipe runner: queues the requested runs, executes a few at a time, and stores rows as they come.
import { errorText, notCalled } from '../core/nearest.ts';
import type {
  Cell,
  ParameterValues,
  Recipe,
  RecipeList,
  RecipeRefusal,
  RowPage,
  Run,
  RunPlace,
  RunRequest,
} from '../core/recipe.ts';
import { hasEnded } from '../core/recipe.ts';
import type { EpochMs } from '../core/time.ts';
import type { Catalogue } from './catalogue.ts';
import { checkParameters, type Definition } from './definition.ts';
import { type ExecutingRun, type ExecutionParts, executeRun, mailboxInRow, NoRoomError } from './execution.ts';

export interface RunnerParts extends ExecutionParts {
  readonly catalogue: () => Promise<Catalogue>;
}

const runsAtOnce = 2;
const maxWaiting = 100;
const maxWaitingOfOne = maxWaiting / 4;
const chunksARead = 8;
const randomLetters = 12;
const charsAPage = 256 * 1024;

interface ActiveRun extends ExecutingRun {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly settle: () => void;
}

function refuse(refused: RecipeRefusal['refused'], ...said: string[]): RecipeRefusal {
  return { refused, said };
}

export class RecipeRunner {
  readonly #parts: RunnerParts;
  /** Runs that are being recorded. They count as waiting, so that requests at one moment share the room. */
  readonly #beginning = new Set<Run>();
  readonly #active = new Map<string, ActiveRun>();
  #running = 0;
  /** Number of ids given out: part of each id, as two runs may have the same time. */
  #idsGiven = 0;
  #stopping = false;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Marks the runs that an earlier process left unfinished as failed. Called before anything else. */
  async endLeftBehind(): Promise<void> {
    const { runs, world } = this.#parts;
    for (const run of await runs.unended()) {
      const error = 'Warmwarden ended before the run did. What the run had changed stays changed.';
      await runs.write({ ...run, status: 'failed', error, endedAt: world.clock.now() });
    }
  }

  async close(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#active.values()].map((active) => this.#cancel(active)));
  }

  /** Reads the files each time: a changed recipe is there at once. */
  async list(): Promise<RecipeList> {
    const { definitions, broken } = await this.#parts.catalogue();
    const recipes = [...definitions.values()].map(({ recipe }) => recipe);
    return { recipes: recipes.sort((a, b) => (a.id < b.id ? -1 : 1)), broken };
  }

  async start(request: RunRequest): Promise<Run | RecipeRefusal> {
    const definition = await this.#definition(request.recipe);
    if ('refused' in definition) return definition;
    const forbidden = this.#forbidden(request, definition.recipe);
    if (forbidden) return forbidden;
    const checked = checkParameters(definition.recipe.parameters, request.parameters);
    if ('problems' in checked) return refuse('bad_parameters', ...checked.problems);
    const approved = await this.#approved(request, checked.values);
    if (approved && 'refused' in approved) return approved;
    const full = this.#full(request);
    if (full) return full;
    const { runs } = this.#parts;
    const run = this.#newRun(request, checked.values);
    this.#beginning.add(run);
    await runs.write(run).finally(() => this.#beginning.delete(run));
    const { promise: ended, resolve: settle } = Promise.withResolvers<void>();
    const stop = new AbortController();
    const active = { run, definition, approved, signal: stop.signal, stop, ended, settle };
    this.#active.set(run.id, active);
    if (this.#stopping) await this.#cancel(active);
    else this.#next();
    return active.run;
  }

  async recordMissed(request: Pick<RunRequest, 'recipe' | 'apply' | 'by'>, error: string): Promise<void> {
    const run = this.#newRun(request, {});
    await this.#parts.runs.write({ ...run, status: 'failed', error, endedAt: run.createdAt });
  }

  async run(id: string): Promise<Run | RecipeRefusal> {
    const active = this.#active.get(id);
    const found = active ? active.run : await this.#parts.runs.read(id);
    return (
      found ??
      refuse('unknown_run', `There is no run ${id}: it never was, or it was deleted because of its age or its size.`)
    );
  }

  /** Reads at most `limit` rows, and fewer if they are large: follow `nextOffset`. */
  async rows(id: string, { offset, limit }: { offset: number; limit: number }): Promise<RowPage | RecipeRefusal> {
    const run = await this.run(id);
    if ('refused' in run) return run;
    const rows: RowPage['rows'][number][] = [];
    let chars = 0;
    const chunks = await this.#parts.runs.chunks(id, offset, chunksARead);
    for (const chunk of chunks) {
      if (chars > charsAPage || rows.length >= limit) break;
      chars += chunk.rows.length;
      const values: Cell[][] = JSON.parse(chunk.rows);
      const from = Math.max(0, offset - chunk.firstRow);
      for (const cells of values.slice(from, from + limit - rows.length)) {
        rows.push(Object.fromEntries(cells.map((cell, index) => [run.columns[index] ?? '', cell])));
      }
    }
    const next = offset + rows.length;
    return { run, rows, offset, nextOffset: rows.length > 0 && next < run.rowCount ? next : null };
  }

  async runsOf(recipe: string, limit: number, before: RunPlace | null = null): Promise<readonly Run[] | RecipeRefusal> {
    const kept = await this.#parts.runs.newest(recipe, limit, { before });
    if (kept.length === 0) {
      const definition = await this.#definition(recipe);
      if ('refused' in definition) return definition;
    }
    return kept.map((run) => this.#active.get(run.id)?.run ?? run);
  }

  async cancel(id: string): Promise<Run | RecipeRefusal> {
    const active = this.#active.get(id);
    if (!active) return this.run(id);
    await this.#cancel(active);
    return active.run;
  }

  async #definition(id: string): Promise<Definition | RecipeRefusal> {
    const { definitions, broken } = await this.#parts.catalogue();
    const found = definitions.get(id);
    if (found) return found;
    // The holder of a key reads this, so it names no path of this machine.
    const hint = broken.length > 0 ? ['Some files are not valid recipes.'] : [];
    const next = '`recipes list` shows the recipes.';
    return refuse('unknown_recipe', notCalled('recipe', id, [...definitions.keys()], next), ...hint);
  }

  #forbidden({ apply, role }: RunRequest, { id, operation }: Recipe): RecipeRefusal | null {
    if (operation === null)
      return apply ? refuse('bad_parameters', `${id} only reads: it has no actions to apply.`) : null;
    if (apply && role !== 'operator') {
      return refuse('not_allowed', `Applying ${id} needs the role operator; this key has the role viewer.`);
    }
    const starting = `${id} changes mailboxes, which Warmwarden cannot do yet: it is starting. Try again in a moment.`;
    return this.#parts.commandAccess() ? null : refuse('not_allowed', starting);
  }

  #full({ by, scheduled }: RunRequest): RecipeRefusal | null {
    if (this.#stopping) return refuse('busy', 'Warmwarden is stopping.');
    const active = [...this.#active.values()].map(({ run }) => run);
    const waiting = [...this.#beginning, ...active].filter(({ status }) => status === 'queued');
    if (waiting.length >= maxWaiting) {
      return refuse('busy', `${waiting.length} runs are already waiting: try again later.`);
    }
    const own = waiting.filter((run) => run.by === by).length;
    const shareUsed = `${own} runs of ${by} are already waiting, which is its share: try again when some have ended.`;
    return scheduled || own < maxWaitingOfOne ? null : refuse('share_used', shareUsed);
  }

  /** Mailboxes that the dry run of the request planned to change; null if the request names no dry run. */
  async #approved(
    { recipe, apply, plan: dryRunId = null }: RunRequest,
    parameters: ParameterValues,
  ): Promise<ReadonlySet<string> | RecipeRefusal | null> {
    if (dryRunId === null || !apply) return null;
    const planned = await this.run(dryRunId);
    if ('refused' in planned) return planned;
    if (!isPlanOf(planned, recipe, parameters)) {
      return refuse('bad_parameters', `${dryRunId} is not a finished dry run of ${recipe} with these parameters.`);
    }
    const approved = new Set<string>();
    for (let offset: number | null = 0; offset !== null; ) {
      const page: RowPage | RecipeRefusal = await this.rows(planned.id, { offset, limit: planned.rowCount });
      if ('refused' in page) return page;
      for (const row of page.rows) if (row['outcome'] === 'planned') approved.add(mailboxInRow(row));
      offset = page.nextOffset;
    }
    return approved;
  }

  #newRun({ recipe, apply, by }: Pick<RunRequest, 'recipe' | 'apply' | 'by'>, parameters: ParameterValues): Run {
    const createdAt = this.#parts.world.clock.now();
    return {
      id: this.#newId(createdAt),
      recipe,
      status: 'queued',
      parameters,
      apply,
      by,
      createdAt,
      startedAt: null,
      endedAt: null,
      columns: [],
      rowCount: 0,
      truncated: false,
      error: null,
    };
  }

  #newId(at: EpochMs): string {
    const { random } = this.#parts.world;
    const letters = Array.from({ length: randomLetters }, () => Math.floor(random() * 36).toString(36));
    this.#idsGiven += 1;
    return `${at.toString(36).padStart(9, '0')}${this.#idsGiven.toString(36).padStart(4, '0')}${letters.join('')}`;
  }

  #next(): void {
    for (const active of this.#active.values()) {
      if (this.#running >= runsAtOnce) return;
      if (active.run.status !== 'queued') continue;
      this.#running += 1;
      active.run = { ...active.run, status: 'running', startedAt: this.#parts.world.clock.now() };
      void this.#execute(active);
    }
  }

  /** Ends a waiting run at once, and any other after its present step. Resolves when the run has ended. */
  async #cancel(active: ActiveRun): Promise<void> {
    active.stop.abort();
    if (active.run.status !== 'queued') return active.ended;
    const { world, runs } = this.#parts;
    // The status changes before the write, so that #next() leaves the run alone meanwhile.
    active.run = { ...active.run, status: 'cancelled', endedAt: world.clock.now() };
    await runs.write(active.run).catch((error: unknown) => this.#unrecorded(active, error));
    this.#forget(active);
  }

  async #execute(active: ActiveRun): Promise<void> {
    const { world, runs } = this.#parts;
    try {
      await executeRun(active, this.#parts);
    } catch (error) {
      const isFull = error instanceof NoRoomError;
      if (!isFull) this.#unrecorded(active, error);
      // An error of the store names its path, and the holder of a key reads this.
      const said = isFull ? errorText(error) : 'its rows could not be kept: the log of Warmwarden says why';
      if (!hasEnded(active.run))
        active.run = { ...active.run, status: 'failed', error: said, endedAt: world.clock.now() };
      await runs.write(active.run).catch((again: unknown) => this.#unrecorded(active, again));
    }
    this.#running -= 1;
    this.#forget(active);
    this.#next();
  }

  #unrecorded({ run }: ActiveRun, error: unknown): void {
    this.#parts.world.log.error({ err: error, run: run.id, recipe: run.recipe }, 'a run could not be recorded');
  }

  #forget(active: ActiveRun): void {
    this.#active.delete(active.run.id);
    active.settle();
  }
}

function isPlanOf(planned: Run, recipe: string, parameters: ParameterValues): boolean {
  const names = new Set([...Object.keys(planned.parameters), ...Object.keys(parameters)]);
  const isSame = [...names].every((name) => planned.parameters[name] === parameters[name]);
  return planned.recipe === recipe && !planned.apply && planned.status === 'succeeded' && isSame;
}
