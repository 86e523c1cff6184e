// A rate over the limit with too few bounces: told as what it is, acted on when more comes.
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
