// Many large answers at once, of several accounts: what they hold together, and for how long. docs/faults.md O6.
import { describe, expect, test, vi } from 'vitest';
import { heldAnswers } from '../../src/api/http/exchange.ts';
import { HeldAnswers } from '../../src/api/http/receive.ts';
import { clientOf } from '../api/scripted-server.ts';
import { startLargeApi } from '../support/large-api.ts';
import { longestTurn } from '../support/loop-hold.ts';

const mebibyte = 1024 * 1024;
/** In yardsticks. */
const longestHold = 30;

/** The most bytes of answers that were held while `work` went on. */
async function mostHeld<Value>(work: () => Promise<Value>): Promise<{ value: Value; bytes: number }> {
  let bytes = 0;
  const begin = vi.spyOn(heldAnswers, 'begin').mockImplementation(() => {
    const held = HeldAnswers.prototype.begin.call(heldAnswers);
    const add = held.add.bind(held);
    held.add = (more) => {
      const fits = add(more);
      bytes = Math.max(bytes, heldAnswers.bytes);
      return fits;
    };
    return held;
  });
  try {
    return { value: await work(), bytes };
  } finally {
    begin.mockRestore();
  }
}

describe('many large answers at once', () => {
  const list = ['{"mailboxes":[', `{"id":"m","email":"m@x.example","notes":"${'x'.repeat(4_000)}"},`, '{}]}'] as const;

  test('take 64 MiB at most; what does not fit is refused, small ones of other accounts are not', async () => {
    await using server = await startLargeApi({ body: list, repeated: 3_000, together: 16 });
    await using hostile = clientOf(server.url);
    await using other = clientOf(`${server.url}/small`);
    const asked = async () => {
      const large = Array.from({ length: 16 }, () => hostile.api.mailboxes());
      const small = Array.from({ length: 8 }, () => other.api.health());
      return [await Promise.all(large), await Promise.all(small)] as const;
    };
    const value = await mostHeld(asked);
    const [large, small] = value.value;
    expect(value.bytes).toBeLessThan(65 * mebibyte);
    expect(value.bytes).toBeGreaterThan(48 * mebibyte);
    const refused = large.filter((result) => !result.ok);
    expect(refused.length).toBeGreaterThan(2);
    expect(refused.length).toBeLessThan(16);
    for (const result of refused) {
      expect(result).toMatchObject({
        failure: { kind: 'malformed', detail: expect.stringContaining('too many answers are in progress') },
      });
    }
    expect(small.every(({ ok }) => ok)).toBe(true);
    expect(heldAnswers.bytes).toBe(0);
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
    const asked = () => Promise.all(Array.from({ length: 16 }, () => client.api.health()));
    const value = await mostHeld(asked);
    expect(value.bytes).toBeLessThan(65 * mebibyte);
    expect(value.value.filter(({ ok }) => !ok).length).toBeGreaterThan(0);
    expect(heldAnswers.bytes).toBe(0);
  });
});
