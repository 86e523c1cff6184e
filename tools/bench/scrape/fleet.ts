// A fleet of any size for the scrape benchmark, and an eighth of it that changes as a round of stats polls would change it.
import { Fleet } from '../../../src/fleet/fleet.ts';
import type { StatsRow } from '../../../src/model/answers.ts';
import type { AccountState, MailboxState } from '../../../src/model/mailbox.ts';
import { addDays, minuteMs, utcDate } from '../../../src/model/time.ts';
import type { Verdict } from '../../../src/model/verdict.ts';

/** One key at 500 requests a minute polls an eighth of 1,000 mailboxes in 15 seconds. */
const mailboxesPerAccount = 1_000;
const changedShare = 1 / 8;
const begin = Date.UTC(2026, 2, 12, 3);
const today = utcDate(begin);
const days = 30;

/** Days are shared between mailboxes: this measures scrapes, not the memory of statistics. */
const histories: readonly (readonly StatsRow[])[] = Array.from({ length: 64 }, (_, seed) =>
  Array.from({ length: days }, (_, day) => rowOf(addDays(today, day + 1 - days), seed + day)),
);

function rowOf(date: string, seed: number): StatsRow {
  const sent = 20 + (seed % 17);
  const bounced = seed % 29 === 0 ? 1 : 0;
  const delivered = sent - bounced;
  const [opened, replied, spamLanded] = [seed % 11, seed % 7, seed % 3];
  return { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent: 93.5, bounceRatePercent: 0 };
}

/** The mailbox as its `poll`-th stats poll leaves it. Everything of it is known. */
function mailboxOf(index: number, poll: number): MailboxState {
  const account = accountOf(index);
  const [id, email] = [`mbx_${index.toString(36)}`, `ada.moss.${index}@outreach-${index % 997}.example`];
  const at = begin + (index % 900_000) + poll * 15 * minuteMs;
  const pass = { status: 'pass', pass: true, record: null };
  const told = { status: 'active', healthScore: 80 + (index % 20), dailyLimit: 30, warmupDay: 21 };
  return {
    account,
    id,
    email,
    firstSeenAt: begin,
    missingLists: 0,
    entry: { at: begin, answer: { id, email, provider: 'google', ...told } },
    warmup: { at: begin, answer: { ...told, mode: 'balanced', config: warmupConfig } },
    stats: { at, answer: { rows: histories[(index + poll) % histories.length] ?? null } },
    detail: { at: begin, answer: { ...told, connection: 'connected', connectionError: null } },
    dns: { at: begin, answer: { domain: null, checkedAt: null, records: { spf: pass, dkim: pass, dmarc: pass } } },
    blacklist: { at: begin, answer: { ...noLists, ip: null, checkedAt: null, listed: false, found: 0, checked: 40 } },
    memory: null,
    verdict: { at, answer: verdictOf(index + poll) },
    action: null,
  };
}

const noLists = { domain: null, lists: [] };
const warmupConfig = {
  targetDailyLimit: 40,
  replyRate: 30,
  threadRate: 10,
  weekdaysOnly: false,
  sendWindowStart: 8,
  sendWindowEnd: 18,
};

function verdictOf(seed: number): Verdict {
  const bounced = seed % 13 === 0 ? 1 : 0;
  return {
    action: 'none',
    reason: 'ok',
    wanted: 'none',
    mode: 'balanced',
    run: 'running',
    sent: 150 + (seed % 97),
    bounced,
    limitPpm: 10_000,
    windowFrom: addDays(today, -6),
    windowTo: today,
    windowDays: 7,
    emergency: null,
    bouncesUntilBreach: 2 - bounced,
    restore: null,
    dataAgeMs: 0,
    warnings: [],
  };
}

function accountOf(index: number): string {
  return `agency-${Math.floor(index / mailboxesPerAccount)}`;
}

function accountState(name: string): AccountState {
  return {
    name,
    requestsPerMinute: 450,
    lastSuccessAt: begin,
    failingSince: null,
    lastFailure: null,
    keyRejected: false,
    writable: true,
    listed: true,
    health: 'ok',
    queueLength: 0,
    oldestDueAt: null,
  };
}

export interface BenchFleet {
  readonly fleet: Fleet;
  /** What the next polls bring: an eighth of the fleet, the one behind the last. Not yet in the fleet. */
  nextChange(): readonly MailboxState[];
}

export function benchFleet(size: number): BenchFleet {
  const fleet = new Fleet();
  for (let index = 0; index < size; index += 1) {
    if (index % mailboxesPerAccount === 0) fleet.putAccount(accountState(accountOf(index)));
    fleet.putMailbox(mailboxOf(index, 0));
  }
  const changed = Math.floor(size * changedShare);
  let polls = 0;
  return {
    fleet,
    nextChange() {
      const from = polls * changed;
      polls += 1;
      return Array.from({ length: changed }, (_, n) => mailboxOf((from + n) % size, polls));
    },
  };
}

export const benchNow = begin + 15 * minuteMs;
