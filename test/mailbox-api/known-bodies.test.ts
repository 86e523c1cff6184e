// The same bytes as before are the same answer, and are not read; other bytes always are.
import { expect, test } from 'vitest';
import type { Result } from '../../src/http/failure.ts';
import { KnownBodies } from '../../src/mailbox-api/known-bodies.ts';

const failure = { kind: 'malformed', status: 200, detail: 'no JSON', retryAfterMs: null } as const;

function reading() {
  const bodies = new KnownBodies();
  const counts = { read: 0 };
  const read = async (text: string, known: object | null): Promise<Result<object>> =>
    bodies.read(Buffer.from(text), known, async () => {
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

test('a body that can’t be read is never known', async () => {
  const { counts, read } = reading();
  for (let times = 0; times < 2; times += 1) expect(await read('bad', null)).toMatchObject({ ok: false });
  expect(counts.read).toBe(2);
});
