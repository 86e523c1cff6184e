// A burst of bounces that the emails of a whole week hide: announced once, resolved when its days are over.
import { expect, it } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll } from './three-domains.ts';

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
