// The audit log that a reader asks for.
import { itself } from '../../core/operator-command.ts';
import type { Reason } from '../../core/verdict.ts';

/** The page and the API are narrowed by the same. null: by nothing. */
export interface HistoryFilter {
  /** A person's name, or `Warmwarden`. */
  readonly by: string | null;
  readonly operation: string | null;
  /** Why Warmwarden acted: people give reasons in their own words, which are not filtered. */
  readonly reason: Reason | null;
}

export function asksForCommands({ by, reason }: HistoryFilter): boolean {
  return by !== itself && reason === null;
}

export function asksForActions({ by }: HistoryFilter): boolean {
  return by === null || by === itself;
}
