// What is not announced because its cause is: an API that does not answer, over the old data of its mailboxes; counts that are missing all
// over an account, over those of its mailboxes. Nothing else.

import { type Alert, type AlertRule, fingerprintOf } from '../model/alert.ts';
import type { EpochMs } from '../model/time.ts';
import { lacksCounts, type Reason } from '../model/verdict.ts';
import { accountSubject, missingCountsSubject } from './condition.ts';

/** While one of these fires for an account... */
const parents: readonly AlertRule[] = ['api_down', 'key_rejected'];
/** ...these of its mailboxes say nothing new. What the guard did, or could not do, is never among them. */
const children: readonly AlertRule[] = ['stale_data', 'measurement_stale', 'mailbox_missing'];

/** Whether an outage of the account, that is over or will be at `until`, explains the alert at `now`. */
export function isExplained(alert: Alert, until: EpochMs, now: EpochMs): boolean {
  return children.includes(alert.rule) && now < until;
}

/** Whether the alert of a whole account stands for this one of a mailbox: their counts are missing together. */
export function isStoodFor(alert: Alert, current: (fingerprint: string) => Alert | undefined): boolean {
  const { rule, account, mailboxId, facts } = alert;
  if (rule !== 'guard_blind' || mailboxId === null || !lacksCounts(facts.numbers['reason'] as Reason)) return false;
  return current(fingerprintOf(missingCountsSubject(account)))?.status === 'firing';
}

/** Whether an outage fires for the account. `current`: the alert of a fingerprint, if any. */
export function hasCause(account: string, current: (fingerprint: string) => Alert | undefined): boolean {
  return parents.some((rule) => current(fingerprintOf(accountSubject(rule, account)))?.status === 'firing');
}
