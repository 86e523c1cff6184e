// An incident in Slack and in a webhook: one message within the limits, however many mailboxes are in it.
import { expect, test } from 'vitest';
import { alertmanagerChannel } from '../../src/channels/alertmanager.ts';
import { slackChannel } from '../../src/channels/slack.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { slackFaults } from '../support/slack-limits.ts';
import { messageAbout, page, people } from './people.ts';

const clock = movedClock(start);
const slack = slackChannel({ name: 'ops', url: 'http://127.0.0.1:1/', ...people }, clock);
const hook = webhookChannel(
  { name: 'hook', url: 'http://127.0.0.1:1/', secrets: [], format: 'standard', pageUrl: page },
  clock,
);

test('in Slack the cause and the count come first, then what was done, the worst five, and one link', () => {
  const payload = JSON.parse(slack.render(messageAbout(16, 'began', [firing(sampleAlert(1))]))?.payload ?? '');
  expect(slackFaults(payload)).toEqual([]);
  expect(payload.text).toMatch(/^Critical: Provider google: 16 mailboxes on 5 domains /);
  const blocks = payload.attachments[0].blocks;
  expect(blocks[0].text.text).toMatch(
    /^What all 16 mailboxes share: provider google\. .*; 40 mailboxes have a different/,
  );
  expect(blocks[0].text.text).toContain("To carry out the held actions now: 'warmwarden breaker release'.");
  expect(blocks[1].text.text).toMatch(/^\*acme\/box0@g0\.example: 4 bounces in 50 emails, held by the circuit breaker/);
  expect(blocks[6].elements[0].text).toBe('and 11 more: see the page.');
  expect(blocks[7].elements.map(({ url }: { url: string }) => url)).toEqual([`${page}/#inc_sample`]);
});

test('a thousand mailboxes fit as well, and so does an end that tells of nothing else', () => {
  for (const message of [messageAbout(1_000, 'grew'), messageAbout(16, 'ended')]) {
    expect(slackFaults(JSON.parse(slack.render(message)?.payload ?? ''))).toEqual([]);
  }
  const ended = slack.render(messageAbout(16, 'ended'));
  expect(ended?.title).toMatch(/^Resolved: Provider google: 16 mailboxes/);
  expect(ended?.payload).toContain('It lasted from 20 March 10:02 UTC');
});

test('a webhook has it as `incident`, which is null in every other message', () => {
  const { data, type } = JSON.parse(hook.render(messageAbout(16, 'began', [firing(sampleAlert(1))]))?.payload ?? '');
  expect(type).toBe('alerts.firing');
  expect(data).toMatchObject({ group: 'inc_sample', total: 1, severity: 'critical' });
  const cause = { attribute: 'provider', value: 'google' };
  const when = { step: 'began', began_at: '2026-03-20T10:02:00.000Z', ended_at: null };
  expect(data.incident).toMatchObject({ id: 'inc_sample', cause, ...when, mailboxes: 16, domains: 5 });
  expect(data.incident.worst).toHaveLength(5);
  expect(JSON.parse(hook.render(messageAbout(16, 'ended'))?.payload ?? '')).toMatchObject({
    type: 'alerts.resolved',
    data: { alerts: [], incident: { step: 'ended', ended_at: '2026-03-20T11:02:00.000Z' } },
  });
});

test('Alertmanager, which knows alerts only, gets nothing of an end without any', () => {
  const alertmanager = alertmanagerChannel({ name: 'am', url: 'http://127.0.0.1:1' }, clock);
  expect(alertmanager.render(messageAbout(16, 'ended'))).toBeNull();
  expect(alertmanager.render(messageAbout(16, 'began', [firing(sampleAlert(1))]))).not.toBeNull();
});
