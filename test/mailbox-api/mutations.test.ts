// Thousands of answers that were good once: whatever a server does to them, the readers answer and do not throw.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Reader,
  readBlacklist,
  readDetail,
  readDns,
  readHealth,
  readMailboxes,
  readStats,
  readWarmup,
} from '../../src/mailbox-api/answers.ts';
import { scenarioStart } from '../../src/simulator/scenarios.ts';
import { ann, bob, type Json, scenarioOf, serve } from '../simulator/served.ts';

const runs = 1_000;

/** Real answers of the simulator by the reader that reads them. */
async function samples(): Promise<readonly (readonly [Reader<unknown>, Json])[]> {
  const incidents = [{ kind: 'listing', mailbox: '*', lists: ['zen.example'], from: 0 }] as const;
  await using it = await serve({ scenario: scenarioOf([ann, bob], incidents), startAt: scenarioStart });
  await it.clock.advance(3 * 3_600_000);
  const id = it.idOf(ann.email);
  const body = async (path: string) => (await it.ask(path)).body;
  return [
    [readHealth, await body('/v1/health')],
    [readMailboxes, await body('/v1/mailboxes')],
    [readDetail, await body(`/v1/mailboxes/${id}`)],
    [readWarmup, await body(`/v1/warmup?mailbox_id=${id}`)],
    [readStats, await body(`/v1/stats?mailbox_id=${id}&days=5`)],
    [readDns, await body(`/v1/dns?mailbox_id=${id}`)],
    [readBlacklist, await body(`/v1/blacklist?mailbox_id=${id}`)],
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

test('mutated answers are read or refused, never thrown at, and hold no number that JSON has not', async () => {
  const good = await samples();
  let readable = 0;
  for (const [read, body] of good) {
    expect(read(body)).not.toBeNull();
    const mutation = fc.tuple(fc.constantFrom(...places(body)), planted);
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        let mutated = body;
        for (const [path, put] of mutations) {
          try {
            mutated = changed(mutated, path, put);
          } catch {
            // An earlier mutation took the place away.
          }
        }
        const answer = read(mutated);
        if (answer !== null) readable += 1;
        return answer === null || plainNumbersOnly(answer);
      }),
      { numRuns: runs },
    );
  }
  expect(readable).toBeGreaterThan(runs);
});
