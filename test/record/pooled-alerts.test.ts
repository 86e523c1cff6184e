// The alerts beyond one mailbox follow what is committed: what was not does not count, nor what is stale or has left.
import { expect, test } from 'vitest';
import { newMailbox } from '../../src/account/record/observe.ts';
import { PooledAlerts, type PooledOptions } from '../../src/account/record/pooled-alerts.ts';
import type { Condition } from '../../src/alerts/condition.ts';
import { step } from '../../src/alerts/engine.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, utcDate } from '../../src/core/time.ts';
import { sampleVerdict } from '../alerts/samples.ts';
import { row, now as start } from '../guard/samples.ts';

function mailboxOf(number: number, bounced: number): MailboxState {
  const email = `m${number}@acme.example`;
  const entry = {
    id: `m${number}`,
    email,
    provider: null,
    status: 'active',
    healthScore: 90,
    dailyLimit: 40,
    warmupDay: 20,
  };
  const config = { targetDailyLimit: null, replyRate: null, threadRate: null, weekdaysOnly: null };
  const window = { sendWindowStart: null, sendWindowEnd: null };
  const known = {
    status: 'active',
    mode: 'balanced',
    dailyLimit: 40,
    warmupDay: 20,
    healthScore: 90,
    recentBounces: [],
  };
  const base = newMailbox('agency', { at: start, answer: entry });
  const stats = { at: start, answer: { rows: [row(utcDate(start), 40, bounced)] } };
  const warmup = { at: start, answer: { ...known, config: { ...config, ...window } } };
  return { ...base, stats, warmup, verdict: { at: start, answer: sampleVerdict() } };
}

/** An account of three mailboxes, of which none was read yet. */
function stage(mailboxes: readonly MailboxState[]) {
  const fleet = new Fleet();
  for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
  const time = { staleBefore: Number.NEGATIVE_INFINITY };
  const options: PooledOptions = {
    account: 'agency',
    pageUrl: null,
    policyFor: () => defaultPolicy,
    staleBefore: () => time.staleBefore,
  };
  const pooled = new PooledAlerts(fleet, options, (fingerprint) => fleet.alert(fingerprint));
  const ofDomain = (conditions: readonly Condition[]) =>
    conditions.find(({ subject }) => subject.rule === 'domain_over_limit')?.active;
  return {
    fleet,
    time,
    pooled,
    /** What an answer says of the domain; undefined: nothing that is news. */
    answered: (mailbox: MailboxState) => ofDomain(pooled.after(mailbox, true, start)),
    /** What time says of an alert that fires. */
    passed: () => ofDomain(pooled.passed(start).conditions),
    fire: () => {
      const [last] = mailboxes;
      if (!last) throw new Error('there is one');
      const { changed } = step(pooled.after(last, true, start), () => undefined, start);
      for (const alert of changed) fleet.putAlert(alert);
      return changed.map(({ rule, object, status }) => `${rule} ${object} ${status}`);
    },
  };
}

const bouncing = [mailboxOf(1, 2), mailboxOf(2, 2), mailboxOf(3, 1)];

test('nothing is said before every mailbox of the domain was read', () => {
  const { answered } = stage(bouncing);
  expect(bouncing.map(answered)).toEqual([undefined, undefined, true]);
});

test('what was not committed does not count', () => {
  const { answered, pooled } = stage(bouncing);
  for (const mailbox of bouncing) answered(mailbox);
  const putBack = pooled.keep('m3', start);
  expect(answered(mailboxOf(3, 0))).toBeUndefined();
  putBack();
  expect(answered(bouncing[0] ?? mailboxOf(1, 2))).toBe(true);
});

test('what fires is refreshed by time, not by every answer, and nothing that is stale ends it', () => {
  const { answered, fire, passed, time, fleet } = stage(bouncing);
  for (const mailbox of bouncing) answered(mailbox);
  expect(fire()).toEqual(['domain_over_limit acme.example firing']);
  expect([answered(bouncing[1] ?? mailboxOf(2, 2)), passed()]).toEqual([undefined, true]);
  time.staleBefore = start + hourMs;
  expect(passed()).toBe('unknown');
  time.staleBefore = start;
  for (const [index, mailbox] of bouncing.entries()) {
    const calm = { ...mailbox, stats: mailboxOf(index + 1, 0).stats };
    fleet.putMailbox(calm);
    answered(calm);
  }
  expect(passed()).toBe(false);
});

test('an alert ends with the last mailbox of its domain', () => {
  const { answered, fire, pooled } = stage(bouncing);
  for (const mailbox of bouncing) answered(mailbox);
  fire();
  for (const { id } of bouncing.slice(1)) pooled.left(id);
  expect(pooled.passed(start).ends.transitions).toEqual([]);
  pooled.left('m1');
  expect(pooled.passed(start).ends.transitions).toMatchObject([
    { kind: 'resolved', alert: { object: 'acme.example' } },
  ]);
});
