// Rules of an account: the API is up, the key is accepted, may write and is not shared, and the mailbox list is
// complete.
import type { Alert } from '../../core/alert.ts';
import type { AccountState, MailboxState, SweepProgress } from '../../core/mailbox.ts';
import { type EpochMs, hourMs, minuteMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted, momentText } from '../../core/wording/phrases.ts';
import { accountSubject, atOnce, type Condition } from '../condition.ts';
import { accountBlind, apiUnwell, clockOff, listUnread } from './api-health-rules.ts';
import { budgetTooSmall, throttlesUntilShared } from './budget-rule.ts';

/** Time without a successful request before people are notified. */
const apiDownForMs = 3 * minuteMs;
/** Causes of not_guarded for which no request of the account succeeds. */
export const outageCauses = ['api down', 'key rejected'] as const;

export function isOutage({ rule, object }: Pick<Alert, 'rule' | 'object'>): boolean {
  return rule === 'not_guarded' && outageCauses.some((cause) => cause === object);
}

/** Number of consecutive rejections before the alert fires. A single one may be a hiccup of the API. */
const rejectionsUntilFiring = 2;
/** Maximum addresses in a sentence. */
const namesShown = 5;

/**
 * Returns the conditions from the state of an account, which is unknown before its first success or failure. `sweep` is
 * the first sweep, while it is running.
 */
export function accountConditions(
  account: AccountState,
  now: EpochMs,
  zone: string,
  sweep?: SweepProgress,
): readonly Condition[] {
  return [
    apiDown(account, now, zone),
    keyRejected(account),
    keyReadOnly(account),
    keyShared(account, now),
    budgetTooSmall(account, sweep, now),
    apiUnwell(account),
    accountBlind(account, now, zone),
    listUnread(account, now, zone),
    clockOff(account),
  ];
}

/** not_guarded, api down. A rejected key is a cause of its own, so this condition is unknown then. */
function apiDown(account: AccountState, now: EpochMs, zone: string): Condition {
  const { name, failingSince, lastSuccessAt, lastFailure } = account;
  const down = failingSince !== null;
  const unknown = down ? account.keyRejected : lastSuccessAt === null;
  const sentences = down
    ? [
        `All requests of account ${name} have failed since ${momentText(failingSince, zone)}.`,
        ...(lastFailure ? [`The last failure: ${sentence(lastFailure)}`] : []),
        'Warmwarden decides nothing and changes nothing on this account until the API answers again.',
        'Check the address and the key of the account, and whether the API is up.',
      ]
    : [`The mailbox API answers requests for account ${name} again.`];
  return {
    subject: accountSubject('not_guarded', name, 'api down'),
    severity: 'critical',
    active: unknown ? 'unknown' : down,
    forMs: apiDownForMs,
    observations: 1,
    clearObservations: 1,
    since: failingSince ?? now,
    facts: {
      title: down ? `${name}: the mailbox API does not answer` : `${name}: the mailbox API answers again`,
      sentences,
      numbers: {
        failing_since: failingSince === null ? null : new Date(failingSince).toISOString(),
        last_success: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString(),
      },
    },
  };
}

/** not_guarded, key rejected: fires after two rejections in a row, and ends when a request with the key succeeds. */
function keyRejected({ name, rejections, lastSuccessAt, failingSince, lastFailure }: AccountState): Condition {
  const rejected = rejections >= rejectionsUntilFiring;
  const accepted = rejections === 0 && lastSuccessAt !== null && failingSince === null;
  return {
    subject: accountSubject('not_guarded', name, 'key rejected'),
    severity: 'critical',
    active: rejected ? true : accepted ? false : 'unknown',
    ...atOnce,
    facts: {
      title: rejected ? `${name}: the API refuses the key` : `${name}: the key is accepted again`,
      sentences: rejected
        ? [
            `The API refuses the key of account ${name}, so Warmwarden cannot read or guard its mailboxes.`,
            ...(lastFailure ? [sentence(lastFailure)] : []),
            'Put a valid key with read and write permission into the configuration and reload it. Other accounts are not affected.',
          ]
        : [`Warmwarden polls account ${name} as usual.`],
      numbers: {},
    },
  };
}

/**
 * not_guarded, key read-only: the API refused changes of two mailboxes, or of one for which it accepted a change
 * before. Ends with an accepted change.
 */
export function keyReadOnly({ name, keyWrites }: AccountState): Condition {
  const readOnly = keyWrites === false;
  return {
    subject: accountSubject('not_guarded', name, 'key read-only'),
    severity: 'critical',
    active: keyWrites === null ? 'unknown' : readOnly,
    ...atOnce,
    facts: {
      title: readOnly ? `${name}: the key may not write` : `${name}: the key may write`,
      sentences: readOnly
        ? [
            `The API refused changes of account ${name} that are not about one mailbox alone: its key may read, but not write.`,
            'Warmwarden does NOT ACT on the mailboxes that were refused. It tries every breach once, and again every hour.',
            'Give the key write permission in the mailbox app, or put another key into the configuration and reload it.',
          ]
        : [`The API accepted a change on account ${name}.`],
      numbers: {},
    },
  };
}

/**
 * budget_too_small, shared key: fires after three 429s within an hour despite the rate limit, and ends after an hour
 * without one.
 */
function keyShared(
  { name, throttledLastHour, requestsPerMinute, watchedSince }: AccountState,
  now: EpochMs,
): Condition {
  const shared = throttledLastHour >= throttlesUntilShared;
  const quiet = throttledLastHour === 0 && now - watchedSince >= hourMs;
  return {
    subject: accountSubject('budget_too_small', name, 'shared key'),
    severity: 'warning',
    active: shared ? true : quiet ? false : 'unknown',
    ...atOnce,
    facts: {
      title: shared ? `${name}: something else uses the key` : `${name}: an hour without a 429`,
      sentences: shared
        ? [
            `The API answered 429 (too many requests) ${throttledLastHour} times within an hour, although Warmwarden stayed within its rate limit.`,
            `Either other tools use the same key, or its plan allows less than the configuration says. For now Warmwarden makes ${counted(requestsPerMinute, 'request')} a minute, so data gets older.`,
            'Give Warmwarden a key of its own, raise headroom, or correct plan or requests_per_minute.',
          ]
        : [`Account ${name} has its full request budget again.`],
      numbers: { throttled_last_hour: throttledLastHour, requests_per_minute: requestsPerMinute },
    },
  };
}

/**
 * Shortage of a mailbox list compared with the known mailboxes. A list that is neither truncated nor lacks any leaves
 * no mailbox guarded.
 */
export interface ListShortage {
  readonly listed: number;
  /** Known mailboxes that the list lacks and that do not count as removed yet. */
  readonly missing: readonly MailboxState[];
  /** True if the list says that it continues elsewhere, or contains unreadable entries. */
  readonly truncated: boolean;
}

/**
 * not_guarded, mailbox list: fires after two lists in a row. `shortage` is null if the list is complete or its loss is
 * accepted. An account without any guarded mailbox gets a warning, because it may be new.
 */
export function mailboxListShort(account: string, shortage: ListShortage | null): Condition {
  return {
    subject: accountSubject('not_guarded', account, 'mailbox list'),
    severity: shortage && guardsNobody(shortage) ? 'warning' : 'critical',
    active: shortage !== null,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    facts: {
      title: `${account}: ${shortage ? shortageTitle(shortage) : 'the mailbox list is in order again'}`,
      sentences: shortage
        ? shortageSentences(account, shortage)
        : [`Warmwarden guards all mailboxes of account ${account} that the configuration selects.`],
      numbers: { listed: shortage?.listed ?? null, missing: shortage?.missing.length ?? 0 },
    },
  };
}

function guardsNobody({ missing, truncated }: ListShortage): boolean {
  return !truncated && missing.length === 0;
}

function shortageTitle(shortage: ListShortage): string {
  if (guardsNobody(shortage)) return 'no mailbox is guarded';
  return `the mailbox list is ${shortage.truncated ? 'incomplete' : 'suddenly short'}`;
}

function shortageSentences(account: string, shortage: ListShortage): readonly string[] {
  const { listed, missing, truncated } = shortage;
  if (guardsNobody(shortage)) return emptySentences(account, listed);
  if (truncated) {
    return [
      `The mailbox list of account ${account} has ${counted(listed, 'readable mailbox', 'readable mailboxes')}. It says that there are more, or has entries that can't be read.`,
      'Mailboxes that Warmwarden cannot read from the list are not guarded. No mailbox is treated as removed because of this list.',
    ];
  }
  const names = missing.slice(0, namesShown).map(({ email }) => email);
  const more = missing.length - names.length;
  return [
    `The mailbox list of account ${account} lacks ${counted(missing.length, 'mailbox', 'mailboxes')} that ${missing.length === 1 ? 'was' : 'were'} in it before: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
    'Warmwarden keeps watching the missing mailboxes. If the list stays short for an hour, it treats them as removed.',
    'Check in the mailbox app whether the mailboxes are there and whether the key can still see them.',
  ];
}

function emptySentences(account: string, listed: number): readonly string[] {
  if (listed === 0) {
    return [
      `The mailbox list of account ${account} is empty, so Warmwarden guards no mailbox there.`,
      'Check in the mailbox app whether the account has mailboxes and whether the key can see them.',
    ];
  }
  return [
    `The mailbox list of account ${account} has ${counted(listed, 'mailbox', 'mailboxes')}, but the configuration selects none, so Warmwarden guards no mailbox there.`,
    'Check mailboxes.include and mailboxes.exclude of the account.',
  ];
}

/** mailbox_missing: the mailbox is missing from two lists. Ends when it is listed again. */
export function mailboxMissing(
  { account, id, email }: Pick<MailboxState, 'account' | 'id' | 'email'>,
  missing: boolean,
): Condition {
  return {
    subject: { rule: 'mailbox_missing', account, mailboxId: id, email, object: null },
    severity: 'warning',
    active: missing,
    ...atOnce,
    facts: {
      title: missing ? `${email}: no longer in the mailbox list` : `${email}: back in the mailbox list`,
      sentences: missing
        ? [
            `${email} is missing from the newest mailbox lists of account ${account}, so Warmwarden no longer watches it.`,
            'If somebody removed it on purpose, do nothing. Otherwise connect it again in the mailbox app.',
          ]
        : [`Warmwarden watches ${email} again.`],
      numbers: {},
    },
  };
}

/** mailbox_missing for a name in the configuration that two lists do not contain. Ends when a list contains it. */
export function nameUnlisted(account: string, name: string, missing: boolean): Condition {
  return {
    subject: {
      ...accountSubject('mailbox_missing', account),
      email: name.includes('@') ? name : null,
      object: name,
    },
    severity: 'warning',
    active: missing,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    facts: {
      title: missing ? `${name}: not in the mailbox list` : `${name}: now in the mailbox list`,
      sentences: missing
        ? [
            `The configuration includes ${name}, but the newest mailbox lists of account ${account} do not have it, so Warmwarden does not guard it.`,
            'Check the spelling in the include list of the account, and whether the key can see the mailbox.',
          ]
        : [`Warmwarden watches ${name}.`],
      numbers: {},
    },
  };
}
