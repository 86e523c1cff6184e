// 16 answers of 32 MiB at once, of every shape that takes long to read: docs/faults.md O6 in full size.
import { expect, test } from 'vitest';
import { clientOf } from '../api/scripted-server.ts';
import { startLargeApi } from '../support/large-api.ts';

const mebibyte = 1024 * 1024;
const entry = `{"id":"m","email":"m@x.example","provider":"google","status":"active","health_score":98,"daily_limit":40,"warmup_day":3},`;

test.each([
  ['a list of mailboxes', ['{"mailboxes":[', entry, '{}]}']],
  ['a list of empty objects', ['{"mailboxes":[', '{},', '{}]}']],
  ['a list of lists', ['{"mailboxes":[', '[[]],', '{}]}']],
  ['one long text', ['{"mailboxes":[],"notes":"', 'x', '"}']],
  ['a text of escapes', ['{"mailboxes":[],"notes":"', '\\u0073', '"}']],
  ['names of fields', ['{"mailboxes":{"":0', ',"a":1', '}}']],
  ['other names of fields', ['{"mailboxes":{"":0', ',"#":1', '}}']],
  ['other names of fields of the answer', ['{"mailboxes":[]', ',"f#":1', '}']],
  ['other texts', ['{"mailboxes":[""', ',":#"', ']}']],
  ['depth', ['{"mailboxes":[', '[', ']}']],
] as const)(
  '%s',
  async (_, body) => {
    const repeated = Math.floor((32 * mebibyte - 100) / Buffer.byteLength(body[1].replace('#', '1234567')));
    await using server = await startLargeApi({ body, repeated, together: 16 });
    await using client = clientOf(server.url);
    await using other = clientOf(`${server.url}/small`);
    const [large, small] = await Promise.all([
      Promise.all(Array.from({ length: 16 }, () => client.api.mailboxes())),
      Promise.all(Array.from({ length: 8 }, () => other.api.health())),
    ]);
    // Two fit at a time; those that come once one was read may fit, too.
    expect(large.filter(({ ok }) => ok).length).toBeLessThan(8);
    expect(small.every(({ ok }) => ok)).toBe(true);
  },
  300_000,
);

const list = ['{"mailboxes":[', `{"id":"m","email":"m@x.example","notes":"${'x'.repeat(4_000)}"},`, '{}]}'] as const;

test('many large answers take 64 MiB at most; what does not fit is refused, small ones of other accounts are not', async () => {
  await using server = await startLargeApi({ body: list, repeated: 3_000, together: 16 });
  await using hostile = clientOf(server.url);
  await using other = clientOf(`${server.url}/small`);
  const asked = Array.from({ length: 16 }, () => hostile.api.mailboxes());
  const small = await Promise.all(Array.from({ length: 8 }, () => other.api.health()));
  const large = await Promise.all(asked);
  const refused = large.filter((result) => !result.ok);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(16);
  for (const result of refused) {
    expect(result).toMatchObject({
      failure: { kind: 'malformed', detail: expect.stringContaining('too many answers are in progress') },
    });
  }
  expect(small.every(({ ok }) => ok)).toBe(true);
  expect(await hostile.api.mailboxes()).toMatchObject({ ok: true });
});

test('many large answers may be small on the wire: what they unfold to counts', async () => {
  await using server = await startLargeApi({ body: ['{"a":"', '0', '"}'], repeated: 10 * mebibyte, gzip: true });
  await using client = clientOf(server.url);
  const value = await Promise.all(Array.from({ length: 16 }, () => client.api.health()));
  expect(value.filter(({ ok }) => !ok).length).toBeGreaterThan(0);
});
