// A rate over the limit with too few bounces, and a burst that the emails of a week hide: told as what they are, acted on when more comes.
import { expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { scrape } from '../support/scrape.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll } from './three-domains.ts';

const slow: MailboxSpec = { email: 'slow@acme.example', provider: 'google', mode: 'slow', startedDaysAgo: 8 };
/** Long enough for one email of a slow mailbox. */
const oneMail = (mailbox: string, from: number): Incident => ({
  kind: 'bounce',
  mailbox,
  rate: 1,
  from,
  until: from + 70 * minuteMs,
});

it('one bounce of a slow mailbox is over_limit everywhere and told as info; the second is acted on', async () => {
  const incidents = [oneMail(slow.email, 4 * hourMs), oneMail(slow.email, 6 * hourMs)];
  await using stage = await startMovedDaemon({
    scenario: { name: 'over', summary: 'One bounce, then another.', fleet: [slow], incidents },
    poll,
    isInfoTold: true,
  });
  const notified = () => stage.told('bounce_over_limit');
  await stage.until('the bounce to be told', () => notified().length > 0, 8 * hourMs);
  expect(stage.posts).toEqual([]);
  expect(notified()).toMatchObject([{ status: 'firing', severity: 'info', mailbox: slow.email }]);
  expect(notified()[0]?.sentences[0]).toMatch(
    /^1 bounce in \d+ emails .*over the slow limit of 0\.5%.*1 more bounce would be a breach\./,
  );
  const { headline, mailboxes } = await stage.json<{ headline: string; mailboxes: { state: string }[] }>('/api/fleet');
  expect(mailboxes.map(({ state }) => state)).toEqual(['over_limit']);
  expect(headline).toContain('1 mailbox over the limit and not acted on');
  const metrics = await scrape(stage.url());
  expect(metrics.value('guard_state', { mailbox: slow.email, state: 'over_limit' })).toBe(1);

  await stage.until(
    'the second bounce to be acted on',
    () => stage.mailbox(slow.email).memory?.claim?.kind === 'recovery',
    3 * hourMs,
  );
  await stage.until('the end to be told', () => notified().length > 1, hourMs);
  expect(notified()[1]).toMatchObject({ status: 'resolved' });
  expect(stage.posts).toMatchObject([{ email: slow.email, change: 'recovery' }]);
});

const fast: MailboxSpec = { email: 'fast@acme.example', provider: 'google', mode: 'aggressive', startedDaysAgo: 60 };
/** About ten emails an hour: seven of them bounce, and 400 emails of the week allow eight. */
const incident: Incident = { kind: 'bounce', mailbox: fast.email, rate: 0.1, from: hourMs, until: 9 * hourMs };
const scenario = { name: 'burst', summary: 'A burst.', fleet: [fast], incidents: [incident] };

it('a burst is announced as a warning while the window is within its limit; with burst: act it is acted on', async () => {
  await using stage = await startMovedDaemon({ scenario, poll });
  await stage.until('the burst to be told', () => stage.notified('bounce_burst').length > 0, 9 * hourMs);
  expect(stage.notified('bounce_burst')).toEqual(['firing']);
  expect(stage.mailbox(fast.email).verdict?.answer).toMatchObject({ action: 'none', reason: 'ok' });
  expect(stage.posts).toEqual([]);
  await stage.reload((config) => {
    config['guard'] = { burst: 'act' };
  });
  await stage.until('the action', () => stage.mailbox(fast.email).memory?.claim?.kind === 'recovery', hourMs);
  expect(stage.posts).toMatchObject([{ email: fast.email, change: 'recovery' }]);
  await stage.until('its end', () => stage.notified('bounce_burst').length > 1, hourMs);
  expect(stage.notified('bounce_burst')).toEqual(['firing', 'resolved']);
});
