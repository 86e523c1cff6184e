// The same bytes as before are the same answer, and are not read; other bytes always are.
import { expect, test } from 'vitest';
import type { Result } from '../../src/http/failure.ts';
import { KnownBodies } from '../../src/mailbox-api/known-bodies.ts';

const failure = { kind: 'malformed', status: 200, detail: 'no JSON', retryAfterMs: null } as const;

function reading() {
  const bodies = new KnownBodies();
  const counts = { read: 0 };
  const read = async (text: string, known: object | null, headers = {}): Promise<Result<object>> =>
    bodies.read({ body: Buffer.from(text), headers }, known, async () => {
      counts.read += 1;
      return text === 'bad' ? { ok: false, failure } : { ok: true, value: { text } };
    });
  return { counts, read };
}

test('the same bytes are the answer that was read from them; others are read', async () => {
  const { counts, read } = reading();
  const first = await read('one', null);
  const known = first.ok ? first.value : expect.fail();
  expect(await read('one', known)).toEqual({ ok: true, value: known });
  expect([(await read('one', known)) === first, counts.read]).toEqual([false, 1]);
  expect(await read('two', known)).toEqual({ ok: true, value: { text: 'two' } });
  expect(counts.read).toBe(2);
});

test('what was read from other bytes, or by another process, is read again', async () => {
  const { counts, read } = reading();
  await read('one', { text: 'one' });
  expect(counts.read).toBe(1);
  await read('one', { text: 'of the store' });
  expect(counts.read).toBe(2);
});

test('the same bytes with another Link header are read: it says whether a list is whole', async () => {
  const { counts, read } = reading();
  const first = await read('one', null);
  const known = first.ok ? first.value : expect.fail();
  await read('one', known, { link: '<https://api.example/2>; rel="next"' });
  expect(counts.read).toBe(2);
});

test('a body of more than 4 MiB is read each time: hashing it would take too long', async () => {
  const { counts, read } = reading();
  const text = 'x'.repeat(4 * 1024 * 1024 + 1);
  const first = await read(text, null);
  await read(text, first.ok ? first.value : expect.fail());
  expect(counts.read).toBe(2);
});

test('a body that can’t be read is never known', async () => {
  const { counts, read } = reading();
  for (let times = 0; times < 2; times += 1) expect(await read('bad', null)).toMatchObject({ ok: false });
  expect(counts.read).toBe(2);
});
