// Rules of an account: the API is up and well, the key is accepted and may write, the mailbox list is complete, and the
// requests suffice.
import type { Alert } from '../../core/alert.ts';
import { defaultRuleSettings } from '../../core/alert-rules.ts';
import type { AccountState, Forecast, MailboxName, MailboxState, SweepProgress } from '../../core/mailbox.ts';
import { listUnreadAdvice, listUnreadOf } from '../../core/not-guarded.ts';
import { type EpochMs, elapsedMs, hourMs, minuteMs, secondMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { mendText, narrowAdvice, narrowText, slowText, sumText } from '../../core/wording/forecast.ts';
import { counted, firstText, momentText, spanText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition, condition, subjectOf, type Words } from '../condition.ts';

/** No request of the account succeeds while one of these lasts. */
const outageCauses = ['api down', 'key rejected'] as const;

export function isOutage({ rule, object }: Pick<Alert, 'rule' | 'object'>): boolean {
  return rule === 'not_guarded' && outageCauses.some((cause) => cause === object);
}

/** Returns true if the guard protects no mailbox of the account while the alert lasts. A short list leaves most of them guarded. */
export function leavesUnguarded({ rule, object }: Pick<Alert, 'rule' | 'object'>): boolean {
  return rule === 'not_guarded' && object !== 'mailbox list';
}

/** A single rejection may be a hiccup of the API. */
const rejectionsUntilFiring = 2;
/** Clock difference that is reported: longer than a response takes. */
const clocksDifferMs = minuteMs;
const namesShown = 5;
const notGuardedForMs = defaultRuleSettings.of.not_guarded.forMs;

/** The state is unknown before the first success or failure. `sweep` is the first sweep, while it is running. */
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
    listNeverRead(account, now, zone),
    nothingJudged(account, now, zone),
    listUnread(account, now, zone),
    clockOff(account),
  ];
}

function notGuarded(account: string, why: string): string {
  return `account ${account} is NOT GUARDED: ${why}`;
}

/** A rejected key is a cause of its own, so this condition is unknown then. */
function apiDown(account: AccountState, now: EpochMs, zone: string): Condition {
  const { name, failingSince, lastSuccessAt, lastFailure } = account;
  const down = failingSince !== null;
  const isUnknown = down ? account.keyRejected : lastSuccessAt === null;
  const since = failingSince ?? now;
  return condition(accountSubject('not_guarded', name, 'api down'), {
    active: isUnknown ? 'unknown' : down,
    since,
    firing: () => [
      notGuarded(name, 'the API does not answer'),
      `All requests of account ${name} have failed since ${momentText(since, zone)}.`,
      lastFailure && `The last failure: ${sentence(lastFailure)}`,
      'Warmwarden decides nothing and changes nothing on this account until the API answers again.',
      'Check whether the API is up, and base_url of the account.',
    ],
    ended: () => [`${name}: the API answers again`],
    numbers: () => ({
      failing_since: failingSince === null ? null : new Date(failingSince).toISOString(),
      last_success: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString(),
    }),
  });
}

/** A failure ends with what to check, which stands once in a message: in its last sentence. */
function withoutAdvice(failure: string): string {
  return failure.replace(/; check .*$/, '');
}

function keyRejected({ name, rejections, lastSuccessAt, failingSince, lastFailure }: AccountState): Condition {
  const isAccepted = rejections === 0 && lastSuccessAt !== null && failingSince === null;
  return condition(accountSubject('not_guarded', name, 'key rejected'), {
    forMs: 0,
    active: rejections >= rejectionsUntilFiring ? true : isAccepted ? false : 'unknown',
    firing: () => [
      notGuarded(name, 'its API key is rejected'),
      lastFailure && sentence(withoutAdvice(lastFailure)),
      'Replace it by one that can read and write, then run `warmwarden reload`; if it is in an environment variable, restart.',
    ],
    ended: () => [`${name}: the key is accepted again`],
  });
}

/** Fires when the API refused changes of two mailboxes, or of one for which it accepted a change before. */
export function keyReadOnly({ name, keyWrites }: AccountState): Condition {
  return condition(accountSubject('not_guarded', name, 'key read-only'), {
    forMs: 0,
    active: keyWrites === null ? 'unknown' : !keyWrites,
    firing: () => [
      `${name}: the API key is read-only, NO ACTION on breaches`,
      `The API refuses changes of mailboxes: the key of account ${name} can read, but not write.`,
      'Warmwarden tries each change again every hour.',
      'Give the key write permission in the warm-up service.',
    ],
    ended: () => [`${name}: the API key can write`],
  });
}

/** The list was refused since the start, so nothing is polled. Unknown during an outage, which another cause reports. */
function listNeverRead(account: AccountState, now: EpochMs, zone: string): Condition {
  const { name, listed } = account;
  const failure = listUnreadOf(account, now);
  const since = failure?.since ?? now;
  return condition(accountSubject('not_guarded', name, 'list unread'), {
    active: listed ? false : failure ? true : 'unknown',
    since,
    firing: () => [
      notGuarded(name, "its mailbox list can't be read"),
      `Warmwarden has watched account ${name} since ${momentText(since, zone)} without ever getting its mailbox list, so it polls no mailbox.`,
      failure && sentence(withoutAdvice(failure.detail)),
      listUnreadAdvice(failure?.detail ?? ''),
    ],
    ended: () => [`${name}: the mailbox list can be read`],
  });
}

/** The answers needed for judging are refused, unreadable, or without what is needed for all mailboxes. Unknown during an outage. */
function nothingJudged(account: AccountState, now: EpochMs, zone: string): Condition {
  const { name, unjudged = null, failingSince, lastSuccessAt } = account;
  const since = unjudged?.since ?? now;
  return condition(accountSubject('not_guarded', name, 'nothing judged'), {
    active: failingSince !== null || lastSuccessAt === null ? 'unknown' : unjudged !== null,
    since,
    firing: () => [
      notGuarded(name, 'no mailbox can be judged'),
      `Since ${momentText(since, zone)}, no answer has had the statistics and the warm-up data that Warmwarden judges by.`,
      unjudged && sentence(withoutAdvice(unjudged.detail)),
      `Ask the warm-up service what the plan and the key of account ${name} allow.`,
    ],
    ended: () => [`${name}: the mailboxes can be judged again`],
  });
}

/** A failing health check says nothing (docs/faults.md H21). */
function apiUnwell({ name, health, apiHealth: { status } }: AccountState): Condition {
  return condition(accountSubject('api_unwell', name, 'status'), {
    active: health === 'unknown' ? 'unknown' : health === 'other',
    firing: () => [
      `${name}: the API reports "${status}"`,
      `The health check of the API of account ${name} reports the status "${status}" instead of "ok".`,
      'Warmwarden continues as usual: it judges and acts on what the API answers.',
      `Check the status page of the warm-up service. If the API's counts are wrong, stop all actions there: \`warmwarden writes off --account ${name} --reason TEXT\`.`,
    ],
    ended: () => [`${name}: the API reports "ok" again`],
    numbers: () => ({ status }),
  });
}

/** The list cannot be read although other requests succeed. Unknown while not_guarded reports that none does. */
function listUnread({ name, listFailing, lastSuccessAt }: AccountState, now: EpochMs, zone: string): Condition {
  const since = listFailing?.since ?? now;
  const isAnswering =
    lastSuccessAt !== null && lastSuccessAt >= since && elapsedMs(lastSuccessAt, now) <= notGuardedForMs;
  return condition(accountSubject('api_unwell', name, 'mailbox list'), {
    active: listFailing ? isAnswering || 'unknown' : lastSuccessAt === null ? 'unknown' : false,
    since,
    firing: () => [
      `${name}: the mailbox list can't be read`,
      `Warmwarden has not been able to read the mailbox list of account ${name} since ${momentText(since, zone)}, although the API answers other requests.`,
      listFailing && sentence(listFailing.detail),
      'Warmwarden continues to guard the mailboxes that it knows. It does not see new ones.',
      listUnreadAdvice(listFailing?.detail ?? ''),
    ],
    ended: () => [`${name}: the mailbox list can be read again`],
  });
}

function clockOff({ name, apiHealth: { clockAheadMs } }: AccountState): Condition {
  const aheadMs = typeof clockAheadMs === 'number' ? clockAheadMs : 0;
  const span = spanText(Math.abs(aheadMs));
  return condition(accountSubject('clock_off', name), {
    active: clockAheadMs === null ? 'unknown' : Math.abs(aheadMs) > clocksDifferMs,
    firing: () => [
      `${name}: clocks differ by ${span}`,
      `The clock of this machine is ${span} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of the API of account ${name}.`,
      'Near midnight UTC, Warmwarden may treat the wrong day of the statistics as today. Times in its messages may be wrong.',
      'Synchronize the clock of this machine (`timedatectl` shows whether it is synchronized). If it is, the clock of the API is wrong.',
    ],
    ended: () => [`${name}: clocks agree, or the API no longer reports the time`],
    numbers: () => ({
      clock_ahead_seconds: typeof clockAheadMs === 'number' ? Math.round(clockAheadMs / secondMs) : null,
    }),
  });
}

/** A list that is neither truncated nor lacks any mailbox leaves no mailbox guarded. */
export interface ListShortage {
  readonly listed: number;
  /** Mailboxes that were known before, that the list lacks, and that do not count as removed yet. */
  readonly missing: readonly MailboxState[];
  /** True if the list says that it continues elsewhere, or contains unreadable entries. */
  readonly truncated: boolean;
}

/** Fires after two lists in a row. An account without any guarded mailbox gets a warning, because it may be new. */
export function mailboxListShort(account: string, shortage: ListShortage | null): Condition {
  return condition(accountSubject('not_guarded', account, 'mailbox list'), {
    severity: shortage && guardsNobody(shortage) ? 'warning' : 'critical',
    forMs: 0,
    active: shortage !== null,
    observations: 2,
    firing: () => shortageWords(account, shortage),
    ended: () => [`${account}: the mailbox list is in order again`],
    numbers: () => ({ listed: shortage?.listed ?? null, missing: shortage?.missing.length ?? 0 }),
  });
}

function guardsNobody({ missing, truncated }: ListShortage): boolean {
  return !truncated && missing.length === 0;
}

function shortageWords(account: string, shortage: ListShortage | null): Words {
  const { listed = 0, missing = [], truncated = false } = shortage ?? {};
  if (!shortage || guardsNobody(shortage)) {
    const isEmpty = listed === 0;
    return [
      notGuarded(account, isEmpty ? 'its mailbox list is empty' : 'the configuration selects no mailbox'),
      `The mailbox list of account ${account} ${isEmpty ? 'is empty' : `has ${counted(listed, 'mailbox', 'mailboxes')}, but the configuration selects none`}, so Warmwarden guards no mailbox there.`,
      isEmpty
        ? 'Check in the warm-up service whether the account has mailboxes and whether the key can see them.'
        : 'Check mailboxes.include and mailboxes.exclude of the account.',
    ];
  }
  if (truncated)
    return [
      `${account}: the mailbox list is incomplete, some mailboxes are NOT GUARDED`,
      `The mailbox list of account ${account} has ${counted(listed, 'readable mailbox', 'readable mailboxes')}. It says that there are more, or has entries that can't be read.`,
      'Mailboxes that Warmwarden cannot read from the list are not guarded. No mailbox is treated as removed because of this list.',
    ];
  const names = missing.map(({ email }) => email);
  return [
    `${account}: the mailbox list is suddenly short`,
    `The mailbox list of account ${account} lacks ${counted(missing.length, 'mailbox', 'mailboxes')} that ${missing.length === 1 ? 'was' : 'were'} in it before: ${firstText(names, namesShown)}.`,
    `Warmwarden still guards the missing mailboxes, until the list has ${listed === 0 ? 'been empty for a week' : 'lacked them for an hour'}.`,
    'Check in the warm-up service whether the mailboxes are there and whether the key can still see them.',
  ];
}

/** The mailbox is missing from two lists. Ends when it is listed again. */
export function mailboxMissing(mailbox: MailboxName, missing: boolean): Condition {
  const { account, email } = mailbox;
  return condition(subjectOf('mailbox_missing', mailbox), {
    active: missing,
    firing: () => [
      `${email}: no longer in the mailbox list`,
      `${email} is missing from the newest mailbox lists of account ${account}, so Warmwarden no longer watches it.`,
      'If somebody removed it on purpose, do nothing. Otherwise connect it again in the warm-up service.',
    ],
    ended: () => [`${email}: back in the mailbox list`],
  });
}

/** Like `mailboxMissing`, for a name in the configuration. */
export function nameUnlisted(account: string, name: string, missing: boolean): Condition {
  const subject = accountSubject('mailbox_missing', account, name);
  return condition(
    { ...subject, email: name.includes('@') ? name : null },
    {
      active: missing,
      observations: 2,
      firing: () => [
        `${name}: not in the mailbox list`,
        `The configuration includes ${name}, but the newest mailbox lists of account ${account} do not have it, so Warmwarden does not guard it.`,
        'Check the spelling in the include list of the account, and whether the key can see the mailbox.',
      ],
      ended: () => [`${name}: now in the mailbox list`],
    },
  );
}

/** The mailboxes of a longer first sweep are unguarded for too long. */
const longSweepMs = hourMs;
/** Number of 429s per hour that are no coincidence despite the rate limit. */
const throttlesUntilShared = 3;

/** Fires after three 429s within an hour, and ends after an hour without one. */
function keyShared(account: AccountState, now: EpochMs): Condition {
  const { name, throttledLastHour, requestsPerMinute, watchedSince } = account;
  const isQuiet = throttledLastHour === 0 && now - watchedSince >= hourMs;
  return condition(accountSubject('budget_too_small', name, 'shared key'), {
    severity: 'warning',
    forMs: 0,
    active: throttledLastHour >= throttlesUntilShared ? true : isQuiet ? false : 'unknown',
    firing: () => [
      `${name}: unexpected 429 answers`,
      `The API answered 429 (too many requests) ${throttledLastHour} times within an hour, although Warmwarden stayed within its rate limit.`,
      `Either other tools use the same key, or the plan allows less than the configuration says. For now Warmwarden makes at most ${counted(requestsPerMinute, 'request')} a minute, so data is older.`,
      'Give Warmwarden a key of its own, raise headroom, or correct plan or requests_per_minute.',
    ],
    ended: () => [`${name}: an hour without a 429`, `Account ${name} has its full request budget again.`],
    numbers: () => ({ throttled_last_hour: throttledLastHour, requests_per_minute: requestsPerMinute }),
  });
}

/** Unknown until the first mailbox list. `sweep` is the first sweep, while it is running. */
export function budgetTooSmall(account: AccountState, sweep: SweepProgress | undefined, now: EpochMs): Condition {
  const { name, forecast, requestsPerMinute } = account;
  const isSmall = forecast !== null && !forecast.fits;
  const isUnguarded = isSmall && sweep !== undefined && isLong(sweep, forecast, now);
  const slow = isSlowed(account) ? slowText(account) : isNarrow(forecast) ? narrowText(forecast) : null;
  const title = isUnguarded
    ? 'mailboxes are not guarded yet, because the first sweep takes over an hour'
    : slow !== null
      ? 'the API allows less than half of the planned requests'
      : 'the request budget is too small for the cadence';
  return condition(accountSubject('budget_too_small', name, 'cadence'), {
    severity: isUnguarded || slow !== null ? 'warning' : 'info',
    active: isSmall || slow !== null ? true : forecast === null ? 'unknown' : false,
    firing: () => [
      `${name}: ${title}`,
      slow,
      isUnguarded &&
        `At this rate limit it takes over an hour to read all mailboxes of account ${name} for the first time. Until Warmwarden has read the statistics and the warm-up of a mailbox, that mailbox is not guarded.`,
      forecast
        ? `${sumText(forecast)}.`
        : `For now Warmwarden makes at most ${counted(requestsPerMinute, 'request')} a minute on account ${name}.`,
      forecast && `Warm-up data will be up to ${spanText(forecast.oldestMs.warmup)} old.`,
      'Warmwarden acts on a breach later than the cadence promises. It still reads every mailbox, the riskiest first.',
      adviceOf(account),
    ],
    ended: () => [`${name}: the cadence fits the budget`, `Warmwarden polls account ${name} as often as configured.`],
    numbers: () => ({
      mailboxes: forecast?.mailboxes ?? null,
      requests_per_minute: forecast?.allowedPerMinute ?? requestsPerMinute,
      asked_per_minute: forecast ? Math.ceil(forecast.asksPerMinute) : null,
      stats_oldest_seconds: forecast ? Math.round(forecast.calmestMs / secondMs) : null,
    }),
  });
}

function adviceOf(account: AccountState): string {
  const { forecast } = account;
  if (isSlowed(account) || forecast === null)
    return 'Ask the warm-up service for the limit of the key, or correct plan or requests_per_minute.';
  return isNarrow(forecast) ? narrowAdvice : mendText(forecast);
}

/** After several 429s, keyShared reports the requests that they alone took away. */
function isSlowed({ isSlow, limitPerMinute, configuredPerMinute, throttledLastHour }: AccountState): boolean {
  return isSlow && (2 * limitPerMinute < configuredPerMinute || throttledLastHour < throttlesUntilShared);
}

function isNarrow(forecast: Forecast | null): forecast is Forecast {
  return forecast?.narrow != null && forecast.narrow.needsPerMinute > 2 * forecast.narrow.perMinute;
}

function isLong({ since, mailboxes, read }: SweepProgress, { firstSweepMs }: Forecast, now: EpochMs): boolean {
  const leftMs = (firstSweepMs * (mailboxes - read)) / Math.max(1, mailboxes);
  return read < mailboxes && now - since + leftMs > longSweepMs;
}
