// The four ways of counting, each told from the others by what it lets through.
import { describe, expect, test } from 'vitest';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { createLimiter, type LimiterKind, limiterKinds } from '../../tools/simulator/rate-limit.ts';

const limit = 60;

async function limiterOf(kind: LimiterKind, startsAfterMs = 0) {
  const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
  const limiter = createLimiter(kind, limit, clock);
  await clock.advance(startsAfterMs);
  /** How many of so many knocks at one moment are admitted. */
  const burst = (knocks = 3 * limit) =>
    Array.from({ length: knocks }, () => limiter.knock()).filter(({ admitted }) => admitted).length;
  return { clock, limiter, burst };
}

test.each([
  ['sliding', [60, 0, 60]],
  ['fixed', [60, 60, 0]],
  ['token_bucket', [60, 30, 30]],
  ['small_bucket', [6, 6, 6]],
] as const)(
  'a %s limiter lets %j through at once: after half a minute, one, and one and a half',
  async (kind, admitted) => {
    const { clock, burst } = await limiterOf(kind, 30_000);
    const counts: number[] = [];
    for (const _ of admitted) {
      counts.push(burst());
      await clock.advance(30_000);
    }
    expect(counts).toEqual(admitted);
  },
);

describe.each(limiterKinds)('a %s limiter', (kind) => {
  test('lets an even pace at its limit through, and nothing above it for long', async () => {
    const { clock, limiter } = await limiterOf(kind);
    const paced = async (everyMs: number, requests: number) => {
      let refused = 0;
      for (let request = 0; request < requests; request += 1) {
        if (!limiter.knock().admitted) refused += 1;
        await clock.advance(everyMs);
      }
      return refused;
    };
    expect(await paced(1_000, 300)).toBe(0);
    expect(await paced(500, 600)).toBeGreaterThan(200);
  });
});
