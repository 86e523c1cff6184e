// What a process saw once, or before a mailbox left, and what of it the next one goes by.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, calmPoll, goOnDuty, oliver, rarePoll, stormOf } from '../account/duty.ts';

const passing = { status: 'pass', record: 'v=spf1 -all' };
const dnsOf = (spf: unknown, measuredAt: number) => ({
  domain: 'northbeam.example',
  checked_at: new Date(measuredAt).toISOString(),
  ...{ spf, dkim: passing, dmarc: passing },
});
const troubles = [
  ['mailbox_unwell', '/v1/mailboxes/', () => ({ status: 'active', connection_error: 'IMAP login failed' })],
  ['mailbox_unwell', '/v1/mailboxes/', () => ({ status: 'molting', connection_error: null })],
  ['dns_failing', '/v1/dns', (now: number) => dnsOf({ status: 'fail', record: null }, now)],
  ['stale_data', '/v1/dns', (now: number) => dnsOf(passing, now - 50 * 60 * minuteMs)],
] as const;

test.each(troubles)('%s fires soon after a restart between its first look and its second', async (rule, path, body) => {
  await using duty = await goOnDuty({ scenario: stormOf(oliver), poll: calmPoll });
  duty.between.meddle = (request) => {
    if (!request.path.startsWith(path)) return 'pass';
    const id = /([^/=]+)$/.exec(request.path.replace(/&.*/, ''))?.[1];
    return { status: 200, body: { id, mailbox_id: id, email: oliver, ...body(duty.clock.now()) } };
  };
  await duty.until(() => duty.alert(rule)?.status === 'pending');
  await duty.restart();
  expect(duty.alert(rule)).toMatchObject({ status: 'pending', firesAt: null });
  await duty.until(() => duty.alert(rule)?.status === 'firing', 10 * minuteMs);
});

test('a mailbox that comes back under its old id has no alert about old data, also after a restart; what the guard remembers stays', async () => {
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
  await duty.run(5 * minuteMs);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.mailbox()?.verdict != null);
  expect((await duty.notified()).filter((one) => /firing (stale_data|dns|blacklist)/.test(one))).toEqual([]);
});
