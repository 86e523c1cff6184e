// A POST that was answered with 429 or another 4xx and was applied all the same (docs/faults.md O4): it was disowned.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { type Duty, goOnDuty, rarePoll } from '../account/duty.ts';
import type { Meddling } from '../account/go-between.ts';

const isPost = ({ method }: { readonly method: string }) => method === 'POST';
const isLook = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === 'GET' && path.startsWith('/v1/warmup');

const error = (status: number) => ({ status, body: { error: 'no' } });
const throttled = (seconds: number) => ({ ...error(429), headers: { 'retry-after': String(seconds) } });
const applied = true as const;
/** The breach is there when the watch begins, so it is acted upon within minutes. */
const breached = { poll: rarePoll, afterMs: 3 * hourMs };

/** What becomes of the first POST; all later ones pass. */
function firstPost(duty: Duty, fate: Meddling): void {
  const fates = [fate];
  duty.meddleWithPosts(() => fates.pop() ?? 'pass');
}

const settled = (duty: Duty) => duty.until(() => duty.action()?.state === 'confirmed');

test.each([
  { name: '429 with Retry-After', answer: throttled(90) },
  { name: '429 without Retry-After', answer: error(429) },
  ...[400, 401, 403, 404, 409].map((status) => ({ name: String(status), answer: error(status) })),
  { name: '200 with an error', answer: { status: 200, body: { success: false, message: 'no' } } },
])('what is there after a refusal ($name) is confirmed, claimed and announced, with one POST', async ({ answer }) => {
  await using duty = await goOnDuty(breached);
  firstPost(duty, { ...answer, applied });
  await settled(duty);
  await duty.run(40 * minuteMs);
  expect([duty.posts().length, duty.action()?.attempts]).toEqual([1, 1]);
  expect(duty.mailbox()?.memory?.claim).toMatchObject({ kind: 'recovery', actionId: duty.action()?.id });
  expect(duty.mailbox()?.changes).toEqual([]);
  expect(await duty.notified()).toEqual(['event guard_acted confirmed']);
  expect(duty.account()).toMatchObject({ keyWrites: true, keyRejected: false });
});

test('until the look has answered it is unconfirmed, not refused, and looked for before a second POST', async () => {
  await using duty = await goOnDuty(breached);
  let blindUntil = Number.POSITIVE_INFINITY;
  duty.between.meddle = (request) => {
    if (isPost(request)) {
      blindUntil = duty.clock.now() + 40 * secondMs;
      return { ...error(403), applied };
    }
    const isHidden = isLook(request) && duty.posts().length > 0 && duty.clock.now() < blindUntil;
    return isHidden ? error(500) : 'pass';
  };
  await duty.until(() => duty.action()?.state === 'unconfirmed');
  expect(duty.account()?.keyWrites).toBeNull();
  await settled(duty);
  expect([duty.posts().length, duty.mailbox()?.memory?.claim?.kind]).toEqual([1, 'recovery']);
});
