// What people read for the guard's states: one word for each, in the terminal, on the page, and in the documents.
import type { AccountState, GuardState } from '../model/mailbox.ts';

/** As a label begins. The longest leaves room for the rest of a row in a terminal of 80 columns. */
export const stateWords: Readonly<Record<GuardState, string>> = {
  ok: 'OK',
  near_limit: 'Near limit',
  over_limit: 'Over limit',
  held: 'Held',
  recovering: 'Recovering',
  paused_by_guard: 'Paused by Warmwarden',
  paused_by_others: 'Paused by others',
  not_running: 'Not running',
  no_warmup: 'No warm-up',
  not_judged: 'Not judged',
};

/** Why Warmwarden can't act on any mailbox of an account, or can't read it; null: it can. */
export function accountTrouble({
  keyRejected,
  failingSince,
  keyWrites,
}: Pick<AccountState, 'keyRejected' | 'keyWrites'> & { readonly failingSince: unknown }): string | null {
  if (keyRejected) return 'key rejected';
  if (failingSince !== null) return 'API down';
  return keyWrites === false ? 'read-only key' : null;
}

/** Sentence about an account whose API answers, but refuses the statistics or the warm-up. */
export const noneJudged = 'no mailbox can be judged';
