// The recipes and their runs over one store: takes requests, runs a few at a time, keeps rows as they come.
import type {
  Cell,
  ParameterValues,
  Recipe,
  RecipeList,
  RecipeRefusal,
  RecipeService,
  RowPage,
  Run,
  RunRequest,
} from '../model/recipe.ts';
import { hasEnded } from '../model/recipe.ts';
import type { EpochMs } from '../model/time.ts';
import type { World } from '../world.ts';
import { agreedIn, isPlanOf } from './agreed.ts';
import type { Definition } from './definition.ts';
import type { Handling } from './doing.ts';
import type { RunLedger } from './memory-runs.ts';
import { checkParameters } from './parameters.ts';
import { carryOut, type Limits, NoRoomError } from './run.ts';
import type { Shelf } from './shelf.ts';
import type { Facts } from './stage.ts';

export interface BookParts {
  readonly world: World;
  readonly shelf: Shelf;
  readonly runs: RunLedger;
  /** The store's file, for the children that read it. */
  readonly storePath: string;
  readonly facts: () => Facts;
  /** null: nothing can be done here (yet), only asked. */
  readonly handling: () => Handling | null;
  readonly limits: Limits;
}

const runsAtOnce = 2;
const maxWaiting = 100;
const chunksARead = 8;
const randomLetters = 12;
const lettersAPage = 256 * 1024;

interface Under {
  run: Run;
  /** Whether the ledger has it: before that it is nobody's, and is not carried out. */
  recorded: boolean;
  readonly definition: Definition;
  readonly agreed: ReadonlySet<string> | null;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly settle: () => void;
}

function refuse(refused: RecipeRefusal['refused'], ...said: string[]): RecipeRefusal {
  return { refused, said };
}

export class RecipeBook implements RecipeService {
  readonly #parts: BookParts;
  /** Runs that have not ended, in the order in which they were asked for. */
  readonly #under = new Map<string, Under>();
  #running = 0;
  /** Of runs that were taken: tells two of one moment apart. */
  #taken = 0;
  #stopping = false;

  constructor(parts: BookParts) {
    this.#parts = parts;
  }

  /** Says of the runs that an earlier process left behind that they did not end. Before anything else. */
  async open(): Promise<void> {
    const { runs, world } = this.#parts;
    for (const run of await runs.unended()) {
      const error = 'Warmwarden ended before the run did; what it had done until then stays done.';
      await runs.write({ ...run, status: 'failed', error, endedAt: world.clock.now() });
    }
  }

  /** Cancels what is under way and waits for it. */
  async close(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#under.values()].map((under) => this.#cancel(under)));
  }

  async list(): Promise<RecipeList> {
    const { definitions, broken } = await this.#parts.shelf.recipes();
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
    const agreed = await this.#agreed(request, checked.values);
    if (agreed && 'refused' in agreed) return agreed;
    const waiting = this.#under.size - this.#running;
    if (waiting >= maxWaiting || this.#stopping) {
      return refuse(
        'busy',
        this.#stopping ? 'Warmwarden is stopping.' : `${waiting} runs wait already: try again later.`,
      );
    }
    const { world, runs } = this.#parts;
    const createdAt = world.clock.now();
    const run: Run = {
      id: this.#newId(createdAt),
      recipe: request.recipe,
      status: 'queued',
      parameters: checked.values,
      apply: request.apply,
      by: request.by,
      createdAt,
      startedAt: null,
      endedAt: null,
      columns: [],
      rowCount: 0,
      truncated: false,
      error: null,
    };
    const { promise: ended, resolve: settle } = Promise.withResolvers<void>();
    const under: Under = { run, recorded: false, definition, agreed, stop: new AbortController(), ended, settle };
    this.#under.set(run.id, under);
    try {
      await runs.write(run);
    } catch (error) {
      this.#forget(under);
      throw error;
    }
    under.recorded = true;
    if (under.stop.signal.aborted) await this.#cancel(under);
    else this.#next();
    return under.run;
  }

  async run(id: string): Promise<Run | RecipeRefusal> {
    const under = this.#under.get(id);
    const found = under ? under.run : await this.#parts.runs.read(id);
    if (found === 'pruned')
      return refuse(
        'pruned',
        `The run ${id} was deleted: it is older than retention.runs, or newer runs took its room.`,
      );
    return found ?? refuse('unknown_run', `There is no run ${id}.`);
  }

  async ended(id: string, withinMs: number, signal?: AbortSignal): Promise<Run | RecipeRefusal> {
    const under = this.#under.get(id);
    if (under) {
      const waiting = new AbortController();
      const stop = () => waiting.abort();
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
      await Promise.race([under.ended, this.#parts.world.clock.sleep(withinMs, waiting.signal)]);
      stop();
      signal?.removeEventListener('abort', stop);
    }
    return this.run(id);
  }

  async rows(id: string, { offset, limit }: { offset: number; limit: number }): Promise<RowPage | RecipeRefusal> {
    const run = await this.run(id);
    if ('refused' in run) return run;
    const rows: RowPage['rows'][number][] = [];
    let letters = 0;
    const chunks = await this.#parts.runs.chunks(id, offset, chunksARead);
    for (const chunk of chunks) {
      if (letters > lettersAPage || rows.length >= limit) break;
      letters += chunk.rows.length;
      const values: Cell[][] = JSON.parse(chunk.rows);
      const from = Math.max(0, offset - chunk.firstRow);
      for (const cells of values.slice(from, from + limit - rows.length)) {
        rows.push(Object.fromEntries(cells.map((cell, index) => [run.columns[index] ?? '', cell])));
      }
    }
    const next = offset + rows.length;
    return { run, rows, offset, nextOffset: rows.length > 0 && next < run.rowCount ? next : null };
  }

  async runsOf(recipe: string, limit: number): Promise<readonly Run[] | RecipeRefusal> {
    const kept = await this.#parts.runs.newest(recipe, limit);
    if (kept.length === 0) {
      const definition = await this.#definition(recipe);
      if ('refused' in definition) return definition;
    }
    return kept.map((run) => this.#under.get(run.id)?.run ?? run);
  }

  async cancel(id: string): Promise<Run | RecipeRefusal> {
    const under = this.#under.get(id);
    if (!under) return this.run(id);
    await this.#cancel(under);
    return under.run;
  }

  async #definition(id: string): Promise<Definition | RecipeRefusal> {
    const { definitions, broken } = await this.#parts.shelf.recipes();
    const found = definitions.get(id);
    if (found) return found;
    const hint =
      broken.length > 0 ? [`Some files are no recipes: \`${this.#parts.world.command} recipes list\` says why.`] : [];
    return refuse('unknown_recipe', `There is no recipe ${id}.`, ...hint);
  }

  #forbidden({ apply, role }: RunRequest, { id, operation }: Recipe): RecipeRefusal | null {
    if (operation === null)
      return apply ? refuse('bad_parameters', `${id} only asks: there is nothing to apply.`) : null;
    if (apply && role !== 'operator') {
      return refuse('not_allowed', `To apply ${id} takes the role operator; this is a viewer.`);
    }
    if (this.#parts.handling()) return null;
    return refuse(
      'not_allowed',
      `${id} changes mailboxes, which takes the running daemon; none answers on this store.`,
    );
  }

  /** null: nothing was agreed to beforehand. */
  async #agreed(
    { recipe, apply, plan = null }: RunRequest,
    parameters: ParameterValues,
  ): Promise<ReadonlySet<string> | RecipeRefusal | null> {
    if (plan === null || !apply) return null;
    const planned = await this.run(plan);
    if ('refused' in planned) return planned;
    if (isPlanOf(planned, recipe, parameters)) return agreedIn(planned, this.#parts.runs);
    return refuse('bad_parameters', `${plan} is not a finished dry run of ${recipe} with these parameters.`);
  }

  /** Sorts by time, and can't be guessed from another. */
  #newId(at: EpochMs): string {
    const { random } = this.#parts.world;
    const letters = Array.from({ length: randomLetters }, () => Math.floor(random() * 36).toString(36));
    this.#taken += 1;
    return `${at.toString(36).padStart(9, '0')}${this.#taken.toString(36).padStart(4, '0')}${letters.join('')}`;
  }

  #next(): void {
    for (const under of this.#under.values()) {
      if (this.#running >= runsAtOnce) return;
      if (!under.recorded || under.run.status !== 'queued') continue;
      this.#running += 1;
      under.run = { ...under.run, status: 'running', startedAt: this.#parts.world.clock.now() };
      void this.#carryOut(under);
    }
  }

  /** Ends a run: at once when it waits, else as soon as what it is doing has ended. Resolves when it has. */
  async #cancel(under: Under): Promise<void> {
    under.stop.abort();
    if (!under.recorded || under.run.status !== 'queued') return under.ended;
    const { world, runs } = this.#parts;
    // Not queued any more, and so not begun while this is written.
    under.run = { ...under.run, status: 'cancelled', endedAt: world.clock.now() };
    await runs.write(under.run).catch((error: unknown) => this.#unrecorded(under, error));
    this.#forget(under);
  }

  async #carryOut(under: Under): Promise<void> {
    const { world, runs } = this.#parts;
    const onChange = (run: Run) => {
      under.run = run;
    };
    try {
      const { run, definition, agreed, stop } = under;
      await carryOut({ run, definition, agreed, signal: stop.signal, onChange }, this.#parts);
    } catch (error) {
      if (!(error instanceof NoRoomError)) this.#unrecorded(under, error);
      const said = error instanceof Error ? error.message : String(error);
      if (!hasEnded(under.run)) under.run = { ...under.run, status: 'failed', error: said, endedAt: world.clock.now() };
      await runs.write(under.run).catch(() => {});
    }
    this.#running -= 1;
    this.#forget(under);
    this.#next();
  }

  #unrecorded({ run }: Under, error: unknown): void {
    this.#parts.world.log.error({ err: error, run: run.id, recipe: run.recipe }, 'a run could not be recorded');
  }

  #forget(under: Under): void {
    this.#under.delete(under.run.id);
    under.settle();
  }
}
