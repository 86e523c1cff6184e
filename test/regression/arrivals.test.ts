// A list with 20,000 new mailboxes held the event loop for 0.13 s and more: pages, probes and other accounts waited for it.
import { expect, test } from 'vitest';
import type { MailboxApi } from '../../src/api/client.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { amelia, type Duty, goOnDuty, stormOf } from '../account/duty.ts';

const arriving = 20_000;
const unanswered = () => new Promise<never>(() => {});

/** From now on the list has so many more, and nothing else is answered. Says whether that list has come. */
function arrive(duty: Duty): () => boolean {
  let came = false;
  const api: MailboxApi = duty.api();
  const mailboxes = api.mailboxes.bind(api);
  api.mailboxes = async () => {
    const got = await mailboxes();
    const [like] = got.ok ? got.value.answer.mailboxes : [];
    if (!got.ok || !like) return got;
    came = true;
    const email = (number: number) => `m${number}@d${number % 50}.example`;
    const more = Array.from({ length: arriving }, (_, number) => ({ ...like, id: `m${number}`, email: email(number) }));
    const answer = { ...got.value.answer, mailboxes: [...got.value.answer.mailboxes, ...more] };
    return { ok: true, value: { ...got.value, answer } };
  };
  for (const route of ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const) api[route] = unanswered;
  return () => came;
}

test('20,000 mailboxes that arrive at once are taken in, in turns of the event loop that leave room for others', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia) });
  await duty.run(minuteMs);
  const answered = arrive(duty);
  const account = () => [...duty.fleet().accounts()][0];
  /** Turns that others had while the list was taken in, and while its mailboxes were queued. */
  const turns = { taking: 0, joining: 0 };
  const over = new AbortController();
  const look = () => {
    const known = duty.fleet().mailboxCount() > arriving;
    const joined = (account()?.queueLength ?? 0) > arriving;
    if (answered() && !known) turns.taking += 1;
    if (known && !joined) turns.joining += 1;
    if (!over.signal.aborted) setImmediate(look);
  };
  look();
  for (let seconds = 0; seconds < 150 && (account()?.queueLength ?? 0) < arriving; seconds += 1) {
    await duty.run(secondMs);
  }
  over.abort();
  expect([duty.fleet().mailboxCount() > arriving, (account()?.queueLength ?? 0) > arriving]).toEqual([true, true]);
  // Pieces of 250 and fewer, however fast the machine is.
  expect(turns.taking).toBeGreaterThan(160);
  expect(turns.joining).toBeGreaterThan(40);
});
