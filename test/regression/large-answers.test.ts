// Large answers, and those that were made to be slow to read. docs/faults.md O6; many at once in test/http/many-large-answers.slow.ts.
import { describe, expect, test } from 'vitest';
import { answer, clientOf, startScripted } from '../api/scripted-server.ts';

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

describe('a large answer', () => {
  test('is read as a small one is', async () => {
    const mailboxes = Array.from({ length: 20_000 }, (_, index) => box(index));
    const text = JSON.stringify({ mailboxes: [...mailboxes, { id: '', email: 'no id' }] });
    expect(text.length).toBeGreaterThan(4 * mebibyte);
    await using server = await startScripted((response) => response.end(text));
    await using client = clientOf(server.url);
    const list = await client.api.mailboxes();
    if (!list.ok) throw new Error(list.failure.detail);
    expect(list.value.answer.truncated).toBe(true);
    expect(list.value.answer.mailboxes).toHaveLength(20_000);
    expect(list.value.answer.mailboxes.at(-1)).toEqual({
      ...{ id: 'm19999', email: 'box19999@large.example', provider: 'google', status: 'active' },
      ...{ healthScore: 98.5, dailyLimit: 40, warmupDay: 12 },
    });
  });

  test('is refused, doubted and freed of keys as a small one is', async () => {
    const padding = '~'.repeat(2 * mebibyte);
    const bodies = [
      { padding, stats: [{ date: '2026-03-10', sent: 'many' }] },
      { padding, error: 'sk_live_never_to_be_seen_0123456789 is tired' },
      { padding, mailbox_id: 'another' },
      [padding],
    ];
    const said: unknown[] = [];
    for (const body of bodies) {
      await using server = await startScripted(answer(200, body));
      await using client = clientOf(server.url);
      const result = await client.api.stats('a');
      said.push(result.ok ? client.said : result.failure.detail.replaceAll('~', ''));
    }
    expect(said).toEqual([
      ['stats.sent is not a plain number: "many"; it counts as unknown'],
      expect.stringMatching(/^GET \/v1\/stats: HTTP 200, but it says: /),
      'GET /v1/stats: HTTP 200, but the answer is about another mailbox',
      expect.stringMatching(/^GET \/v1\/stats: HTTP 200, but the body is not a JSON object: /),
    ]);
    expect(JSON.stringify(said)).not.toContain('sk_live_');
  });
});

test('a field that is no text where one is expected is a failure, never an exception', async () => {
  for (const odd of ['{"toString": 1}', `${'['.repeat(50_000)}${']'.repeat(50_000)}`]) {
    await using server = await startScripted((response) => response.end(`{"mailbox_id": ${odd}}`));
    await using client = clientOf(server.url);
    expect(await client.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'malformed' } });
    await using later = await startScripted((response) => response.writeHead(429).end(`{"retry_after": ${odd}}`));
    await using notified = clientOf(later.url);
    expect(await notified.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'throttled', status: 429 } });
  }
});
