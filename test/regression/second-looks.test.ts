// What a process saw once, or before a mailbox left, and what of it the next one goes by.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { calmPoll, goOnDuty, oliver, stormOf } from '../account/duty.ts';

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
