// Rules about the content of GET /v1/health: the API calls itself unwell, or its clock differs from Warmwarden's.
import type { AccountState } from '../../core/mailbox.ts';
import { type EpochMs, elapsedMs, minuteMs, secondMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { momentText, spanText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition } from '../condition.ts';

/** Time that a deployment of the API may take. */
const holdsForMs = 5 * minuteMs;
/** Clock difference that is reported: longer than a response takes. */
const clocksDifferMs = minuteMs;

const afterAWhile = { severity: 'warning', forMs: holdsForMs, observations: 1, clearObservations: 1 } as const;

/**
 * api_unwell, status: the API answers, but its status is not ok. A failing health check says nothing here
 * (docs/faults.md H21).
 */
export function apiUnwell({ name, health, apiHealth: { status } }: AccountState): Condition {
  const unwell = health === 'other';
  return {
    subject: accountSubject('api_unwell', name, 'status'),
    ...afterAWhile,
    active: health === 'unknown' ? 'unknown' : unwell,
    facts: {
      title: unwell ? `${name}: the mailbox API reports "${status}"` : `${name}: the mailbox API reports "ok" again`,
      sentences: unwell
        ? [
            `The health check of the mailbox API of account ${name} reports the status "${status}" instead of "ok".`,
            'Warmwarden continues as usual: it judges and acts on what the API answers.',
            "Check the provider's status page. If the figures of the API look wrong, switch writes off until they are right.",
          ]
        : [`The health check of the mailbox API of account ${name} reports "ok".`],
      numbers: { status },
    },
  };
}

/** Time within which a successful request shows that the API answers. Without any, not_guarded reports it. */
const answersWithinMs = 3 * minuteMs;

/**
 * api_unwell, mailbox list: the list cannot be read although other requests succeed. Unknown while no request succeeds.
 */
export function listUnread({ name, listFailing, lastSuccessAt }: AccountState, now: EpochMs, zone: string): Condition {
  const failing = listFailing ?? null;
  const answers = failing && lastSuccessAt !== null && lastSuccessAt >= failing.since;
  const active = answers && elapsedMs(lastSuccessAt, now) <= answersWithinMs;
  const since = failing?.since ?? now;
  return {
    subject: accountSubject('api_unwell', name, 'mailbox list'),
    ...afterAWhile,
    since,
    active: failing === null ? (lastSuccessAt === null ? 'unknown' : false) : active ? true : 'unknown',
    facts: {
      title: failing ? `${name}: the mailbox list can't be read` : `${name}: the mailbox list can be read again`,
      sentences: failing
        ? [
            `Warmwarden has not been able to read the mailbox list of account ${name} since ${momentText(since, zone)}, although the API answers other requests.`,
            sentence(failing.detail),
            'Warmwarden continues to guard the mailboxes that it knows. It does not see new ones.',
            "Check the provider's status page, or ask the provider why GET /v1/mailboxes fails.",
          ]
        : [`Warmwarden reads the mailbox list of account ${name} as usual.`],
      numbers: {},
    },
  };
}

/**
 * not_guarded, nothing judged: the answers needed for judging are refused or unreadable for all mailboxes of the
 * account. Unknown during an outage.
 */
export function accountBlind(account: AccountState, now: EpochMs, zone: string): Condition {
  const { name, unjudged = null, failingSince, lastSuccessAt } = account;
  const since = unjudged?.since ?? now;
  return {
    subject: accountSubject('not_guarded', name, 'nothing judged'),
    severity: 'critical',
    active: failingSince !== null || lastSuccessAt === null ? 'unknown' : unjudged !== null,
    forMs: answersWithinMs,
    observations: 1,
    clearObservations: 1,
    since,
    facts: {
      title: unjudged ? `${name}: NOT GUARDED, no mailbox can be judged` : `${name}: the mailboxes can be judged again`,
      sentences: unjudged
        ? [
            `The API answers, but not what Warmwarden judges the mailboxes of account ${name} by. It has not done so since ${momentText(since, zone)}.`,
            sentence(unjudged.detail),
            `Ask the provider what the plan and the key of account ${name} allow.`,
          ]
        : [`Warmwarden reads the statistics and the warm-up of account ${name} again.`],
      numbers: {},
    },
  };
}

/** clock_off: this machine's clock differs from the API's by more than a minute. */
export function clockOff({ name, apiHealth: { clockAheadMs } }: AccountState): Condition {
  const aheadMs = typeof clockAheadMs === 'number' ? clockAheadMs : 0;
  const off = Math.abs(aheadMs) > clocksDifferMs;
  const span = spanText(Math.abs(aheadMs));
  return {
    subject: accountSubject('clock_off', name),
    ...afterAWhile,
    active: clockAheadMs === null ? 'unknown' : off,
    facts: {
      title: off ? `${name}: clocks differ by ${span}` : `${name}: clocks agree`,
      sentences: off
        ? [
            `The clock of this machine is ${span} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of the mailbox API of account ${name}.`,
            'Near midnight UTC, Warmwarden may treat the wrong day of the statistics as today. Times in its messages may be wrong.',
            'Synchronize the clock of this machine (`timedatectl` shows whether it is synchronized). If it is, the clock of the API is wrong.',
          ]
        : [
            `The clock of this machine agrees with the clock of the mailbox API of account ${name}, or the API no longer reports the time.`,
          ],
      numbers: { clock_ahead_seconds: typeof clockAheadMs === 'number' ? Math.round(clockAheadMs / secondMs) : null },
    },
  };
}
