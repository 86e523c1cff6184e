// The MCP server: every recipe is a tool. It speaks old and new protocol versions over a pair of streams.

import { type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import {
  type CallToolResult,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { z } from 'zod';
import { errorText } from '../../core/nearest.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { World } from '../../world/world.ts';
import type { RecipeEntry, RunRecord } from '../client/answers.ts';
import { followRun, hasEnded, type RecipeApi, type RunPage, type ServiceRecipes } from '../client/client.ts';
import { cancelShape, defaultRows, followShape, type toolAnswerShape } from '../shapes.ts';
import {
  cancelTool,
  dataNote,
  followTool,
  inertRow,
  inertText,
  operationOf,
  plainError,
  readableLine,
  recipeTool,
  runTools,
  toolName,
  withoutNulls,
} from './tools.ts';

// Tool results: one JSON object, as structured content and as text, inert and of bounded size.

/** Largest number of characters of the rows of one answer. The first row is always shown. */
const maxRowsCharacters = 200_000;
const maxSaidCharacters = 1_000;

/** Result of a call that failed, for the assistant to mend it. */
function refusedResult(said: readonly string[]): CallToolResult {
  const text = said.map((sentence) => inertText(sentence, maxSaidCharacters)).join('\n');
  return { content: [{ type: 'text', text }], isError: true };
}

interface ToolRows {
  /** Rows of the run, or null if the service shows none, which differs from an empty list. */
  readonly rows: readonly unknown[] | null;
  /** Cursor behind the first `taken` of these rows; null after the last row of the run. */
  readonly cursorAfter: (taken: number) => string | null;
}

interface RunCircumstances {
  /** True if the recipe can act. */
  readonly acts: boolean;
  /** Sentence on whether a daemon guards; null if the service is elsewhere. */
  readonly guard: string | null;
  readonly cancelling?: boolean;
}

/** `page` is null for a run that goes on, or whose rows nobody asked for. */
export function runResult(
  run: RunRecord,
  page: ToolRows | null,
  { acts, guard, cancelling }: RunCircumstances,
): CallToolResult {
  const rows = packed(page?.rows ?? []);
  const cursor = page?.cursorAfter(rows.length) ?? null;
  const error =
    run.error ?? (run.state === 'unknown' && run.stateSaid !== null ? `its status is ${run.stateSaid}` : null);
  const structured: z.input<typeof toolAnswerShape> = {
    note: [cancelling ? cancelNoteOf(run) : noteOf(run, page, acts), guard].filter(Boolean).join(' '),
    run_id: run.id,
    ...(run.recipe !== null && { recipe: inertText(run.recipe, maxSaidCharacters) }),
    status: run.state,
    ...(run.apply !== null && acts && { apply: run.apply }),
    ...(error !== null && { error: inertText(error, maxSaidCharacters) }),
    rows: [...rows],
    ...(run.rowCount !== null && { row_count: run.rowCount }),
    ...(cursor !== null && { next_cursor: cursor }),
    truncated: run.truncated,
  };
  return {
    content: [{ type: 'text', text: JSON.stringify(structured) }],
    structuredContent: structured,
    ...(run.state === 'failed' && { isError: true }),
  };
}

function packed(rows: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
  const kept: Readonly<Record<string, unknown>>[] = [];
  let characters = 0;
  for (const raw of rows) {
    const row = inertRow(raw);
    characters += JSON.stringify(row).length;
    if (kept.length > 0 && characters > maxRowsCharacters) break;
    kept.push(row);
  }
  return kept;
}

const dryRunNote =
  'Nothing was done: this was a dry run. To carry out the actions, ask the user first, then call the tool again with apply: true.';

function noteOf(run: RunRecord, page: ToolRows | null, acts: boolean): string {
  const goesOn = `The run has not ended. Call ${followTool} with run_id ${JSON.stringify(inertText(run.id, 200))} to continue.`;
  switch (run.state) {
    case 'queued':
    case 'running':
      return goesOn;
    case 'unknown':
      return `The service uses an unknown word for the state of the run, so the run may still be in progress. ${dataNote}`;
    case 'failed':
      return 'The run failed: see error.';
    case 'cancelled':
      return 'The run was cancelled.';
    case 'succeeded':
      if (page?.rows === null) return 'The run succeeded, but the service shows no rows of it.';
      return acts && run.apply === false ? `${dryRunNote} ${dataNote}` : dataNote;
  }
}

function cancelNoteOf({ state }: RunRecord): string {
  if (state === 'cancelled') return 'The run was cancelled.';
  if (state === 'succeeded' || state === 'failed') return 'The run had already ended, so nothing was cancelled.';
  return `The run has not ended yet: ${followTool} shows when it has.`;
}

export interface ToolService {
  readonly api: Pick<RecipeApi, 'recipes' | 'trigger' | 'run' | 'cancel'>;
  /** The titles and descriptions of a service elsewhere were written by strangers, too. */
  readonly foreign: boolean;
  /** Rejects with a sentence while the service does not answer. */
  readonly reach?: () => Promise<unknown>;
  /** Sentence on whether the daemon guards. */
  readonly guard?: () => Promise<string>;
}

interface ToolServerOptions {
  readonly service: ToolService;
  readonly version: string;
  readonly note: (text: string) => void;
}

const instructions = `Each tool is a saved recipe: a question about a fleet of email mailboxes that are being warmed up. \
A tool with the parameter apply can act; without apply: true, it only shows what it would do. An answer holds one page of \
rows; ${followTool} with next_cursor gives the next, and follows a run that has not ended. ${dataNote}`;

/** Time for the answers to requests that came before the input ended. */
const lastAnswersMs = 1_000;
/** Time for the last request to reach its handler. */
const lastTurnMs = 50;

const maxRequests = 1_000;
const maxLineBytes = 1024 * 1024;
const lineBreak = 0x0a;

/** Passes whole lines on. Leaves out a line that is too long, and calls `refuse` at its end. */
class BoundedLines extends Transform {
  readonly #refuse: () => void;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(refuse: () => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let rest = chunk; rest.length > 0; ) {
      const end = rest.indexOf(lineBreak) + 1 || rest.length;
      this.#take(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    done();
  }

  #take(piece: Buffer): void {
    this.#bytes += piece.length;
    const fits = this.#bytes <= maxLineBytes;
    this.#pieces = fits ? [...this.#pieces, piece] : [];
    if (piece.at(-1) !== lineBreak) return;
    if (fits) this.push(readableLine(Buffer.concat(this.#pieces)));
    else this.#refuse();
    this.#pieces = [];
    this.#bytes = 0;
  }
}

/** Answer to a line that was left out, whose id nobody read (JSON-RPC 2.0, section 5). */
const lineTooLong = `${JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_600, message: `The line is longer than ${maxLineBytes / 1024 / 1024} MiB and was not read.` },
})}\n`;

class PlainTransport extends StdioServerTransport {
  override send(message: JSONRPCMessage): Promise<void> {
    if (!('error' in message)) return super.send(message);
    const { error } = message;
    return super.send({ ...message, error: { ...error, message: plainError(error.message) } });
  }
}

interface Wire {
  readonly input: Readable;
  readonly output: Writable;
}

export function serveTools(wire: Wire, options: ToolServerOptions, world: World): Promise<void> {
  const session = new ToolSession(options, world);
  // The SDK drops what is under way when its input ends: it sees the end only when the last answers are out.
  const input = new BoundedLines(() => void wire.output.write(lineTooLong));
  wire.input.pipe(input, { end: false });
  const closed = new Promise<void>((resolve) => {
    const finish = async () => {
      await world.clock.sleep(lastTurnMs);
      await Promise.race([session.idle(), world.clock.sleep(lastAnswersMs)]);
      input.end();
      resolve();
    };
    for (const event of ['end', 'close', 'error']) wire.input.once(event, () => void finish());
  });
  // The SDK listens once for each answer that waits to be read; Node.js would call that a leak.
  wire.output.setMaxListeners(0);
  const transport = new PlainTransport(input, wire.output);
  // The library's own message fills a screen.
  const onerror = ({ name, message }: Error) =>
    options.note(name === 'ZodError' ? 'a message that is not JSON-RPC was ignored' : message);
  serveStdio(() => session.newServer(), { transport, onerror });
  return closed;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Longest wait for a run. Then the caller gets the id of the run, which goes on. */
const handBackAfterMs = 30_000;

/** State of one connection: an old and a new protocol version may each begin with a server of its own. */
class ToolSession {
  readonly #options: ToolServerOptions;
  readonly #world: World;
  #known: ServiceRecipes | null = null;
  readonly #underWay = new Set<Promise<unknown>>();
  #saidProblems = '';

  constructor(options: ToolServerOptions, world: World) {
    this.#options = options;
    this.#world = world;
  }

  newServer(): Server {
    const info = { name: 'warmwarden', title: 'Warmwarden', version: this.#options.version };
    const server = new Server(info, { capabilities: { tools: {} }, instructions });
    server.setRequestHandler('tools/list', () => this.#answer(async () => ({ tools: await this.#tools() })));
    server.setRequestHandler('tools/call', ({ params }, context) =>
      this.#answer(() => this.#call(params.name, params.arguments ?? {}, context)),
    );
    return server;
  }

  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
  }

  #answer<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (this.#underWay.size >= maxRequests) {
      const said = `${counted(maxRequests, 'request')} are not answered yet: wait for their answers.`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, said);
    }
    const under = work().finally(() => this.#underWay.delete(under));
    this.#underWay.add(under);
    return under;
  }

  /** Returns the tools of the present list or, while it cannot be read, of the last one. */
  async #tools(): Promise<Tool[]> {
    const problems = await this.#readList();
    if (!this.#known) throw new ProtocolError(ProtocolErrorCode.InternalError, problems.join(' '));
    const said = problems.join('\n');
    if (said !== '' && said !== this.#saidProblems) this.#options.note(said);
    this.#saidProblems = said;
    return [...this.#known.recipes.map((recipe) => recipeTool(recipe, this.#options.service.foreign)), ...runTools];
  }

  async #readList(): Promise<readonly string[]> {
    const away = await this.#away();
    if (away !== null) return [away];
    const list = await this.#options.service.api.recipes();
    if (!list.ok) return [list.failure.detail];
    this.#known = list.value;
    const { problems, unreadable, truncated } = list.value;
    const nameless = `Recipes of the service without an id can't be offered: ${unreadable}.`;
    const cut = 'The service has more recipes than it lists at once, and does not document how to get the others.';
    return [...problems, ...(unreadable > 0 ? [nameless] : []), ...(truncated ? [cut] : [])];
  }

  async #away(): Promise<string | null> {
    try {
      await this.#options.service.reach?.();
      return null;
    } catch (error) {
      return errorText(error);
    }
  }

  async #call(name: string, given: Arguments, context: ServerContext): Promise<CallToolResult> {
    const away = await this.#away();
    if (away !== null) return refusedResult([away]);
    if (name === followTool)
      return withArguments(followShape, given, ({ run_id: run, ...asked }) =>
        this.#outcome(run, { ...asked, isOurs: false }, context),
      );
    if (name === cancelTool) return withArguments(cancelShape, given, ({ run_id: run }) => this.#cancel(run));
    const recipe = await this.#recipeOf(name);
    if (!recipe)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}: list the tools again.`);
    const { apply = false, ...others } = withoutNulls(given);
    const acts = operationOf(recipe) !== null;
    if (acts && typeof apply !== 'boolean') return refusedResult(['apply must be true or false.']);
    const asked = { recipe: recipe.id, parameters: acts ? others : withoutNulls(given), apply: acts && apply === true };
    const triggered = await this.#options.service.api.trigger(asked);
    switch (triggered.kind) {
      case 'started':
        return this.#outcome(triggered.run.id, { limit: defaultRows, isOurs: true }, context);
      case 'not_started':
        return refusedResult([`Nothing was started. ${triggered.said ?? triggered.failure.detail}`]);
      case 'may_have_started':
        return refusedResult([
          `A run may have started: its answer was lost (${triggered.detail}). Do not start it again blindly: ask the user to check the service first.`,
        ]);
    }
  }

  async #recipeOf(name: string): Promise<RecipeEntry | undefined> {
    const called = () => this.#known?.recipes.find(({ id }) => toolName(id) === name);
    const known = called();
    if (known) return known;
    await this.#tools();
    return called();
  }

  async #cancel(run: string): Promise<CallToolResult> {
    const cancelled = await this.#options.service.api.cancel(run);
    if ('said' in cancelled) return refusedResult([cancelled.said]);
    return runResult(cancelled, null, { ...(await this.#circumstancesOf(cancelled)), cancelling: true });
  }

  /** A run of this very call (`isOurs`) ends with the call. */
  async #outcome(
    run: string,
    { cursor, limit, isOurs }: { cursor?: string | undefined; limit: number; isOurs: boolean },
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { api } = this.#options.service;
    const { signal } = context.mcpReq;
    const from = readCursor(run, cursor);
    if (!from) return refusedResult(['cursor must be the next_cursor of an earlier answer about this run.']);
    const options = { withinMs: handBackAfterMs, signal, onProgress: progressOf(context) };
    const followed = await followRun(api, run, options, this.#world);
    if (signal.aborted && isOurs) await api.cancel(run);
    if (followed.kind === 'lost') return refusedResult([followed.failure.detail]);
    if (followed.kind === 'unfinished') {
      if (followed.run) return runResult(followed.run, null, await this.#circumstancesOf(followed.run));
      return refusedResult([`The run ${run} was started, but it could not be read: ${followed.detail}`]);
    }
    const read = from.page === '' ? { ok: true as const, value: followed.page } : await api.run(run, from.page);
    if (!read.ok) return refusedResult([read.failure.detail]);
    return runResult(read.value.run, rowsFrom(read.value, from, limit), await this.#circumstancesOf(read.value.run));
  }

  async #circumstancesOf(run: RunRecord): Promise<RunCircumstances> {
    const guard = (await this.#options.service.guard?.().catch(errorText)) ?? null;
    return { acts: await this.#acts(run), guard };
  }

  /** True if the recipe of a run can act, as far as the service says. */
  async #acts({ recipe }: RunRecord): Promise<boolean> {
    if (!this.#known) await this.#tools().catch(() => {});
    const entry = this.#known?.recipes.find(({ id }) => id === recipe);
    const operation = entry ? operationOf(entry) : null;
    return operation !== null && operation !== 'unknown';
  }
}

async function withArguments<Shape extends z.ZodType>(
  shape: Shape,
  given: Arguments,
  answer: (asked: z.output<Shape>) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const { success, data, error } = shape.safeParse(withoutNulls(given));
  return success ? answer(data) : refusedResult(error.issues.map(sentenceOfIssue));
}

function sentenceOfIssue(issue: z.core.$ZodIssue): string {
  return issue.code === 'unrecognized_keys' ? `There is no parameter ${issue.keys.join(', ')}.` : issue.message;
}

/** Place where rows go on: `skip` rows into the page at this address, which is empty for the first page. */
interface RowPlace {
  readonly skip: number;
  readonly page: string;
}

/** Returns null if the text is no cursor of this run. */
function readCursor(run: string, cursor: string | undefined): RowPlace | null {
  if (cursor === undefined || cursor === '') return { skip: 0, page: '' };
  const parts = /^(\d{1,12})@(\/runs\/([^/?#]+)(?:\?[^#]*)?)?$/.exec(cursor);
  // The address came back through the assistant: it must be one of this run.
  if (!parts || (parts[3] !== undefined && parts[3] !== encodeURIComponent(run))) return null;
  return { skip: Number(parts[1]), page: parts[2] ?? '' };
}

function rowsFrom({ run, nextPage }: RunPage, { skip, page }: RowPlace, limit: number): ToolRows {
  const { rows } = run;
  const cursorAfter = (taken: number) => {
    if (skip + taken < (rows?.length ?? 0)) return `${skip + taken}@${page}`;
    return nextPage === null ? null : `0@${nextPage}`;
  };
  return { rows: rows?.slice(skip, skip + limit) ?? null, cursorAfter };
}

function progressOf({ mcpReq }: ServerContext): (run: RunRecord) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (run) => {
    if (hasEnded(run)) return;
    const { state, rowCount } = run;
    progress += 1;
    const message = rowCount === null ? state : `${state}, ${counted(rowCount, 'row')} so far`;
    const params = { progressToken, progress, message };
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
