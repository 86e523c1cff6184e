// Mailboxes, verdicts, actions and alerts for tests of the store, each with every field that can be there.

import { newMailbox } from '../../src/account/record/observe.ts';
import type { OpenAction, PlannedAction } from '../../src/core/action.ts';
import { type Alert, type AlertChanges, fingerprintOf, type Transition } from '../../src/core/alert.ts';
import type { GuardMemory } from '../../src/core/guard/memory.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import type { Store } from '../../src/store/store.ts';
import type { AnswerRecord, NewDecision } from '../../src/store/writes.ts';
import { row } from '../guard/samples.ts';
import { type ActionChange, actionWith } from '../support/action-with.ts';

export const now = Date.UTC(2026, 2, 10, 8, 30);
export const noAlerts: AlertChanges = { changed: [], dropped: [], transitions: [] };
/** A list of acme that brings nothing new, and an answer that moves nothing. */
export const emptyList = {
  ...{ account: 'acme', present: [], absent: [], left: [], leftAt: now },
  ...{ alerts: noAlerts, breaker: null },
};
export const emptyAnswer: Omit<AnswerRecord, 'mailbox'> = {
  ...{ remembers: true, changes: [], decisions: [], actions: [], alerts: noAlerts, breaker: null },
  answered: ['stats'],
};

export function verdictOf(changes: Partial<Verdict> = {}): Verdict {
  return {
    action: 'none',
    reason: 'ok',
    wanted: 'none',
    mode: 'balanced',
    run: 'running',
    sent: 160,
    bounced: 1,
    limitPpm: 10_000,
    windowFrom: '2026-03-04',
    windowTo: '2026-03-10',
    windowDays: 7,
    emergency: { sent: 20, bounced: 3, from: '2026-03-09' },
    burst: null,
    restore: null,
    bouncesUntilBreach: 1,
    dataAgeMs: 250,
    warnings: ['2026-03-09: two rows differ; Warmwarden uses the one with more emails'],
    ...changes,
  };
}

export const memory: GuardMemory = {
  firstSeenAt: now - 1_000,
  answersJudged: 3,
  mode: 'balanced',
  run: 'running',
  evidence: { from: '2026-03-04', before: { sent: 2, bounced: 1 } },
  emergencyEvidence: { from: '2026-03-05', before: null },
  interventions: [now - 900, now - 800],
  claim: { kind: 'recovery', actionId: 'a1', since: now - 800, previousMode: 'balanced', under: null },
  pauseWord: null,
  reversals: [],
};

/** A mailbox as the first list shows it. */
export function arrivedMailbox(id: string, changes: Partial<MailboxState> = {}): MailboxState {
  const answer = {
    id,
    email: `${id}@one.example`,
    provider: 'google',
    status: 'active',
    healthScore: 98.5,
    dailyLimit: 40,
    warmupDay: 12,
  };
  return { ...newMailbox('acme', { at: now, answer }), ...changes };
}

const pass = { status: 'pass', pass: true, record: 'v=spf1 -all' };
const counted = { ...row('2026-03-10', 12, 1), delivered: 11, opened: 5, replied: 3, spamLanded: 2, healthScore: 98 };

/** The answers of every route, with texts that are not plain. */
export const answers = {
  warmup: {
    at: now + 1,
    answer: {
      status: 'active',
      mode: 'balanced',
      dailyLimit: 40,
      warmupDay: 12,
      healthScore: null,
      config: {
        targetDailyLimit: 40,
        replyRate: 30,
        threadRate: null,
        weekdaysOnly: true,
        sendWindowStart: 9,
        sendWindowEnd: 17,
      },
      recentBounces: [{ type: 'hard', category: null }],
    },
  },
  stats: { at: now + 2, answer: { rows: [{ ...counted, inboxRatePercent: 97.25, bounceRatePercent: 8.33 }] } },
  detail: {
    at: now + 3,
    answer: {
      status: 'active',
      healthScore: 1.5,
      dailyLimit: 40,
      connection: 'error',
      connectionError: `'"; DROP TABLE mailboxes; -- \u{1f4a5}`,
    },
  },
  dns: {
    at: now + 4,
    answer: {
      domain: 'one.example',
      checkedAt: '2026-03-10T08:00:00.000Z',
      records: { spf: pass, dkim: { status: 'fail', pass: false, record: null }, dmarc: { ...pass, pass: null } },
    },
  },
  blacklist: {
    at: now + 5,
    answer: {
      domain: 'one.example',
      ip: '203.0.113.7',
      checkedAt: null,
      listed: true,
      lists: ['zen.example'],
      found: 1,
      checked: 24,
    },
  },
} as const satisfies Partial<MailboxState>;

export function actionOf(mailboxId: string, changes: ActionChange = {}, moments = { openedAt: now, settledAt: now }) {
  const planned: PlannedAction = {
    id: 'a1',
    account: 'acme',
    mailboxId,
    email: `${mailboxId}@one.example`,
    kind: 'recovery',
    by: null,
    targetMode: changes.kind === 'pause' ? null : 'recovery',
    state: 'planned',
    verdict: verdictOf({ action: 'recovery', reason: 'bounce_rate_over_limit', wanted: 'recovery' }),
    before: { mode: 'balanced', status: 'active', run: 'running' },
    attempts: 0,
    plannedAt: now,
    openedAt: null,
    settledAt: null,
    nextTryAt: null,
    detail: null,
    causes: [],
  };
  return actionWith(planned, changes, moments);
}

/** One that is open, five milliseconds later. */
export function intentOf(mailboxId: string, id = 'a1'): OpenAction {
  const intent = actionOf(mailboxId, { id, state: 'open', attempts: 1, openedAt: now + 5 });
  if (intent.state !== 'open') throw new Error('an open one');
  return intent;
}

export function alertOf(mailboxId: string | null, changes: Partial<Alert> = {}): Alert {
  const email = mailboxId && `${mailboxId}@one.example`;
  const subject = { rule: 'stale_data', account: 'acme', mailboxId, email, object: null, ...changes } as const;
  return {
    ...subject,
    fingerprint: fingerprintOf(subject),
    severity: 'warning',
    status: 'firing',
    since: now,
    firingAt: now,
    resolvedAt: null,
    firesAt: null,
    seen: 0,
    facts: { title: 'stale', sentences: ['One.', 'Two.'], numbers: { age: 3, read_at: null } },
    ...changes,
  };
}

export function transitionOf(alert: Alert, kind: Transition['kind'] = 'firing'): Transition {
  return { kind, at: now, alert };
}

/** One verdict to be recorded. */
export function decided(verdict: Verdict, { at = now, unchanged = false, days = [] }: Partial<NewDecision> = {}) {
  return [{ verdict, at, unchanged, judged: 1, days }];
}

/** The stored decisions of a mailbox of which nothing else is known, the newest first. */
export async function decisionsOf(store: Pick<Store, 'entriesOf'>, account: string, id: string, limit: number) {
  const mailbox = { account, id, memory: null, verdict: null, stats: null };
  return (await store.entriesOf(mailbox as MailboxState, Number.MAX_SAFE_INTEGER, limit)).decisions;
}
