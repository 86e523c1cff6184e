// A line of 50 MB to the tool server was held in memory as a whole, and parsed. docs/faults.md O7.
import { expect, test } from 'vitest';
import { serveTools, type ToolService } from '../../src/recipes/mcp/tool-server.ts';
import { pairedRpc } from '../support/bare-rpc.ts';
import { until } from '../support/until.ts';
import { stillWorld } from '../web/running-server.ts';

const piece = 'x'.repeat(64 * 1024);

type Trigger = ToolService['api']['trigger'];

const failure = { kind: 'refused', status: 403, detail: 'not here', retryAfterMs: null } as const;
const notStarted = { kind: 'not_started', failure, said: null } as const;

async function connected(onTrigger: () => Promise<void> = async () => {}) {
  const { rpc, wire } = pairedRpc();
  const started: unknown[] = [];
  const recipe = { id: 'at-risk', title: null, description: null, parameters: null, operation: null };
  const list = { recipes: [recipe], unreadable: 0, problems: [], truncated: false };
  const trigger: Trigger = async ({ recipe: id, parameters, apply }) => {
    started.push([id, parameters, apply]);
    await onTrigger();
    return notStarted;
  };
  const api = {
    recipes: async () => ({ ok: true as const, value: list }),
    trigger,
    run: async () => ({ ok: false as const, failure }),
    cancel: async () => ({ said: 'not here' }),
  };
  const notes: string[] = [];
  const options = {
    service: { api, foreign: false },
    version: '1',
    lookEveryMs: 3_600_000,
    note: (text: string) => void notes.push(text),
  };
  void serveTools(wire, options, stillWorld());
  await rpc.initialize();
  return { rpc, wire, started, notes };
}

/** Writes a line of `pieces` x 64 KiB between a beginning and an end. */
async function pour(wire: { input: NodeJS.ReadableStream & { write?: unknown } }, parts: readonly string[]) {
  const input = wire.input as unknown as NodeJS.WritableStream;
  for (const part of parts) {
    if (!input.write(part)) await new Promise((resolve) => input.once('drain', resolve));
  }
}

const pieces = Array.from({ length: 800 }, () => piece);

test('a line of 50 MB is one error, and the rest goes on', async () => {
  const { rpc, wire, started } = await connected();
  const head = '{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"at-risk","arguments":{"a":"';
  await pour(wire, [head, ...pieces, '"}}}\n']);
  expect((await rpc.tools()).map(({ name }) => name)).toContain('at-risk');
  expect(rpc.messages.filter(({ error }) => error)).toEqual([
    {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_600, message: 'The line is longer than 1 MiB and was not read.' },
    },
  ]);
  expect(started).toEqual([]);
});

test('of very many calls at once those beyond 1,000 are refused, and each is answered once', async () => {
  const gate = Promise.withResolvers<void>();
  const { rpc, started } = await connected(() => gate.promise);
  const ids = Array.from({ length: 1_200 }, () => rpc.ask('tools/call', { name: 'at-risk', arguments: {} }));
  const answers = () => rpc.messages.filter(({ id }) => typeof id === 'number' && ids.includes(id));
  const refused = await until('refusals', () => (answers().length >= 200 ? answers() : null));
  expect(refused.every(({ error }) => error?.message.includes('wait for their answers'))).toBe(true);
  gate.resolve();
  await until('the other answers', () => answers().length === 1_200);
  expect([new Set(answers().map(({ id }) => id)).size, started.length]).toEqual([1_200, 1_000]);
});
