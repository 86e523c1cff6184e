// A look at a mailbox and what is remembered of it become the situation that is judged: one path for the daemon, `decide`
// and the replay of the past. Pure.

import type { GuardMemory } from '../model/guard-memory.ts';
import type { Policy } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import { isContested, recentInterventions, type Sight } from './memory.ts';
import type { Situation } from './verdict.ts';

/** A look, and how old what it shows is. */
export interface Look extends Sight {
  /** When the statistics were read. */
  readonly statsAt: EpochMs;
  readonly weekdaysOnly: boolean;
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
  };
}
