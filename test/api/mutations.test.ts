// Thousands of answers that were good once: whatever a server does to them, the readers answer and do not throw.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import type { Result } from '../../src/api/http/failure.ts';
import type { Observed } from '../../src/core/answers.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { ann, bob, type Json, scenarioOf, serve } from '../simulator/served.ts';
import { clientOf, questions, startScripted } from './scripted-server.ts';

/** Real answers of the simulator, in the order of the questions below. */
async function samples(): Promise<readonly Json[]> {
  const incidents = [{ kind: 'listing', mailbox: '*', lists: ['zen.example'], from: 0 }] as const;
  await using it = await serve({ scenario: scenarioOf([ann, bob], incidents), startAt: scenarioStart });
  await it.clock.advance(3 * 3_600_000);
  const id = it.idOf(ann.email);
  const body = async (path: string) => (await it.ask(path)).body;
  return [
    await body('/v1/health'),
    await body('/v1/mailboxes'),
    await body(`/v1/mailboxes/${id}`),
    await body(`/v1/warmup?mailbox_id=${id}`),
    await body(`/v1/stats?mailbox_id=${id}&days=5`),
    await body(`/v1/dns?mailbox_id=${id}`),
    await body(`/v1/blacklist?mailbox_id=${id}`),
  ];
}

/** Every place in a JSON value, the root left out. */
function places(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.keys(value).flatMap((name) => [[...path, name], ...places(value[name], [...path, name])]);
}

function changed(value: Json, path: readonly string[], put: unknown): Json {
  const copy = structuredClone(value);
  let at = copy;
  for (const name of path.slice(0, -1)) at = at[name];
  const last = path.at(-1) ?? '';
  if (put === undefined) delete at[last];
  else at[last] = put;
  return copy;
}

const planted: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    null,
    undefined,
    '',
    '0',
    'NaN',
    '12.5%',
    '1,204',
    '-1',
    'pass',
    'PASS',
    '\u202e<b>',
    -0,
    1e308,
    2 ** 53,
  ),
  fc.constantFrom(true, false, {}, { status: 'pass' }, { 'zen.example': true }, { name: 'zen.example' }),
  fc.integer(),
  fc.double(),
  fc.string({ maxLength: 40 }),
);

function plainNumbersOnly(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return value !== undefined;
  return Object.values(value).every(plainNumbersOnly);
}

const clientRuns = process.env['WARMWARDEN_SLOW'] ? 50_000 : 500;

/** What a server may do to the text of a good answer. */
const mangled: fc.Arbitrary<(text: string) => string> = fc.oneof(
  fc.nat().map((at) => (text: string) => text.slice(0, at % (text.length + 1))),
  fc.tuple(fc.nat(), fc.string({ maxLength: 5 })).map(([at, put]) => (text: string) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + put + text.slice(place);
  }),
  fc.constantFrom(
    (text: string) => `<${text}`,
    (text: string) => `${text}${text}`,
    (text: string) => `[${text}]`,
    () => '',
    () => '{}',
    () => '{"error":"no"}',
    () => '{"mailboxes":null,"stats":{},"status":[]}',
  ),
);
const statuses = fc.constantFrom(200, 200, 200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 429, 500, 503);
const retryAfters = fc.constantFrom(
  undefined,
  '0',
  '-1',
  '1e9',
  'soon',
  'Tue, 10 Mar 2026 08:30:30 GMT',
  '9'.repeat(99),
);

test('mutated answers to the client are values or failures, never an exception, and never lead to a write', async () => {
  const good = await samples();
  let [body, status, retryAfter]: [string, number, string | undefined] = ['', 200, undefined];
  await using server = await startScripted((response) => {
    const headers = {
      'content-type': 'application/json',
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    };
    response.writeHead(status, headers).end(status === 204 ? undefined : body);
  });
  await using client = clientOf(server.url);
  const { api } = client;
  const asks: readonly ((api: ApiClient, id: string) => Promise<Result<Observed<unknown>>>)[] =
    Object.values(questions);
  const kinds = new Map<string, number>();
  const count = (kind: string) => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const shape = fc.record({
    route: fc.nat({ max: asks.length - 1 }),
    mutations: fc.array(fc.tuple(fc.nat(), planted), { maxLength: 3 }),
    mangles: fc.array(mangled, { maxLength: 1 }),
    status: statuses,
    retryAfter: retryAfters,
  });
  await fc.assert(
    fc.asyncProperty(shape, async (given) => {
      const plain = good[given.route] ?? {};
      let mutated = plain;
      const all = places(plain);
      for (const [place, put] of given.mutations) {
        try {
          mutated = changed(mutated, all[place % all.length] ?? [], put);
        } catch {
          // An earlier mutation took the place away.
        }
      }
      [body, status, retryAfter] = [JSON.stringify(mutated), given.status, given.retryAfter];
      for (const mangle of given.mangles) body = mangle(body);
      const result = await asks[given.route]?.(api, idOf(plain));
      if (result === undefined) return false;
      count(result.ok ? 'answer' : result.failure.kind);
      if (result.ok) return plainNumbersOnly(result.value.answer);
      const { detail, retryAfterMs } = result.failure;
      return detail.length < 400 && (retryAfterMs === null || (retryAfterMs >= 1_000 && retryAfterMs <= 900_000));
    }),
    { numRuns: clientRuns },
  );
  // Every outcome came up, so that nothing is true of nothing.
  expect([...kinds.keys()].sort()).toEqual([
    'answer',
    'malformed',
    'missing',
    'refused',
    'throttled',
    'unauthorized',
    'unavailable',
  ]);
  expect(server.received.length).toBeGreaterThanOrEqual(clientRuns);
  expect(server.received.filter(({ method }) => method !== 'GET')).toEqual([]);
}, 600_000);

function idOf(body: Json): string {
  return String(body.mailbox_id ?? body.id ?? 'a');
}
