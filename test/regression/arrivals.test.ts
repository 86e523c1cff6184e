// A list with 20,000 new mailboxes held the event loop for 0.13 s and more: pages, probes and other accounts waited for it.
import { expect, test } from 'vitest';
import type { MailboxApi } from '../../src/mailbox-api/client.ts';
import { minuteMs, secondMs } from '../../src/model/time.ts';
import { longestTurn } from '../support/loop-hold.ts';
import { amelia, type Duty, goOnDuty, stormOf } from '../watch/duty.ts';

const arriving = 20_000;
const unanswered = () => new Promise<never>(() => {});

/** From now on the list has so many more, and nothing else is answered. */
function arrive(duty: Duty): void {
  const api: MailboxApi = duty.api();
  const mailboxes = api.mailboxes.bind(api);
  api.mailboxes = async () => {
    const got = await mailboxes();
    const [like] = got.ok ? got.value.answer.mailboxes : [];
    if (!got.ok || !like) return got;
    const email = (number: number) => `m${number}@d${number % 50}.example`;
    const more = Array.from({ length: arriving }, (_, number) => ({ ...like, id: `m${number}`, email: email(number) }));
    const answer = { ...got.value.answer, mailboxes: [...got.value.answer.mailboxes, ...more] };
    return { ok: true, value: { ...got.value, answer } };
  };
  for (const route of ['stats', 'warmup', 'mailbox', 'dns', 'blacklist'] as const) api[route] = unanswered;
}

test('20,000 mailboxes that arrive at once are taken in, in turns of the event loop that leave room for others', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia) });
  await duty.run(minuteMs);
  arrive(duty);
  let longestMs = 0;
  const account = () => [...duty.fleet().accounts()][0];
  for (let seconds = 0; seconds < 150 && (account()?.queueLength ?? 0) < arriving; seconds += 1) {
    const { ms } = await longestTurn(() => duty.run(secondMs));
    longestMs = Math.max(longestMs, ms);
  }
  expect([duty.fleet().mailboxCount() > arriving, (account()?.queueLength ?? 0) > arriving]).toEqual([true, true]);
  expect(longestMs).toBeLessThan(100);
});
