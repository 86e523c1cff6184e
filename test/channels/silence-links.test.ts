// The link that silences an alert: it mutes this very alert, and none that is about something else.

import { expect, test } from 'vitest';
import { mutes } from '../../src/alerts/routing.ts';
import { isDisarming } from '../../src/alerts/rules/protection-rule.ts';
import { linksOf } from '../../src/channels/message-text.ts';
import type { Alert, AlertMatch } from '../../src/core/alert.ts';
import { type AlertRule, alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { alertSilencePath } from '../../src/core/page-links.ts';
import { preparedAt } from '../../src/web/commands/prepared.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { messageWith } from './people.ts';

const nowhere = { account: '', mailboxId: null, email: null };
const wide = { mailboxId: null, email: null };
/** Rules about mailboxes that have several causes. */
const mailboxCauses = new Set<AlertRule>(['mailbox_unwell', 'stale_data', 'reputation_low', 'recovery_without_effect']);

/** Alerts about different things, of which each has a neighbour that differs in one word only. */
const subjects: readonly Partial<Alert>[] = [
  { object: null, mailboxId: 'm2', email: 'bob2@acme.example' },
  { object: null, account: 'beta' },
  { object: null, email: null, mailboxId: 'only-an-id' },
  { ...wide, object: 'acme.example' },
  { ...wide, object: 'mail.acme.example' },
  { ...wide, object: 'acme.example', account: 'beta' },
  { ...wide, object: '203.0.113.7', facts: { title: '', sentences: [], numbers: { seen_with: 'bob@acme.example' } } },
  { ...wide, object: '203.0.113.70' },
  { ...wide, object: 'mailbox list' },
  { ...nowhere, object: 'https://api.example/v1' },
  { ...nowhere, object: 'https://api.example/v1?a=b,c' },
  { ...nowhere, object: 'ops-slack' },
  { ...wide, email: 'gone@acme.example', object: 'gone@acme.example' },
];

const fleet = new Fleet();

/** What the form that the link opens asks for. */
function matchAt(address: string): AlertMatch {
  const { searchParams } = new URL(address, 'http://page.example');
  const prepared = preparedAt({ path: '/silences', asked: searchParams, mailbox: () => undefined });
  if (prepared === null || 'unknown' in prepared) throw new Error(`${address} prepares nothing`);
  return prepared.requests[0]?.body['match'] as AlertMatch;
}

test.each(alertRules.filter((rule) => !isDisarming({ rule })))('a silence of one alert %s mutes no other', (rule) => {
  const causes = mailboxCauses.has(rule) ? (ruleBook[rule].causes ?? []).map((object) => ({ object })) : [];
  const alerts = [...(causes.length > 0 ? causes : [{ object: null }]), ...subjects].map((subject) =>
    sampleAlert(1, { rule, ...subject }),
  );
  for (const alert of alerts) {
    const match = matchAt(alertSilencePath(alert, '4h'));
    expect(alerts.filter((one) => mutes(match, one, fleet)).map(({ fingerprint }) => fingerprint)).toEqual([
      alert.fingerprint,
    ]);
    expect(mutes(match, sampleAlert(1, { ...alert, rule: 'store_failing' }), fleet)).toBe(rule === 'store_failing');
  }
});

test('a silence of what a message names does not mute a domain that it does not name', () => {
  const of = (domain: string) => sampleAlert(1, { rule: 'shared_bounces', ...wide, object: domain });
  const named = [of('one.example'), of('two.example')] as const;
  const page = { pageUrl: 'https://page.example', publicUrl: 'https://page.example' };
  const links = linksOf(messageWith(named.map((alert) => firing(alert))), page);
  const match = matchAt(links.find(({ name }) => name === 'silence_url')?.url ?? '');
  expect([...named, of('three.example')].map((alert) => mutes(match, alert, fleet))).toEqual([true, true, false]);
});
