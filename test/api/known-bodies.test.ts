// The same bytes as before are the same answer, and are not read; other bytes always are.
import { expect, test } from 'vitest';
import type { Result } from '../../src/api/http/failure.ts';
import { type Known, KnownBodies, Seen } from '../../src/api/known-bodies.ts';

interface Text {
  readonly text: string;
}

const failure = { kind: 'malformed', status: 200, detail: 'no JSON', retryAfterMs: null } as const;
/** As the store has it: nobody knows the bytes that it was read from. */
const stored: Known<Text> = { answer: { text: 'of the store' }, body: null, by: null };

function reading() {
  const bodies = new KnownBodies();
  const counts = { read: 0 };
  const read = async (text: string, known: Known<Text> | null, headers = {}, by = bodies): Promise<Known<Text>> => {
    const result = await by.read<Text>({ body: Buffer.from(text), headers }, known, async (): Promise<Result<Text>> => {
      counts.read += 1;
      return text === 'bad' ? { ok: false, failure } : { ok: true, value: { text } };
    });
    return result.ok ? result.value : expect.fail(result.failure.detail);
  };
  return { counts, read };
}

test('the same bytes are the answer that was read from them; others are read', async () => {
  const { counts, read } = reading();
  const known = await read('one', stored);
  expect(known.answer).toEqual({ text: 'one' });
  expect([(await read('one', known)).answer === known.answer, counts.read]).toEqual([true, 1]);
  expect((await read('two', known)).answer).toEqual({ text: 'two' });
  expect(counts.read).toBe(2);
});

test('what was read from other bytes, or by another process, is read again', async () => {
  const { counts, read } = reading();
  await read('of the store', stored);
  expect(counts.read).toBe(1);
  await read('one', await read('other', stored));
  expect(counts.read).toBe(3);
});

test('what another client read is read again: it may have hidden other secrets', async () => {
  const { counts, read } = reading();
  const known = await read('one', stored, {}, new KnownBodies());
  expect((await read('one', known)).answer).toEqual({ text: 'one' });
  expect(counts.read).toBe(2);
});

test('the same bytes with another Link header are read: it says whether a list is whole', async () => {
  const { counts, read } = reading();
  const known = await read('one', stored);
  await read('one', known, { link: '<https://api.example/2>; rel="next"' });
  expect(counts.read).toBe(2);
});

test('a body of more than 4 MiB is read each time: hashing it would take too long', async () => {
  const { counts, read } = reading();
  const text = 'x'.repeat(4 * 1024 * 1024 + 1);
  await read(text, await read(text, stored));
  expect(counts.read).toBe(2);
});

test('a body that can’t be read is never known', async () => {
  const { counts, read } = reading();
  for (let times = 0; times < 2; times += 1) await expect(read('bad', stored)).rejects.toThrow('no JSON');
  expect(counts.read).toBe(2);
});

test('what tells the body stands in an answer that was read, and neither in its JSON nor in what it is compared with', () => {
  const by = new KnownBodies();
  const seen = new Seen(7, { answer: 1, body: 'hash', by });
  expect(Seen.known(seen)).toEqual({ answer: 1, body: 'hash', by });
  expect([JSON.parse(JSON.stringify(seen)), Seen.known({ at: 7, answer: 1 })]).toEqual([
    { at: 7, answer: 1 },
    { answer: 1, body: null, by: null },
  ]);
  expect({ ...seen }).toEqual({ at: 7, answer: 1 });
});
