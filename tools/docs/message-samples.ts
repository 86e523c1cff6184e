// What happened in each message of docs/messages.md: mailboxes, answers and counts. The rules make the texts of them.

import type { Condition } from '../../src/alerts/condition.ts';
import { accountConditions, mailboxListShort, mailboxMissing } from '../../src/alerts/rules/account-rules.ts';
import { actedEvent, actionFailedCondition } from '../../src/alerts/rules/action-rules.ts';
import { guardHeld } from '../../src/alerts/rules/breaker-rule.ts';
import {
  channelsFailing,
  configMatchesNothing,
  configReloadFailed,
  crashed,
  heartbeatName,
  storeFailing,
} from '../../src/alerts/rules/daemon-rules.ts';
import { changedByOthersEvent, manyStoppedEvent, operatorActedEvent } from '../../src/alerts/rules/event-rules.ts';
import { accountShiftAlert, domainOverLimit } from '../../src/alerts/rules/pooled-rules.ts';
import {
  accountRemoved,
  channelsRemoved,
  enforcementOff,
  messagesSilenced,
  writesOffCondition,
} from '../../src/alerts/rules/protection-rule.ts';
import type { Transition } from '../../src/core/alert.ts';
import type { AlertRule } from '../../src/core/alert-rules.ts';
import type { RecentBounce, StatsRow } from '../../src/core/answers.ts';
import { admit, type BreakerEntry, type BreakerState, closedBreaker } from '../../src/core/guard/breaker.ts';
import type { AccountState, Change, MailboxState } from '../../src/core/mailbox.ts';
import type { CommandEntry } from '../../src/core/operator-command.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, dayMs, hourMs, minuteMs, utcDate } from '../../src/core/time.ts';
import type { Claim, Verdict } from '../../src/core/verdict.ts';
import { failureOf } from '../../src/store/failure.ts';
import {
  alertBook,
  breach,
  conditionOf,
  judged,
  sampleAction,
  sampleContext,
  sampleMailbox,
  sampleVerdict,
  start,
} from '../../test/alerts/samples.ts';
import { row, warmupAnswer } from '../../test/guard/samples.ts';
import { account, forecast } from '../../test/web/example-fleet.ts';

/** Something that a rule reports: a state that lasts, or an event. */
export type Sample = Condition | Transition | null | undefined;

const zone = 'UTC';
const today = utcDate(start);
const context = sampleContext();
const acme = 'acme';
const reload = { by: 'ann', at: start };

const hard: RecentBounce = { type: 'hard', category: 'invalid_recipient' };
const bounces = [hard, hard, { type: 'soft', category: 'mailbox_full' }];

function warmupWith(recentBounces: readonly RecentBounce[], mode = 'balanced') {
  return { at: start, answer: { ...warmupAnswer(mode, 'active'), recentBounces } };
}

function running(mode: string, change: Partial<MailboxState> = {}): MailboxState {
  return sampleMailbox({ warmup: warmupWith(bounces, mode), ...change });
}

/** Its changes were reversed two hours and one hour ago. */
function reversed(): MailboxState {
  const memory = { interventions: [], reversals: [start - 2 * hourMs, start - hourMs], claim: null } as never;
  return { ...withVerdict({ ...breach, action: 'hold', reason: 'contested' }), memory };
}

function withVerdict(verdict: Partial<Verdict>): MailboxState {
  return running(verdict.mode ?? 'balanced', { verdict: { at: start, answer: sampleVerdict(verdict) } });
}

const emergency: Partial<Verdict> = {
  ...breach,
  action: 'pause',
  wanted: 'pause',
  reason: 'emergency',
  emergency: { sent: 12, bounced: 5, from: addDays(today, -1) },
};
const inRecovery: Partial<Verdict> = { ...breach, action: 'pause', wanted: 'pause', mode: 'recovery', limitPpm: 3_000 };
const clean = { mode: 'balanced', cleanDays: 8, cleanMails: 104, neededDays: 7, neededMails: 100 } as const;
const few = { reason: 'insufficient_evidence', sent: 85, bounced: 1, bouncesUntilBreach: 1 } as const;
/** One bounce, which the warm-up shows, too. */
function fewIn(mode: string, limitPpm: number): MailboxState {
  return { ...withVerdict({ ...few, mode, limitPpm }), warmup: warmupWith([hard], mode) };
}

const burst = {
  sent: 440,
  bounced: 4,
  bouncesUntilBreach: 1,
  burst: { sent: 50, bounced: 4, from: today, days: 1 },
} as const;
const held: Partial<Verdict> = { ...breach, action: 'hold' };

function ofAccount(change: Partial<AccountState>, kind: string, now = start) {
  const state = account(acme, { lastSuccessAt: start, ...change });
  return accountConditions(state, now, zone).find(({ subject }) => subject.object === kind || subject.rule === kind);
}

const down = 'the API does not answer (the connection was refused)';
const rejected = 'the API refuses the key (HTTP 401: unauthorized); check the api_key of this account';
const throttled = 'the API reports too many requests (HTTP 429); check plan or requests_per_minute';
const unreadable = "the API refuses to answer (HTTP 403: forbidden); check the plan and the key's read permission";
const downSince = (failingSince: number) => ({ failingSince, lastSuccessAt: failingSince - 4_000 });
const unlisted = { since: start - 4 * minuteMs, detail: 'the API fails (HTTP 500 without a text)' };

/** A mailbox that Warmwarden switched to recovery mode some days ago. */
function recovering(days: number, dailyLimit: number): MailboxState {
  const since = start - days * dayMs;
  const claim: Claim = { kind: 'recovery', actionId: 'a1', since, previousMode: 'balanced', under: null };
  const memory = { interventions: [], reversals: [], claim } as never;
  const answer = { ...warmupAnswer('recovery', 'active'), dailyLimit };
  return { ...withVerdict({ ...few, mode: 'recovery', limitPpm: 3_000 }), warmup: { at: start, answer }, memory };
}

/** A breaker with default settings over 40 running mailboxes, of which `count` breach at once. The fifth opens it. */
function breakerAfter(count: number, emergencies: readonly number[], firstSight: boolean): BreakerState {
  let state = closedBreaker;
  for (let number = 1; number <= count; number += 1) {
    const domain = `acme${number % 3}.example`;
    const about = { key: `acme/m${number}`, account: acme, email: `bob${number}@${domain}`, domain };
    const isEmergency = emergencies.includes(number) && ({ emergency: true } as const);
    const candidate = { ...about, statsAt: start, weight: 10 - number, firstSight, ...isEmergency };
    state = admit(state, candidate, { policy: defaultPolicy.breaker, running: () => 40, now: start }).state;
  }
  return state;
}

function holding(breaker: BreakerState): Condition {
  const about = { api: 'https://api.example', alert: undefined, windowMs: defaultPolicy.breaker.windowMs, now: start };
  const verdictOf = (one: BreakerEntry) => sampleVerdict(one.emergency ? emergency : { ...breach, wanted: 'recovery' });
  return guardHeld(breaker, { ...about, zone, verdictOf });
}

const sent = (date: string, change: Partial<StatsRow>): StatsRow => ({ ...row(date, 30, 0), ...change });

const pass = { status: 'pass', pass: true, record: null };
const passing = { domain: 'acme.example', checkedAt: null, records: { spf: pass, dkim: pass, dmarc: pass } };

function withSpf(status: string, isUnlisted?: true): MailboxState {
  const spf = { status, pass: false, record: 'v=spf1 -all', ...(isUnlisted && { isUnlisted }) };
  return sampleMailbox({ dns: { at: start, answer: { ...passing, records: { ...passing.records, spf } } } });
}

function listedOn(...lists: readonly string[]): MailboxState {
  const checked = { domain: 'acme.example', ip: '203.0.113.7', checkedAt: null, checked: 24 };
  const answer = { ...checked, listed: true, lists, found: lists.length };
  return sampleMailbox({ blacklist: { at: start, answer } });
}

function unwell(status: string, connectionError: string | null): MailboxState {
  const connection = connectionError === null ? ('connected' as const) : ('error' as const);
  const answer = { status, healthScore: null, dailyLimit: null, connection, connectionError };
  const { entry: listed } = sampleMailbox();
  return sampleMailbox({
    entry: { at: start, answer: { ...listed.answer, status } },
    detail: { at: start, answer },
  });
}

const lowPlacement = Array.from({ length: 7 }, (_, back) =>
  sent(addDays(today, back - 6), { delivered: 30, spamLanded: 9, inboxRatePercent: 70, healthScore: 96 }),
);

const knowledge = { counted: 5, unknown: 0, pending: 0, oldestAt: () => start - 20 * minuteMs };
const domainCounts = { sent: 290, bounced: 9, allowed: 5_800_000, from: addDays(today, -1), to: today, mailboxes: 5 };

const tooSmall = forecast({
  ...{ mailboxes: 1_000, asksPerMinute: 110.3, fits: false, firstSweepMs: 0, calmestMs: 18 * minuteMs },
  oldestMs: { ...forecast().oldestMs, stats: 18 * minuteMs, warmup: 37 * minuteMs },
  mend: { requestsPerMinute: 123, statsMs: 20 * minuteMs, warmupMs: hourMs },
});

const between = { since: start - 15 * minuteMs, at: start } as const;
const raised: Change = { ...between, what: 'mode', from: 'slow', to: 'balanced' };
const paused: Change = { ...between, what: 'warm-up', from: 'active', to: 'paused' };
const calm = { nearLimit: false, forgets: false } as const;
const stopped = Array.from({ length: 6 }, (_, number) =>
  sampleMailbox({ id: `m${number}`, warmup: { at: start, answer: warmupAnswer('balanced', 'stopped') } }),
);

function named(id: string): MailboxState {
  return { ...sampleMailbox(), id, email: `${id}@acme.example` };
}

const ran: CommandEntry = {
  id: 12,
  at: start,
  account: acme,
  mailboxes: [sampleMailbox()],
  name: 'pause',
  command: 'pause acme/bob@acme.example',
  by: 'ann',
  reason: 'the list is bad',
  end: 'done',
  endedAt: start,
  outcome: 'bob@acme.example: paused, confirmed after 0.4 s.',
};

const failing = { lastSuccessAt: start - hourMs, failingSince: start - 15 * minuteMs };
const refused = {
  lastFailure: 'Slack answered 404 (no_service): create an incoming webhook in Slack, and set url to its address',
};

const diskFull = Object.assign(new Error('database or disk is full'), { errcode: 13 });

const stop = { since: start, until: start + 4 * hourMs, by: 'ann', reason: 'migration' } as const;
const writesOff = { scope: { kind: 'everything' }, ...stop } as const;
const silence = {
  id: 'sil_4f',
  match: {},
  by: 'ann',
  reason: 'night',
  from: start,
  until: start + 8 * hourMs,
} as const;

/** At least one for each rule, and one for each of its causes. */
export const messageSamples: Readonly<Record<AlertRule, readonly Sample[]>> = {
  not_guarded: [
    ofAccount({ ...downSince(start - 3 * minuteMs), lastFailure: down }, 'api down'),
    ofAccount({ ...downSince(start), rejections: 2, keyRejected: true, lastFailure: rejected }, 'key rejected'),
    ofAccount({ keyWrites: false }, 'key read-only'),
    mailboxListShort(acme, { listed: 6, missing: ['bob', 'eve'].map(named), truncated: false }),
    mailboxListShort(acme, { listed: 0, missing: [], truncated: false }),
    ofAccount(
      { listed: false, watchedSince: start - 3 * minuteMs, listFailing: { since: start, detail: throttled } },
      'list unread',
    ),
    ofAccount({ unjudged: { since: start - 30 * minuteMs, detail: unreadable } }, 'nothing judged'),
  ],
  crashed: [crashed({ at: start, why: 'account acme: its request loop ended with an error' }, zone)],
  guard_acted: [
    actedEvent(sampleAction({ kind: 'pause', verdict: sampleVerdict(emergency) }), context),
    actedEvent(sampleAction({ kind: 'pause', verdict: sampleVerdict(inRecovery) }), context),
    actedEvent(sampleAction(), context),
  ],
  restored: [
    actedEvent(
      sampleAction({
        ...{ kind: 'restore', targetMode: 'balanced', before: { mode: 'recovery', status: 'active', run: 'running' } },
        verdict: sampleVerdict({ action: 'restore', reason: 'clean_volume', mode: 'recovery', restore: clean }),
      }),
      context,
    ),
  ],
  guard_held: [holding(breakerAfter(8, [7], false)), holding(breakerAfter(7, [], true))],
  protection_off: [
    writesOffCondition(writesOff, null, zone),
    enforcementOff({ kind: 'everything' }, reload, zone),
    accountRemoved({ account: acme, mailboxes: 40, ...reload }, zone),
    channelsRemoved({ channels: ['ops', 'mail'], file: '/etc/warmwarden/config.yaml', ...reload }, zone),
    messagesSilenced([silence], [], { accounts: [{ name: acme, tags: [] }], zone })[0],
  ],
  contested: [conditionOf('contested', 'stats', reversed())],
  recovery_without_effect: [
    conditionOf('daily limit', 'stats', recovering(1, 40)),
    conditionOf('overdue', 'stats', recovering(45, 15)),
  ],
  guard_action_failed: [
    actionFailedCondition(
      sampleAction({ state: 'refused', detail: 'HTTP 409: conflict', nextTryAt: start + hourMs }),
      breach,
      context,
    ),
    actionFailedCondition(
      sampleAction({ state: 'unconfirmed', attempts: 5, settledAt: start + minuteMs }),
      breach,
      context,
    ),
    actionFailedCondition(
      sampleAction({ state: 'planned', plannedAt: start - 6 * minuteMs, openedAt: null, settledAt: null }),
      breach,
      context,
    ),
  ],
  guard_blind: [
    conditionOf(
      'guard_blind',
      'stats',
      withVerdict({ ...held, wanted: 'hold', reason: 'unknown_mode', mode: 'turbo' }),
    ),
    conditionOf('guard_blind', 'stats', withVerdict({ ...held, wanted: 'hold', reason: 'missing_counts' })),
  ],
  bounce_over_limit: [
    conditionOf('bounce_over_limit', 'stats', withVerdict(breach), { writesOff, mayWrite: false }),
    conditionOf('bounce_over_limit', 'stats', fewIn('slow', 5_000)),
    conditionOf('bounce_over_limit', 'stats', fewIn('recovery', 3_000)),
  ],
  bounce_near_limit: [
    conditionOf('bounce_near_limit', 'stats', withVerdict({ sent: 440, bounced: 4, bouncesUntilBreach: 1 })),
  ],
  bounce_burst: [
    conditionOf('bounce_burst', 'stats', withVerdict(burst)),
    conditionOf('bounce_burst', 'stats', { ...withVerdict(burst), warmup: warmupWith([hard, hard]) }),
  ],
  shared_bounces: [
    domainOverLimit(
      {
        ...{ account: acme, domain: 'acme.example', excess: domainCounts, week: () => null, ...knowledge },
        worst: () => [
          { email: 'bob@acme.example', sent: 60, bounced: 4 },
          { email: 'eve@acme.example', sent: 58, bounced: 3 },
        ],
      },
      start,
    ),
    accountShiftAlert(
      {
        account: acme,
        shift: {
          last: { sent: 2_000, bounced: 44, allowed: 0, from: addDays(today, -1), to: today },
          before: { sent: 27_000, bounced: 162, allowed: 0, from: addDays(today, -29), to: addDays(today, -2) },
          ...{ domains: 9, isShifted: true, hasEnded: false },
        },
        ...knowledge,
        counted: 60,
      },
      start,
    ),
  ],
  mailbox_unwell: [
    conditionOf('connection', 'mailbox', unwell('error', 'IMAP login failed')),
    conditionOf('status', 'mailbox', unwell('locked', null)),
  ],
  mailbox_missing: [mailboxMissing(sampleMailbox(), true)],
  dns_failing: [
    conditionOf('dns_failing', 'dns', withSpf('fail')),
    conditionOf('dns_failing', 'dns', withSpf('misaligned', true)),
  ],
  blacklisted: [
    conditionOf('blacklisted', 'blacklist', listedOn('dnsbl.example')),
    conditionOf('blacklisted', 'blacklist', listedOn('zen.spamhaus.org', 'dnsbl.example'), {
      rules: { ...context.rules, blacklisted: { ...context.rules.blacklisted, major: ['*.spamhaus.org'] } },
    }),
  ],
  stale_data: [
    conditionOf(
      'statistics',
      'time',
      {
        ...judged({}),
        verdict: { at: start - hourMs, answer: sampleVerdict() },
        stats: { at: start - hourMs, answer: { rows: [] } },
      },
      { staleBefore: start - 45 * minuteMs },
    ),
    conditionOf(
      'dns',
      'dns',
      {
        ...sampleMailbox(),
        dns: { at: start, answer: { ...passing, checkedAt: new Date(start - 2 * dayMs).toISOString() } },
      },
      context,
    ),
    conditionOf(
      'blacklist',
      'time',
      { ...sampleMailbox(), firstSeenAt: start - 2 * dayMs },
      {
        staleMeasurement: () => ({ olderThanMs: dayMs, unreadSince: start - dayMs }),
      },
    ),
  ],
  reputation_low: [
    conditionOf('inbox rate', 'stats', sampleMailbox({ stats: { at: start, answer: { rows: lowPlacement } } })),
    conditionOf(
      'health score',
      'stats',
      sampleMailbox({
        stats: { at: start, answer: { rows: lowPlacement } },
        entry: { at: start, answer: { ...sampleMailbox().entry.answer, healthScore: 78 } },
      }),
    ),
  ],
  budget_too_small: [
    ofAccount({ forecast: tooSmall }, 'cadence'),
    ofAccount({ throttledLastHour: 4, requestsPerMinute: 60 }, 'shared key'),
  ],
  changed_by_others: [
    changedByOthersEvent([{ kind: 'paused', change: paused }], { before: judged({}), ...calm }, context),
    changedByOthersEvent(
      [{ kind: 'mode_raised', change: raised }],
      { before: withVerdict({ sent: 440, bounced: 4, bouncesUntilBreach: 1 }), nearLimit: true, forgets: false },
      context,
    ),
    manyStoppedEvent(stopped, 20, context),
  ],
  api_unwell: [
    ofAccount({ health: 'other', apiHealth: { status: 'degraded', clockAheadMs: 0 } }, 'status'),
    accountConditions(account(acme, { lastSuccessAt: start, listFailing: unlisted }), start, zone).find(
      ({ subject }) => subject.rule === 'api_unwell' && subject.object === 'mailbox list',
    ),
  ],
  clock_off: [ofAccount({ apiHealth: { status: 'ok', clockAheadMs: 5 * minuteMs } }, 'clock_off')],
  config_wrong: [
    configReloadFailed(['config.yaml:12:5 guard.window_days: must be at least 1']),
    configMatchesNothing(
      acme,
      [
        {
          place: 'accounts[0].mailboxes.exclude[0]',
          pattern: '*@acme.exmaple',
          hint: ' (did you mean *@acme.example?)',
        },
      ],
      undefined,
    ),
  ],
  operator_acted: [operatorActedEvent(ran, context)],
  channel_failing: [
    ...channelsFailing([{ name: 'ops', ...failing, ...refused }], [], zone),
    ...channelsFailing([{ name: heartbeatName, ...failing, lastFailure: 'it answered 404' }], [], zone),
  ],
  store_failing: [storeFailing(failureOf('/var/lib/warmwarden/warmwarden.db', diskFull))],
};

/** Mailboxes that Warmwarden switched to recovery mode within half a minute. */
export const severalAtOnce: readonly Sample[] = ['bob', 'eve', 'kim'].map((name, number) =>
  actedEvent(sampleAction({ id: `a${number}`, mailboxId: name, email: `${name}@acme.example` }), context),
);

/** The end of an alert, an hour after its beginning. */
export const connectionBack: Sample = endOf(unwell('error', 'IMAP login failed'), unwell('active', null));

function endOf(bad: MailboxState, good: MailboxState): Sample {
  const now = start + hourMs;
  const book = alertBook();
  for (const _ of [1, 2]) book.see([conditionOf('connection', 'mailbox', bad)], start);
  book.see([conditionOf('connection', 'mailbox', good, { now })], now);
  return book.notified.at(-1);
}
