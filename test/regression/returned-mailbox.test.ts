// A mailbox that comes back under its old id: what was read before it left says nothing of now.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, goOnDuty, oliver, rarePoll, stormOf } from '../account/duty.ts';

test('no alert about old data fires for it, also after a restart; what the guard remembers stays', async () => {
  const out = new Set<string>();
  const selects = ({ email }: { readonly email: string }) => !out.has(email);
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver), selects, poll: rarePoll });
  await duty.until(() => duty.mailbox()?.memory?.claim?.kind === 'recovery');
  const { id, memory } = duty.mailbox() ?? {};
  out.add(amelia);
  await duty.until(() => duty.mailbox() === undefined);
  await duty.run(18 * hourMs);
  out.delete(amelia);
  // It is listed; nothing else of it can be read yet.
  duty.between.meddle = ({ path }) =>
    /stats|warmup|dns|blacklist/.test(path) ? { status: 500, body: { error: 'later' } } : 'pass';
  await duty.until(() => duty.mailbox() !== undefined);
  expect(duty.mailbox()).toMatchObject({ id, memory: { claim: memory?.claim }, stats: null, verdict: null });
  await duty.run(2 * minuteMs);
  await duty.restart();
  expect(duty.mailbox()?.stats).toBeNull();
  await duty.run(5 * minuteMs);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.mailbox()?.verdict != null);
  const firing = (await duty.notified()).filter((one) => /firing (stale_data|dns|blacklist)/.test(one));
  expect(firing).toEqual([]);
});
