// Selection of the audit log.
import { itself } from '../../core/operator-command.ts';
import type { Reason } from '../../core/verdict.ts';

/** Filter of the page and of the API. Null selects all. */
export interface HistoryFilter {
  /** A person's name, or `Warmwarden`. */
  readonly by: string | null;
  readonly operation: string | null;
  /** Reason of an action of Warmwarden. Reasons of people are free text, and have no filter. */
  readonly reason: Reason | null;
}

export function asksForCommands({ by, reason }: HistoryFilter): boolean {
  return by !== itself && reason === null;
}

export function asksForActions({ by }: HistoryFilter): boolean {
  return by === null || by === itself;
}
