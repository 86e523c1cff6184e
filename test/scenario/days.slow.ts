// Incidents of a day and more, through the whole daemon: DNS, listings, logins, and a pause of the vendor's own.
import { expect, test } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const amelia = 'amelia.ward@northbeam.example';
const oliver = 'oliver.hart@northbeam.example';
const vendorPause = scenarios['vendor-pause'];
const hourly = {
  health: '0 * * * *',
  mailboxes: '0 * * * *',
  stats: '5 * * * *',
  warmup: '8 */6 * * *',
  mailbox: '29 * * * *',
  dns: '17 * * * *',
  blacklist: '41 * * * *',
};
const rare = { ...hourly, mailboxes: '*/10 * * * *', stats: '*/30 * * * *', warmup: '*/30 * * * *' };
/** Without the reminders of what lasts. */
const steps = (stage: MovedDaemon, rule: string) => stage.notified(rule).filter((status) => status !== 'reminder');

test('a DNS break is told once a domain and resolved; listings once an address; nothing is written', async () => {
  const incidents = [...scenarios['dns-break'].incidents, ...scenarios.listings.incidents];
  const fleet = scenarios.calm.fleet.filter(({ email }) => /@(cedarlane|harborlight|fernhill)\./.test(email));
  await using stage = await startMovedDaemon({ scenario: { ...scenarios.calm, fleet, incidents }, poll: hourly });
  await stage.run(32 * hourMs);
  expect([steps(stage, 'dns_failing').sort(), steps(stage, 'blacklisted').sort(), stage.posts]).toEqual([
    ['firing', 'firing', 'resolved', 'resolved'],
    ['firing', 'firing', 'resolved', 'resolved'],
    [],
  ]);
});

test('disconnections are told mailbox by mailbox and end with the login', async () => {
  await using stage = await startMovedDaemon({
    scenario: scenarios.disconnections,
    poll: { ...hourly, mailboxes: '*/15 * * * *' },
  });
  await stage.run(26 * hourMs);
  const notified = steps(stage, 'mailbox_unwell');
  expect([
    notified.filter((status) => status === 'firing').length,
    notified.filter((status) => status === 'resolved').length,
  ]).toEqual([7, 7]);
  expect(stage.posts).toEqual([]);
});

test('the vendor’s own pause is nobody’s claim: it is not doubled, not resumed, and what burns after it is acted upon', async () => {
  await using stage = await startMovedDaemon({
    scenario: { ...vendorPause, fleet: vendorPause.fleet.filter(({ email }) => [amelia, oliver].includes(email)) },
    poll: rare,
  });
  await stage.run(5 * hourMs);
  expect([stage.mailbox(oliver).verdict?.answer.reason, stage.mailbox(oliver).memory?.claim]).toEqual([
    'already_paused',
    null,
  ]);
  const before = stage.posts.filter(({ email }) => email === oliver);
  await stage.run(24 * hourMs);
  expect([before, stage.posts.some(({ change }) => change === 'resume')]).toEqual([[], false]);
  expect(stage.mailbox(oliver).verdict?.answer.reason).toBe('ok');
});
