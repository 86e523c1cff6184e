// Large answers, and those that were made to be slow to read. docs/faults.md O6; many at once in test/http/large-answers.slow.ts.
import { expect, test } from 'vitest';
import { askScripted } from '../api/scripted-server.ts';

const mebibyte = 1024 * 1024;

const box = (index: number) => ({
  id: `m${index}`,
  email: `box${index}@large.example`,
  provider: 'google',
  status: 'active',
  health_score: '98.50',
  daily_limit: 40,
  warmup_day: 12,
  notes: 'x'.repeat(100),
});

test('a large answer is read as a small one is', async () => {
  const mailboxes = Array.from({ length: 20_000 }, (_, index) => box(index));
  const text = JSON.stringify({ mailboxes: [...mailboxes, { id: '', email: 'no id' }] });
  expect(text.length).toBeGreaterThan(4 * mebibyte);
  await using client = await askScripted((response) => response.end(text));
  const list = await client.api.mailboxes();
  if (!list.ok) throw new Error(list.failure.detail);
  expect(list.value.answer.truncated).toBe(true);
  expect(list.value.answer.mailboxes).toHaveLength(20_000);
  expect(list.value.answer.mailboxes.at(-1)).toEqual({
    ...{ id: 'm19999', email: 'box19999@large.example', provider: 'google', status: 'active' },
    ...{ healthScore: 98.5, dailyLimit: 40, warmupDay: 12 },
  });
});

test('a field that is no text where one is expected is a failure, never an exception', async () => {
  for (const odd of ['{"toString": 1}', `${'['.repeat(50_000)}${']'.repeat(50_000)}`]) {
    await using client = await askScripted((response) => response.end(`{"mailbox_id": ${odd}}`));
    expect(await client.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'malformed' } });
    await using later = await askScripted((response) => response.writeHead(429).end(`{"retry_after": ${odd}}`));
    expect(await later.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'throttled', status: 429 } });
  }
});
