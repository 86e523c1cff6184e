// A fleet filled by hand, for tests of pages and metrics: small makers, and one fleet that has a bit of everything.

import { newMailbox } from '../../src/account/record/observe.ts';
import type { Action } from '../../src/core/action.ts';
import type { Alert } from '../../src/core/alert.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { GuardMemory } from '../../src/core/guard/memory.ts';
import type { AccountState, Forecast, MailboxState } from '../../src/core/mailbox.ts';
import { addDays, hourMs, minuteMs, utcDate } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { row as emptyRow } from '../guard/samples.ts';
import { actionOf, alertOf, answers, memory as storedMemory, verdictOf } from '../store/records.ts';
import type { ActionChange } from '../support/action-with.ts';

export const now = Date.parse('2026-03-12T03:12:07Z');
export const today = utcDate(now);

export function account(name: string, changes: Partial<AccountState> = {}): AccountState {
  return {
    name,
    requestsPerMinute: 90,
    limitPerMinute: 100,
    configuredPerMinute: 100,
    isSlow: false,
    lastSuccessAt: now - 4_000,
    failingSince: null,
    lastFailure: null,
    keyRejected: false,
    rejections: 0,
    keyWrites: null,
    throttledLastHour: 0,
    watchedSince: 0,
    listed: true,
    unlisted: [],
    health: 'ok',
    apiHealth: { status: 'ok', clockAheadMs: 0 },
    queueLength: 3,
    oldestDueAt: now - 12_000,
    forecast: null,
    ...changes,
  };
}

/** A cadence that fits, of data that is at most a minute old. */
export function forecast(changes: Partial<Forecast> = {}): Forecast {
  const age = minuteMs;
  const oldestMs = { health: age, mailboxes: age, stats: age, warmup: age, mailbox: age, dns: age, blacklist: age };
  const rates = { mailboxes: 3, allowedPerMinute: 90, isHeldBack: false, asksPerMinute: 3, fits: true, mend: null };
  const usedPerMinute = changes.allowedPerMinute ?? rates.allowedPerMinute;
  return { ...rates, usedPerMinute, narrow: null, oldestMs, calmestMs: age, firstSweepMs: age, ...changes };
}

export function row(date: string, changes: Partial<StatsRow> = {}): StatsRow {
  const said = { delivered: 20, opened: 10, replied: 5, spamLanded: 1 };
  return { ...emptyRow(date, 20, 0), ...said, inboxRatePercent: 95, bounceRatePercent: 0, ...changes };
}

/** Rows of the last days, the newest last, with these bounces on the newest days. */
export function rows(days: number, bounces: readonly number[] = [], sent = 30): readonly StatsRow[] {
  return Array.from({ length: days }, (_, index) => {
    const back = days - 1 - index;
    const bounced = bounces[bounces.length - 1 - back] ?? 0;
    const emails = Math.max(2, sent - back + ((index * 7) % 5));
    return row(addDays(today, -back), { sent: emails, bounced, delivered: emails - bounced });
  });
}

export function verdict(changes: Partial<Verdict> = {}): Verdict {
  return verdictOf({
    ...{ wanted: changes.action ?? 'none', sent: 190, bounced: 0, bouncesUntilBreach: 2, emergency: null },
    ...{ windowFrom: addDays(today, -6), windowTo: today, dataAgeMs: 4 * minuteMs, warnings: [], ...changes },
  });
}

function memory(changes: Partial<GuardMemory> = {}): GuardMemory {
  const fresh = { firstSeenAt: now - 400 * hourMs, evidence: null, emergencyEvidence: null, interventions: [] };
  return { ...storedMemory, ...fresh, answersJudged: 9, claim: null, ...changes };
}

/** A mailbox of which only the list was read. */
export function bareMailbox(id: string, email: string, account = 'acme'): MailboxState {
  const entry = { id, email, provider: null, status: null, healthScore: null, dailyLimit: null, warmupDay: null };
  return { ...newMailbox(account, { at: now - minuteMs, answer: entry }), firstSeenAt: now - 400 * hourMs };
}

/** A mailbox of which everything is known. */
export function mailbox(id: string, email: string, changes: Partial<MailboxState> = {}): MailboxState {
  const at = now - 4 * minuteMs;
  const config = { ...answers.warmup.answer.config, threadRate: 10, weekdaysOnly: false };
  const pass = { status: 'pass', pass: true, record: 'v=...' };
  const common = { healthScore: 92, dailyLimit: 30, warmupDay: 21 };
  const checked = { domain: 'acme.example', checkedAt: '2026-03-20T09:00:00.000Z' };
  const unlisted = { ...checked, ip: '192.0.2.1', listed: false, lists: [], found: 0, checked: 40 };
  return {
    ...bareMailbox(id, email),
    entry: { at: now - minuteMs, answer: { id, email, provider: 'google', status: 'active', ...common } },
    warmup: { at, answer: { status: 'active', mode: 'balanced', ...common, config, recentBounces: [] } },
    stats: { at, answer: { rows: rows(24) } },
    detail: { at, answer: { status: 'active', ...common, connection: 'connected', connectionError: null } },
    dns: { at: now - 2 * hourMs, answer: { ...checked, records: { spf: pass, dkim: pass, dmarc: pass } } },
    blacklist: { at: now - 2 * hourMs, answer: unlisted },
    memory: memory(),
    verdict: { at, answer: verdict() },
    ...changes,
  };
}

/** Fleet of that many mailboxes of the account acme, the first of which is m0, box0@acme.example. */
export function fleetOf(count: number, first = 0): Fleet {
  const fleet = new Fleet();
  fleet.putAccount(account('acme'));
  for (let index = first; index < first + count; index += 1)
    fleet.putMailbox(mailbox(`m${index}`, `box${index}@acme.example`));
  return fleet;
}

export function action(
  id: string,
  { account, id: mailboxId, email }: MailboxState,
  changes: ActionChange = {},
): Action {
  const breach = verdict({ action: 'recovery', reason: 'bounce_rate_over_limit', sent: 210, bounced: 4 });
  const planned = { id, account, email, verdict: breach, plannedAt: now - 7 * minuteMs, state: 'confirmed' } as const;
  const moments = { openedAt: now - 7 * minuteMs, settledAt: now - 6 * minuteMs };
  return actionOf(mailboxId, { ...planned, ...changes }, moments);
}

export function alert(changes: Partial<Alert> & Pick<Alert, 'rule'>): Alert {
  const facts = { title: 'something is wrong', sentences: [], numbers: {} };
  return alertOf(null, { since: now - 20 * minuteMs, firingAt: now - 19 * minuteMs, seen: 2, facts, ...changes });
}

function claim(kind: 'recovery' | 'pause', actionId: string) {
  return memory({ claim: { kind, actionId, since: now - 6 * minuteMs, previousMode: 'balanced', under: null } });
}

function recoveryWarmup(): MailboxState['warmup'] {
  const { warmup } = mailbox('any', 'any@acme.example');
  return warmup && { ...warmup, answer: { ...warmup.answer, mode: 'recovery' } };
}

/** Two accounts and mailboxes in five states. */
export function exampleFleet(): Fleet {
  const fleet = new Fleet();
  fleet.putAccount(account('acme', { keyWrites: true }));
  fleet.putAccount(account('northwind', { queueLength: 0, oldestDueAt: null, requestsPerMinute: 450 }));
  const paused = mailbox('m1', 'sales@acme.example', {
    memory: claim('pause', 'a1'),
    stats: { at: now - 4 * minuteMs, answer: { rows: rows(24, [0, 1, 0, 5, 4]) } },
    verdict: {
      at: now - 4 * minuteMs,
      answer: verdict({ reason: 'already_paused', run: 'paused', sent: 190, bounced: 10, bouncesUntilBreach: 0 }),
    },
  });
  const recovering = mailbox('m2', 'hello@acme.example', {
    memory: claim('recovery', 'a2'),
    warmup: recoveryWarmup(),
    stats: { at: now - 4 * minuteMs, answer: { rows: rows(30, [2, 0, 1, 0, 0, 0, 0, 0]) } },
    verdict: { at: now - 4 * minuteMs, answer: verdict({ mode: 'recovery', limitPpm: 3_000, sent: 41 }) },
  });
  fleet.putMailbox(
    mailbox('m3', 'team@northwind.example', {
      account: 'northwind',
      verdict: { at: now - 4 * minuteMs, answer: verdict({ bounced: 2, sent: 214, bouncesUntilBreach: 1 }) },
    }),
  );
  fleet.putMailbox(bareMailbox('m4', 'new@northwind.example', 'northwind'));
  for (let index = 5; index <= 12; index += 1) fleet.putMailbox(mailbox(`m${index}`, `box${index}@acme.example`));
  const pause = action('a1', paused, {
    kind: 'pause',
    verdict: verdict({ action: 'pause', reason: 'emergency', sent: 44, bounced: 9 }),
    plannedAt: now - 9 * minuteMs,
    detail: 'Read back: the warm-up is paused.',
  });
  const recovery = action('a2', recovering, { plannedAt: now - 40 * hourMs, settledAt: now - 40 * hourMs });
  fleet.putMailbox({ ...paused, action: pause });
  fleet.putMailbox({ ...recovering, action: recovery });
  fleet.putAction(pause);
  fleet.putAction(recovery);
  const sentences = ['Two checks in a row found no DKIM record.', 'Put the DKIM record back at your DNS provider.'];
  const facts = { title: 'DKIM of acme.example fails', sentences, numbers: {} };
  fleet.putAlert(alert({ rule: 'dns_failing', severity: 'critical', object: 'acme.example', facts }));
  fleet.putChannel({
    name: 'ops',
    type: 'slack',
    pending: 0,
    oldestPendingAt: null,
    lastSuccessAt: now - 6 * minuteMs,
    undelivered: 0,
    failingSince: null,
    lastFailure: null,
    refusesSetup: false,
  });
  return fleet;
}
