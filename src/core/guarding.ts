// The loops of the accounts: their longest wait, and those that do not run yet or any more.
import { type EpochMs, secondMs } from './time.ts';

/** Longest wait of an account's loops. */
export const turnEveryMs = 15 * secondMs;

export interface Guarding {
  readonly account: string;
  /** Time since which its loops should run, or null while all do. */
  readonly startingSince: EpochMs | null;
  /** True if a loop has stopped, which only a restart of the process starts again. */
  readonly hasStopped?: true;
}

/** Description of an account whose loops should run. */
export function startText({ account, hasStopped }: Guarding): string {
  if (hasStopped) return `account ${account} has stopped: it is not guarded until the next restart`;
  return `account ${account} is starting`;
}
