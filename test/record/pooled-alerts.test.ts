// The alerts beyond one mailbox follow what is committed: what was not does not count, nor what is stale or has left.
import { expect, test } from 'vitest';
import { type PooledOptions, pooledAlerts } from '../../src/account/record/pooled-alerts.ts';
import { step } from '../../src/alerts/engine.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, utcDate } from '../../src/core/time.ts';
import { sampleVerdict } from '../alerts/samples.ts';
import { listedMailbox, row, now as start, warmupAnswer } from '../guard/samples.ts';

function mailboxOf(number: number, bounced: number): MailboxState {
  const identity = { account: 'agency', id: `m${number}`, email: `m${number}@acme.example` };
  const stats = { at: start, answer: { rows: [row(utcDate(start), 40, bounced)] } };
  const warmup = { at: start, answer: warmupAnswer('balanced', 'active') };
  return { ...listedMailbox(start), ...identity, stats, warmup, verdict: { at: start, answer: sampleVerdict() } };
}

/** An account of such mailboxes, of which those in `read` were read by this process. */
function stage(mailboxes: readonly MailboxState[], read = new Set(mailboxes.map(({ id }) => id))) {
  const fleet = new Fleet();
  for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
  const time = { staleBefore: Number.NEGATIVE_INFINITY };
  const options: PooledOptions = {
    account: 'agency',
    policyFor: () => defaultPolicy,
    staleBefore: () => time.staleBefore,
    isRead: (id) => read.has(id),
  };
  const look = () => {
    const { conditions, ends } = pooledAlerts(fleet, options, start);
    const domain = conditions.find(({ subject }) => subject.rule === 'shared_bounces');
    const { changed } = step(conditions, (fingerprint) => fleet.alert(fingerprint), start);
    for (const alert of [...changed, ...ends.changed]) fleet.putAlert(alert);
    return { says: domain?.active, alerts: [...fleet.alerts()].map(({ rule, status }) => `${rule} ${status}`), ends };
  };
  return { fleet, time, read, look };
}

const bouncing = [mailboxOf(1, 2), mailboxOf(2, 2), mailboxOf(3, 1)];

test('nothing is said before this process has read every mailbox of the domain', () => {
  const { look, read } = stage(bouncing, new Set(['m1', 'm2']));
  expect(look()).toMatchObject({ alerts: [] });
  read.add('m3');
  expect(look()).toMatchObject({ says: true, alerts: ['shared_bounces firing'] });
});

test('a mailbox that cannot be read for as long as data may be old is not waited for', () => {
  const others = stage([...bouncing, mailboxOf(4, 3)], new Set(['m1', 'm2', 'm3']));
  expect(others.look().alerts).toEqual([]);
  others.time.staleBefore = start + 1;
  for (const mailbox of [...others.fleet.mailboxes()].slice(0, 3))
    others.fleet.putMailbox({ ...mailbox, stats: { at: start + 1, answer: mailbox.stats?.answer ?? { rows: [] } } });
  expect(others.look().alerts).toEqual(['shared_bounces firing']);
});

test('what fires is neither ended by what is stale nor by what is unknown; it ends within the limits', () => {
  const { fleet, look, time } = stage(bouncing);
  expect(look().says).toBe(true);
  time.staleBefore = start + hourMs;
  expect(look()).toMatchObject({ says: 'unknown', alerts: ['shared_bounces firing'] });
  time.staleBefore = start;
  for (const [index, mailbox] of bouncing.entries())
    fleet.putMailbox({ ...mailbox, stats: mailboxOf(index + 1, 0).stats });
  expect(look()).toMatchObject({ says: false, alerts: [] });
});

test('the worst of a domain are named, and what does not run is in no pool', () => {
  const { fleet, look } = stage([3, 1, 5, 0, 2].map((bounced, index) => mailboxOf(index, bounced)));
  look();
  const facts = [...fleet.alerts()][0]?.facts;
  expect(facts?.numbers).toMatchObject({ bounced: 11, sent: 200, mailboxes: 5 });
  expect(facts?.sentences[1]).toMatch(/m2@\S+ \(5 of 40\), m0@\S+ \(3 of 40\) and m4@\S+ \(2 of 40\)/);
  for (const mailbox of [...fleet.mailboxes()])
    fleet.putMailbox({ ...mailbox, verdict: { at: start, answer: { ...sampleVerdict(), run: 'not_running' } } });
  expect(look().ends.transitions).toMatchObject([{ kind: 'resolved', alert: { object: 'acme.example' } }]);
});

test('an alert ends with the last mailbox of its domain', () => {
  const { fleet, look } = stage(bouncing);
  look();
  for (const { id } of bouncing.slice(1)) fleet.removeMailbox('agency', id);
  expect(look().ends.transitions).toEqual([]);
  fleet.removeMailbox('agency', 'm1');
  expect(look().ends.transitions).toMatchObject([{ kind: 'resolved', alert: { object: 'acme.example' } }]);
});
