// crashed: Warmwarden ended by itself, because a part of it had stopped. It guards again after its restart.
import { noAccount } from '../../core/alert.ts';
import type { EpochMs } from '../../core/time.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { accountSubject, atOnce, type Condition } from '../condition.ts';

export interface Crash {
  readonly at: EpochMs;
  /** Part of a sentence, such as `account acme: its request loop ended with an error`. */
  readonly why: string;
}

/** Returns the condition. `crash` is null once a process has run for a while. */
export function crashed(crash: Crash | null, zone: string): Condition {
  return {
    subject: accountSubject('crashed', noAccount),
    severity: 'critical',
    active: crash !== null,
    ...atOnce,
    facts: {
      title: crash ? 'Warmwarden ended by itself' : 'Warmwarden runs again',
      sentences: crash
        ? [
            `Warmwarden ended at ${momentText(crash.at, zone)}: ${crash.why}.`,
            'It guarded no mailbox until its restart, and lost nothing. If this alert stays, `/readyz` names the accounts that are not guarded. The log has the error: please report it.',
          ]
        : [],
      numbers: {},
    },
  };
}
