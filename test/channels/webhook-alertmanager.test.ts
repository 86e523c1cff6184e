// The body of Alertmanager's webhooks for many alerts: the first are listed, and what is common is common to all of them.
import { expect, test } from 'vitest';
import { type GroupMessage, messageOf } from '../../src/alerts/grouping.ts';
import { alertmanagerBody } from '../../src/channels/alertmanager.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';

const sender = { name: 'hook', pageUrl: null };
const facts = (number: number, more: object = {}) => ({
  title: `box ${number}`,
  sentences: ['The login failed.', 'Connect it again.'],
  numbers: { page_url: `http://page/${number}`, limit: 40, unknown: null, ...more },
});
const storm = Array.from({ length: 600 }, (_, number) =>
  firing(sampleAlert(number, { rule: 'mailbox_unwell', severity: 'critical', facts: facts(number) })),
);
const bodyOf = (transitions: readonly ReturnType<typeof firing>[]) =>
  alertmanagerBody(messageOf('g', transitions, start) as GroupMessage, sender);

test('of 600 alerts 500 are listed; labels and annotations that all have are common, and what is empty is left out', () => {
  const { alerts, ...body } = bodyOf(storm);
  expect(alerts).toHaveLength(500);
  expect(body).toMatchObject({
    truncatedAlerts: 100,
    status: 'firing',
    groupKey: '{}:{account="acme", alertname="mailbox_unwell"}',
    groupLabels: { account: 'acme', alertname: 'mailbox_unwell' },
  });
  expect(body.commonLabels).toEqual({ account: 'acme', alertname: 'mailbox_unwell', severity: 'critical' });
  expect(body.commonAnnotations).toEqual({ description: 'The login failed. Connect it again.', limit: '40' });
});

test('one that is not listed counts, too: what it does not share is not common', () => {
  const other = resolved(sampleAlert(1, { rule: 'stale_data', account: 'other', facts: facts(1, { limit: 7 }) }));
  const body = bodyOf([...storm, other]);
  expect(body).toMatchObject({ truncatedAlerts: 101, status: 'firing', groupKey: '{}:{}', commonLabels: {} });
  expect(body.commonAnnotations).toEqual({ description: 'The login failed. Connect it again.' });
  expect(bodyOf([other])).toMatchObject({ status: 'resolved', commonLabels: { account: 'other', mailbox_id: 'm1' } });
});
