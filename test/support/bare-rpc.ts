// A JSON-RPC client over two streams that knows nothing of MCP: every byte is kept, every line must be a message.
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { Running } from './process.ts';
import { until } from './until.ts';

export interface Message {
  readonly jsonrpc?: string;
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** What `tools/list` shows of a tool. */
export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required: readonly string[];
  };
  readonly annotations: Readonly<Record<string, unknown>>;
}

/** What `tools/call` answers. */
export interface ShownResult {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: {
    readonly run_id: string;
    readonly status: string;
    readonly note: string;
    readonly rows: readonly Readonly<Record<string, unknown>>[];
    readonly next_cursor?: string;
    readonly error?: string;
  };
  readonly isError?: boolean;
}

class BareRpc {
  /** Everything that came. */
  received = '';
  #over = false;
  readonly #output: Writable;
  #nextId = 1;

  constructor(input: Readable, output: Writable) {
    this.#output = output;
    input.setEncoding('utf8').on('data', (text: string) => {
      this.received += text;
    });
    input.once('close', () => {
      this.#over = true;
    });
  }

  /** What came so far. Throws when a line is no JSON-RPC message. */
  get messages(): readonly Message[] {
    const complete = this.received.slice(0, this.received.lastIndexOf('\n') + 1);
    return complete.split('\n').flatMap((line): readonly Message[] => {
      if (line === '') return [];
      const message = JSON.parse(line) as Message;
      if (message.jsonrpc !== '2.0') throw new Error(`no JSON-RPC message: ${line}`);
      return [message];
    });
  }

  notify(method: string, params: object = {}): void {
    this.#write({ jsonrpc: '2.0', method, params });
  }

  /** Sends a request; its id. */
  ask(method: string, params: object = {}): number {
    const id = this.#nextId++;
    this.#write({ jsonrpc: '2.0', id, method, params });
    return id;
  }

  /** The answer to a request; fails when the connection ends without one. */
  answerTo(id: number): Promise<Message> {
    return until(`an answer to request ${id}`, () => {
      const answer = this.messages.find((message) => message.id === id && message.method === undefined);
      if (!answer && this.#over) throw new Error(`it ended without an answer to ${id}:\n${this.received}`);
      return answer;
    });
  }

  /** Asks, and waits for the result. Throws when the answer is an error. */
  async result(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const { result, error } = await this.answerTo(this.ask(method, params));
    if (!result) throw new Error(`${method}: ${error?.message}`);
    return result;
  }

  /** The handshake of 2025-06-18; the result of `initialize`. */
  async initialize(): Promise<Readonly<Record<string, unknown>>> {
    const clientInfo = { name: 'bare', version: '1' };
    const result = await this.result('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    this.notify('notifications/initialized');
    return result;
  }

  async tools(): Promise<readonly ShownTool[]> {
    return (await this.result('tools/list'))['tools'] as readonly ShownTool[];
  }

  async call(name: string, given: object = {}): Promise<ShownResult> {
    const result: unknown = await this.result('tools/call', { name, arguments: given });
    return result as ShownResult;
  }

  write(text: string): void {
    this.#output.write(text);
  }

  /** Closes the other side's input. */
  end(): void {
    this.#output.end();
  }

  #write(message: object): void {
    this.write(`${JSON.stringify(message)}\n`);
  }
}

/** `warmwarden ...args`, spoken to over its stdin and stdout. Disposing it kills it. */
export function spawnRpc(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const running = new Running(args, env);
  const { stdout, stdin } = running.child;
  const ended = running.ended.then(({ code }) => code);
  const end = () => running[Symbol.asyncDispose]();
  return { rpc: new BareRpc(stdout, stdin), ended, stderr: () => running.stderr, [Symbol.asyncDispose]: end };
}

/** A client and the two streams of the server that it speaks to, in one process. */
export function pairedRpc() {
  const [toServer, fromServer] = [new PassThrough(), new PassThrough()];
  return { rpc: new BareRpc(fromServer, toServer), wire: { input: toServer, output: fromServer } };
}
