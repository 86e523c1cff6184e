// What people read for the guard's states: one word for each, in the terminal, on the page, and in the documents.
import type { GuardState } from '../model/mailbox.ts';

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
  not_judged: 'Not judged',
};
