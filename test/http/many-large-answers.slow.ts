// Many large answers at once, of several accounts: what they hold together, and for how long. docs/faults.md O6.
import { describe, expect, test } from 'vitest';
import { clientOf } from '../api/scripted-server.ts';
import { startLargeApi } from '../support/large-api.ts';
import { longestTurn } from '../support/loop-hold.ts';

const mebibyte = 1024 * 1024;
/** In yardsticks. */
const longestHold = 30;

describe('many large answers at once', () => {
  const list = ['{"mailboxes":[', `{"id":"m","email":"m@x.example","notes":"${'x'.repeat(4_000)}"},`, '{}]}'] as const;

  test('take 64 MiB at most; what does not fit is refused, small ones of other accounts are not', async () => {
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

  test('of half a mebibyte each are read in turns', async () => {
    const body = ['{"mailboxes":[', '{},', '{}]}'] as const;
    await using server = await startLargeApi({ body, repeated: 170_000, together: 16 });
    await using client = clientOf(server.url);
    const { value, yardsticks } = await longestTurn(() =>
      Promise.all(Array.from({ length: 16 }, () => client.api.mailboxes())),
    );
    expect(value.every((result) => result.ok && result.value.answer.truncated)).toBe(true);
    expect(yardsticks).toBeLessThan(longestHold);
  });

  test('may be small on the wire: what they unfold to counts', async () => {
    await using server = await startLargeApi({ body: ['{"a":"', '0', '"}'], repeated: 10 * mebibyte, gzip: true });
    await using client = clientOf(server.url);
    const value = await Promise.all(Array.from({ length: 16 }, () => client.api.health()));
    expect(value.filter(({ ok }) => !ok).length).toBeGreaterThan(0);
  });
});
