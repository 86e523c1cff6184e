// A look at a mailbox and what is remembered of it become the situation that is judged: one path for the daemon, `decide`
// and the replay of the past. Pure.

import type { GuardMemory } from '../guard-memory.ts';
import type { Policy } from '../policy.ts';
import { addDays, type EpochMs, isWeekend, utcDate } from '../time.ts';
import { isContested, recentInterventions, type Sight } from './memory.ts';
import type { Situation } from './verdict.ts';

/** A look, and how old what it shows is. */
export interface Look extends Sight {
  /** Moment at which the statistics were read. */
  readonly statsAt: EpochMs;
  readonly weekdaysOnly: boolean;
  /** Day of the warm-up, or null if the API does not say. */
  readonly warmupDay?: number | null;
}

/** Number of sending days of a warm-up that may pass without an email. */
const firstSendingDays = 3;

/**
 * True if the first sending days, of the warm-up and since its resume, are over. The API's warm-up day may not
 * contradict Warmwarden's own first look.
 */
function expectsEmails({ firstSeenAt, evidence }: GuardMemory, look: Look): boolean {
  if (look.run === 'paused' || look.run === 'not_running') return false;
  const today = utcDate(look.now);
  const { warmupDay = null } = look;
  const seen = utcDate(firstSeenAt);
  const said = warmupDay === null ? seen : addDays(today, 1 - Math.max(1, Math.floor(warmupDay)));
  const began = said < seen ? said : seen;
  const resumed = evidence?.before === null ? evidence.from : began;
  let over = 0;
  for (
    let date = addDays(today, -1);
    date >= began && date >= resumed && over < firstSendingDays;
    date = addDays(date, -1)
  ) {
    if (!(look.weekdaysOnly && isWeekend(date))) over += 1;
  }
  return over >= firstSendingDays;
}

/** The memory is the one after the look (afterSight, firstSight). */
export function situationOf(policy: Policy, memory: GuardMemory, look: Look, firstSight: boolean): Situation {
  return {
    mode: look.mode,
    run: look.run,
    rows: look.rows,
    now: look.now,
    statsAt: look.statsAt,
    weekdaysOnly: look.weekdaysOnly,
    unjudgedSince: memory.unjudgedSince ?? null,
    evidence: memory.evidence,
    emergencyEvidence: memory.emergencyEvidence,
    foundBreachAt: memory.foundBreachAt ?? null,
    recentInterventions: recentInterventions(memory, policy, look.now),
    firstSight,
    claim: memory.claim,
    contested: isContested(memory, look.now),
    expectsEmails: expectsEmails(memory, look),
    apiAheadMs: look.apiAheadMs ?? 0,
  };
}
