// What others change in the mailbox app: a pause, a raised mode and limit are announced with what was, what is, and when.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import type { MailboxSpec } from '../../tools/simulator/scenario.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';
import { poll } from './three-domains.ts';

const calm: MailboxSpec = { email: 'calm@acme.example', provider: 'google', mode: 'balanced', startedDaysAgo: 40 };
const near: MailboxSpec = { email: 'slow@acme.example', provider: 'google', mode: 'slow', startedDaysAgo: 8 };

test('a pause and a raise by others are announced; a raise near the limit is a warning that says what it forgets', async () => {
  const bounce = {
    kind: 'bounce',
    mailbox: near.email,
    rate: 1,
    from: 4 * hourMs,
    until: 4 * hourMs + 70 * minuteMs,
  } as const;
  await using stage = await startMovedDaemon({
    scenario: { name: 'others', summary: 'Others change things.', fleet: [near, calm], incidents: [bounce] },
    poll,
  });
  await stage.reload((config) => {
    config.alerts = { ...config.alerts, routes: [{ match: {}, channels: ['hook'] }] } as typeof config.alerts;
  });
  const change = async (email: string, body: object) => {
    const mailbox_id = stage.mailbox(email).id;
    const headers = { authorization: `Bearer ${demoKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${stage.simulator.url}/v1/warmup`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ mailbox_id, ...body }),
    });
    expect(answer.status).toBe(200);
  };
  const notified = () => stage.told('changed_by_others');
  const bounced = () => stage.mailbox(near.email).verdict?.answer.bounced === 1;
  await stage.until('a bounce to be judged', bounced, 8 * hourMs);
  await change(calm.email, { action: 'update_config', config: { target_daily_limit: 10 } });
  await stage.run(hourMs);
  expect(notified()).toEqual([]);

  await change(calm.email, { action: 'update_config', config: { target_daily_limit: 30 } });
  await stage.until('the limit to be told', () => notified().length === 1, hourMs);
  expect(notified()[0]).toMatchObject({ severity: 'info', title: 'calm@acme.example: daily limit raised by others' });
  expect(notified()[0]?.sentences[0]).toMatch(/^Its target daily limit changed from 10 to 30 between .* and .*/);
  await trouble(stage.simulator.url, 'pause', calm.email);
  await stage.until('the pause to be told', () => notified().length === 2, hourMs);
  expect(notified()[1]).toMatchObject({ severity: 'info', title: 'calm@acme.example: warm-up paused by others' });
  await change(calm.email, { action: 'resume' });

  await change(near.email, { action: 'update_config', config: { warmup_mode: 'aggressive' } });
  await stage.until('the raise to be told', () => notified().length === 3, hourMs);
  expect(notified()[2]).toMatchObject({ severity: 'warning', mailbox: near.email });
  expect(notified()[2]?.title).toMatch(/^slow@acme.example: mode raised( and daily limit raised)? by others$/);
  expect(notified()[2]?.sentences.join(' ')).toContain('these bounces no longer count');
  await stage.run(hourMs);
  expect(notified()).toHaveLength(3);
});
