// Mailboxes, verdicts and actions that the tests of alerts and messages begin with.

import { conditionsAfter } from '../../src/account/record/account-alerts.ts';
import { newMailbox } from '../../src/account/record/observe.ts';
import type { Condition, MailboxContext } from '../../src/alerts/condition.ts';
import { elapse, step } from '../../src/alerts/engine.ts';
import type { Action } from '../../src/core/action.ts';
import type { Alert, AlertChanges, Transition } from '../../src/core/alert.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import type { Route } from '../../src/core/answers.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { actionOf, alertOf, arrivedMailbox, verdictOf } from '../store/records.ts';
import type { ActionChange } from '../support/action-with.ts';

export const start = Date.parse('2026-03-20T10:02:00Z');

export function sampleVerdict(change: Partial<Verdict> = {}): Verdict {
  const counts = { sent: 260, bounced: 0, bouncesUntilBreach: 3, emergency: null, dataAgeMs: 400, warnings: [] };
  return verdictOf({ ...counts, windowFrom: '2026-03-14', windowTo: '2026-03-20', ...change });
}

export const breach = sampleVerdict({
  action: 'recovery',
  wanted: 'recovery',
  reason: 'bounce_rate_over_limit',
  bounced: 4,
  bouncesUntilBreach: 0,
});

export function sampleAction(change: ActionChange = {}): Action {
  const confirmed = { email: 'bob@acme.example', verdict: breach, plannedAt: start, state: 'confirmed' } as const;
  return actionOf('m1', { ...confirmed, ...change }, { openedAt: start, settledAt: start + 400 });
}

export function sampleMailbox(change: Partial<MailboxState> = {}): MailboxState {
  const { answer: listed } = arrivedMailbox('m1').entry;
  const answer = { ...listed, email: 'bob@acme.example', provider: null, healthScore: 90, warmupDay: 20 };
  const stats = { at: start, answer: { rows: [] } };
  return { ...newMailbox('acme', { at: start, answer }), stats, ...change };
}

export function judged(verdict: Partial<Verdict>): MailboxState {
  return sampleMailbox({ verdict: { at: start, answer: sampleVerdict(verdict) } });
}

export function sampleContext(change: Partial<MailboxContext> = {}): MailboxContext {
  return {
    now: start,
    policy: defaultPolicy,
    mayWrite: true,
    writesOff: null,
    staleBefore: Number.NEGATIVE_INFINITY,
    warmupStaleBefore: Number.NEGATIVE_INFINITY,
    staleMeasurement: () => ({ olderThanMs: 24 * hourMs, unreadSince: Number.NEGATIVE_INFINITY }),
    before: null,
    usualWords: ['active', 'running', 'paused'],
    rules: defaultRuleSettings,
    neighbours: () => [],
    ...change,
  };
}

/** What an answer says of a rule, or of one of its causes. */
export function conditionOf(
  what: string,
  answered: Route | 'time',
  mailbox: MailboxState,
  context: Partial<MailboxContext> = {},
): Condition {
  const all = conditionsAfter(answered, mailbox, sampleContext(context));
  const found = all.find(({ subject }) => subject.rule === what || subject.object === what);
  if (!found) throw new Error(`${answered} says nothing of ${what}`);
  return found;
}

/** Keeps alerts as the store and the fleet do, and what is told of them. */
export function alertBook() {
  const alerts = new Map<string, Alert>();
  const ended = new Map<string, Alert>();
  const notified: Transition[] = [];
  const endedAs = (fingerprint: string) => ended.get(fingerprint);
  const take = (changes: AlertChanges) => {
    for (const fingerprint of changes.dropped) alerts.delete(fingerprint);
    for (const alert of changes.changed) {
      if (alert.status === 'resolved') alerts.delete(alert.fingerprint);
      (alert.status === 'resolved' ? ended : alerts).set(alert.fingerprint, alert);
    }
    notified.push(...changes.transitions);
    return changes;
  };
  return {
    alerts,
    notified,
    see: (conditions: readonly Condition[], now = start) =>
      take(step(conditions, (fingerprint) => alerts.get(fingerprint), now, endedAs)),
    wait: (now: number) => take(elapse(alerts.values(), now, endedAs)),
    only: () => [...alerts.values()][0],
    kinds: () => notified.map(({ kind }) => kind),
  };
}

/** A firing alert on mailbox `number`. */
export function sampleAlert(number: number, change: Partial<Alert> = {}): Alert {
  const email = `bob${number}@acme.example`;
  const sentences = ['The statistics were read last at 20 March 10:02 UTC.'];
  const facts = { title: `${email}: stale statistics`, sentences, numbers: { data_age_seconds: 3_000 } };
  return alertOf(`m${number}`, { email, since: start, firingAt: start, facts, ...change });
}

export function firing(alert: Alert, at = start): Transition {
  return { kind: 'firing', at, alert };
}

export function resolved(alert: Alert, at = start): Transition {
  return { kind: 'resolved', at, alert: { ...alert, status: 'resolved', resolvedAt: at } };
}

interface DnsSample {
  readonly id?: string;
  readonly spf?: boolean | null;
  readonly dkim?: boolean | null;
  readonly checkedAt?: string | null;
}

/** A mailbox of acme.example whose records pass, do not, or are inconclusive (null). */
export function withDns({ id = 'm1', spf = true, dkim = true, checkedAt = null }: DnsSample): MailboxState {
  const status = (pass: boolean | null) => (pass === null ? 'temperror' : pass ? 'pass' : 'fail');
  const record = (pass: boolean | null) => ({ status: status(pass), pass, record: null });
  const records = { spf: record(spf), dkim: record(dkim), dmarc: record(true) };
  const answer = { domain: 'Acme.example', checkedAt, records };
  return sampleMailbox({ id, email: `${id}@acme.example`, dns: { at: start, answer } });
}
