// The MCP server: every recipe is a tool. Old and new protocol versions, over a pair of streams.

import type { Readable, Writable } from 'node:stream';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { counted } from '../../core/wording/phrases.ts';
import type { World } from '../../world/world.ts';
import { BoundedLines, lineTooLong, Turnstile, type TurnstileLimits } from './bounded-lines.ts';
import { inertRow, inertText } from './inert.ts';
import type { ToolList, ToolRecipe, ToolRows, ToolRun, ToolSource } from './source.ts';
import { cancelTool, dataNote, followTool, maxRows, recipeTool, rowsByDefault, runTools, toolName } from './tools.ts';

// Runs and rows as tool results: one JSON object, as structured content and as text, inert and of bounded size.

/** The rows of one answer, as JSON: an assistant has to read them. The first row is always shown. */
const maxRowsCharacters = 200_000;
const maxSaidCharacters = 1_000;

/** Why a call did not work, for the assistant to mend it. */
function refusedResult(said: readonly string[]): CallToolResult {
  const text = said.map((sentence) => inertText(sentence, maxSaidCharacters)).join('\n');
  return { content: [{ type: 'text', text }], isError: true };
}

/** What else to say of a run. */
interface About {
  /** Its recipe can act. */
  readonly acts: boolean;
  /** The call was to cancel it. */
  readonly cancelling?: boolean;
}

/** A run with a page of its rows; of a run that goes on, or whose rows nobody asked for, `page` is null. */
export function runResult(run: ToolRun, page: ToolRows | null, about: About): CallToolResult {
  const rows = packed(page?.rows ?? []);
  const cursor = page?.cursorAfter(rows.length) ?? null;
  const structured = {
    note: about.cancelling ? cancelNoteOf(run) : noteOf(run, page, about),
    run_id: run.id,
    ...(run.recipe === null ? {} : { recipe: inertText(run.recipe, maxSaidCharacters) }),
    status: run.status,
    ...(run.apply === null || !about.acts ? {} : { apply: run.apply }),
    ...(run.error === null ? {} : { error: inertText(run.error, maxSaidCharacters) }),
    rows,
    ...(run.rowCount === null ? {} : { row_count: run.rowCount }),
    ...(cursor === null ? {} : { next_cursor: cursor }),
    truncated: run.truncated,
  };
  return {
    content: [{ type: 'text', text: JSON.stringify(structured) }],
    structuredContent: structured,
    ...(run.status === 'failed' ? { isError: true } : {}),
  };
}

/** As many of the first rows as fit. */
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

function noteOf(run: ToolRun, page: ToolRows | null, { acts }: About): string {
  const goesOn = `The run has not ended. Call ${followTool} with run_id ${JSON.stringify(inertText(run.id, 200))} to continue.`;
  switch (run.status) {
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

function cancelNoteOf({ status }: ToolRun): string {
  if (status === 'cancelled') return 'The run was cancelled.';
  const hasEnded = status === 'succeeded' || status === 'failed';
  if (hasEnded) return 'The run had already ended, so nothing was cancelled.';
  return `The run has not ended yet: ${followTool} shows when it has.`;
}

interface ToolServerOptions {
  readonly source: ToolSource;
  readonly version: string;
  /** How often recipes are looked at for changes while a client is there. */
  readonly lookEveryMs: number;
  /** Takes what people should know; it must not write to standard output. */
  readonly note: (text: string) => void;
}

interface ToolServer {
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
}

const instructions = `Each tool is a saved recipe: a question about a fleet of email mailboxes that are being warmed up. \
A tool with the parameter apply can act; without apply: true, it only shows what it would do. An answer holds one page of \
rows; ${followTool} with next_cursor gives the next, and follows a run that has not ended. ${dataNote}`;

/** What was asked before the input ended is still answered, for this long. */
const lastAnswersMs = 1_000;
/** Real time for what was read last to reach its handler. */
const lastTurnMs = 50;

/**
 * More at once than the runs that a daemon takes of one caller (recipes/runner.ts), so that a request which waits for none of
 * them has its turn. Each takes a connection or two, of which the daemon needs some for the mailbox API.
 */
const requestLimits: TurnstileLimits = { atOnce: 32, waiting: 1_000 };

interface Wire {
  readonly input: Readable;
  /** Takes protocol messages and nothing else. */
  readonly output: Writable;
}

/** Serves one connection until its input ends. */
export function serveTools(wire: Wire, options: ToolServerOptions, world: World): ToolServer {
  const session = new Session(options, world);
  const stopping = new AbortController();
  // The SDK drops what is under way when its input ends: it sees the end only when the last answers are out.
  const input = new BoundedLines((id) => void wire.output.write(lineTooLong(id)));
  wire.input.pipe(input, { end: false });
  const finish = async () => {
    await world.clock.sleep(lastTurnMs);
    await Promise.race([session.idle(), world.clock.sleep(lastAnswersMs)]);
    input.end();
  };
  for (const event of ['end', 'close', 'error']) wire.input.once(event, () => void finish());
  // The SDK listens once for each answer that waits to be read; Node.js would call that a leak.
  wire.output.setMaxListeners(0);
  const transport = new StdioServerTransport(input, wire.output);
  const closed = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport);
    // serveStdio takes `onclose` for itself.
    transport.close = async () => {
      await close();
      stopping.abort();
      resolve();
    };
  });
  // What the library says of each shape that a message does not have fills a screen.
  const onerror = ({ name, message }: Error) =>
    options.note(name === 'ZodError' ? 'a message that is not JSON-RPC was ignored' : message);
  serveStdio(({ era }) => session.newServer(era), { transport, onerror });
  void session.watch(stopping.signal);
  return { closed };
}

type Arguments = Readonly<Record<string, unknown>>;

/** What the servers of one connection share: an old and a new protocol version may each begin with one of its own. */
class Session {
  readonly #options: ToolServerOptions;
  readonly #source: ToolSource;
  readonly #world: World;
  /** Servers whose client may be notified that the list changed. */
  readonly #listening = new Set<Server>();
  /** The newest list that could be read. */
  #known: ToolList | null = null;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #turnstile = new Turnstile(requestLimits);
  #saidProblems = '';
  /** Whether a list of tools was refused: a client may have none. */
  #wasRefused = false;

  constructor(options: ToolServerOptions, world: World) {
    this.#options = options;
    this.#source = options.source;
    this.#world = world;
  }

  newServer(era: 'legacy' | 'modern'): Server {
    const info = { name: 'warmwarden', title: 'Warmwarden', version: this.#options.version };
    const server = new Server(info, { capabilities: { tools: { listChanged: true } }, instructions });
    server.setRequestHandler('tools/list', (_, context) =>
      this.#inTurn(context, async () => ({ tools: [...(await this.#tools())] })),
    );
    server.setRequestHandler('tools/call', ({ params }, context) =>
      this.#inTurn(context, () => this.#call(params.name, params.arguments ?? {}, context)),
    );
    if (era === 'modern') this.#listening.add(server);
    else server.oninitialized = () => this.#listening.add(server);
    server.onclose = () => this.#listening.delete(server);
    return server;
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled([...this.#underWay]);
  }

  /** Tells the clients when the tools have changed, until the signal. */
  async watch(signal: AbortSignal): Promise<void> {
    let before: string | null = null;
    while (!signal.aborted) {
      await this.#world.clock.sleep(this.#options.lookEveryMs, signal);
      if (signal.aborted || this.#listening.size === 0) continue;
      const shown: string | null = this.#known && JSON.stringify(this.#toolsOf(this.#known));
      const now = await this.#tools().then(JSON.stringify, () => null);
      const last = before ?? shown;
      const changed = now !== null && (last === null ? this.#wasRefused : now !== last);
      before = now ?? before;
      if (changed) for (const server of this.#listening) await server.sendToolListChanged().catch(() => {});
    }
  }

  #inTurn<Answer extends object>({ mcpReq }: ServerContext, answer: () => Promise<Answer>): Promise<Answer> {
    const under = this.#answered(mcpReq.signal, answer).finally(() => this.#underWay.delete(under));
    this.#underWay.add(under);
    return under;
  }

  async #answered<Answer extends object>(signal: AbortSignal, answer: () => Promise<Answer>): Promise<Answer> {
    const answered = await this.#turnstile.take(async () => {
      // One that was cancelled while it waited begins nothing.
      signal.throwIfAborted();
      return answer();
    });
    if (answered) return answered;
    const said = `${counted(requestLimits.atOnce + requestLimits.waiting, 'request')} are not answered yet: wait for their answers.`;
    throw new ProtocolError(ProtocolErrorCode.InternalError, said);
  }

  /** Read again; while that fails, what was read last. */
  async #tools(): Promise<readonly Tool[]> {
    const list = await this.#source.list();
    if (list.ok) {
      this.#known = list.value;
      this.#sayProblems(list.value.problems);
      return this.#toolsOf(list.value);
    }
    this.#wasRefused = true;
    if (!this.#known) throw new ProtocolError(ProtocolErrorCode.InternalError, list.said.join(' '));
    this.#sayProblems(list.said);
    return this.#toolsOf(this.#known);
  }

  #toolsOf({ recipes }: ToolList): readonly Tool[] {
    return [...recipes.map((recipe) => recipeTool(recipe, this.#source.foreign)), ...runTools];
  }

  #sayProblems(problems: readonly string[]): void {
    const said = problems.join('\n');
    if (said !== '' && said !== this.#saidProblems) this.#options.note(said);
    this.#saidProblems = said;
  }

  async #call(name: string, given: Arguments, context: ServerContext): Promise<CallToolResult> {
    if (name === followTool) return this.#follow(given, context);
    if (name === cancelTool) return this.#cancel(given);
    const recipe = await this.#recipeOf(name);
    if (!recipe)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}: list the tools again.`);
    const { apply = false, ...others } = given;
    const acts = recipe.operation !== null;
    if (acts && typeof apply !== 'boolean') return refusedResult(['apply must be true or false.']);
    const started = await this.#source.start(recipe.id, acts ? others : given, acts && apply === true);
    if (!started.ok) return refusedResult(started.said);
    return this.#outcome(started.value.id, { cursor: null, limit: rowsByDefault, ours: true }, context);
  }

  async #recipeOf(name: string): Promise<ToolRecipe | undefined> {
    const called = () => this.#known?.recipes.find(({ id }) => toolName(id) === name);
    const known = called();
    if (known) return known;
    await this.#tools();
    return called();
  }

  async #follow(given: Arguments, context: ServerContext): Promise<CallToolResult> {
    const { run_id: run, cursor = null, limit = rowsByDefault } = given;
    if (typeof run !== 'string' || run === '')
      return refusedResult(['run_id must be the run_id of an earlier answer.']);
    if (cursor !== null && typeof cursor !== 'string') return refusedResult(['cursor must be a next_cursor.']);
    if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > maxRows) {
      return refusedResult([`limit must be a whole number from 1 to ${maxRows}.`]);
    }
    return this.#outcome(run, { cursor, limit, ours: false }, context);
  }

  async #cancel(given: Arguments): Promise<CallToolResult> {
    const { run_id: run } = given;
    if (typeof run !== 'string' || run === '')
      return refusedResult(['run_id must be the run_id of an earlier answer.']);
    const cancelled = await this.#source.cancel(run);
    if (!cancelled.ok) return refusedResult(cancelled.said);
    return runResult(cancelled.value, null, { acts: await this.#acts(cancelled.value), cancelling: true });
  }

  /** Waits for a run and shows a page of its rows. A run of this very call (`ours`) ends with the call. */
  async #outcome(
    run: string,
    page: { readonly cursor: string | null; readonly limit: number; readonly ours: boolean },
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { signal } = context.mcpReq;
    const ended = await this.#source.ended(run, { signal, onProgress: progressOf(context) });
    if (signal.aborted && page.ours) await this.#source.cancel(run);
    if (!ended.ok) return refusedResult(ended.said);
    const about = { acts: await this.#acts(ended.value) };
    if (ended.value.status === 'queued' || ended.value.status === 'running') return runResult(ended.value, null, about);
    const rows = await this.#source.rows(run, page.cursor, page.limit);
    return rows.ok ? runResult(rows.value.run, rows.value, about) : refusedResult(rows.said);
  }

  /** Whether the recipe of a run can act, as far as the service says. */
  async #acts({ recipe }: ToolRun): Promise<boolean> {
    if (!this.#known) await this.#tools().catch(() => {});
    const operation = this.#known?.recipes.find(({ id }) => id === recipe)?.operation ?? null;
    return operation !== null && operation !== 'unknown';
  }
}

/** Progress for those who asked for it; its number only grows. */
function progressOf({ mcpReq }: ServerContext): (run: ToolRun) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return ({ status, rowCount }) => {
    progress += 1;
    const message = rowCount === null ? status : `${status}, ${counted(rowCount, 'row')} so far`;
    const params = { progressToken, progress, message };
    void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}
