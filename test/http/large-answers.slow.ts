// 16 answers of 32 MiB at once, of every shape that takes long to read: docs/faults.md O6 in full size.
import { expect, test } from 'vitest';
import { clientOf } from '../api/scripted-server.ts';
import { startLargeApi } from '../support/large-api.ts';
import { longestTurn } from '../support/loop-hold.ts';

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
  async (what, body) => {
    const repeated = Math.floor((32 * mebibyte - 100) / Buffer.byteLength(body[1].replace('#', '1234567')));
    await using server = await startLargeApi({ body, repeated, together: 16 });
    await using client = clientOf(server.url);
    await using other = clientOf(`${server.url}/small`);
    const { value, yardsticks } = await longestTurn(() =>
      Promise.all([
        Promise.all(Array.from({ length: 16 }, () => client.api.mailboxes())),
        Promise.all(Array.from({ length: 8 }, () => other.api.health())),
      ]),
    );
    const [large, small] = value;
    const read = large.filter(({ ok }) => ok).length;
    process.stdout.write(`${what}: ${read} of 16 read; the longest turn took ${yardsticks.toFixed(1)} yardsticks\n`);
    // Two fit at a time; those that come once one was read may fit, too.
    expect(read).toBeLessThan(8);
    expect(small.every(({ ok }) => ok)).toBe(true);
  },
  300_000,
);
