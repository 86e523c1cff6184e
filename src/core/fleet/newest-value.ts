// Values that several answers of the API report: the newest answer that reports one counts.
import type { Alert } from '../alert.ts';
import type { MailboxState } from '../mailbox.ts';
import { type EpochMs, hourMs } from '../time.ts';
import { visibleText } from '../wording/phrases.ts';

interface Dated<Value> {
  readonly at: EpochMs;
  readonly value: Value | null;
}

/** The newest value that is known; null when none is. */
function newest<Value>(...values: readonly (Dated<Value> | null)[]): Value | null {
  let best: Dated<Value> | null = null;
  for (const one of values) if (one && one.value !== null && (best === null || one.at > best.at)) best = one;
  return best?.value ?? null;
}

/** 0 to 100. */
export function healthScoreOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.healthScore },
    warmup && { at: warmup.at, value: warmup.answer.healthScore },
    detail && { at: detail.at, value: detail.answer.healthScore },
  );
}

/** Emails a day. */
export function dailyLimitOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.dailyLimit },
    warmup && { at: warmup.at, value: warmup.answer.dailyLimit },
    detail && { at: detail.at, value: detail.answer.dailyLimit },
  );
}

/** The day of the warm-up, from 1. */
export function warmupDayOf({ entry, warmup }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.warmupDay },
    warmup && { at: warmup.at, value: warmup.answer.warmupDay },
  );
}

/** The mailbox's status word, as the API wrote it. */
export function mailboxStatusOf({ entry, detail }: MailboxState): string | null {
  return newest({ at: entry.at, value: entry.answer.status }, detail && { at: detail.at, value: detail.answer.status });
}

// Alerts that ended lately: one that comes again soon is unstable.

const keptMs = hourMs;

export class EndedLately {
  /** Ended alerts by fingerprint, in the order in which they ended. */
  readonly #ended = new Map<string, Alert>();

  of(fingerprint: string): Alert | undefined {
    return this.#ended.get(fingerprint);
  }

  /** Remembers an ended alert, and forgets those that ended long before it. */
  put(alert: Alert): void {
    this.#ended.delete(alert.fingerprint);
    this.#ended.set(alert.fingerprint, alert);
    for (const [fingerprint, { resolvedAt }] of this.#ended) {
      if ((alert.resolvedAt ?? 0) - (resolvedAt ?? 0) < keptMs) return;
      this.#ended.delete(fingerprint);
    }
  }
}

// Names of mailboxes in metrics and on the page: the address, with the id where the address occurs twice.

type Named = Pick<MailboxState, 'account' | 'id' | 'email'>;

/**
 * Names for mailboxes, unique within an account. Two of one address are both `email (id)`; an address that itself ends
 * in a parenthesis gets its id too, so that it can't take another one's name.
 */
export class MailboxNames {
  /** Number of mailboxes by account, then by visible address. */
  readonly #counts = new Map<string, Map<string, number>>();

  add(mailbox: Named): void {
    this.#count(mailbox, 1);
  }

  remove(mailbox: Named): void {
    this.#count(mailbox, -1);
  }

  removeAccount(account: string): void {
    this.#counts.delete(account);
  }

  nameOf({ account, id, email }: Named): string {
    const address = visibleText(email);
    const isShared = (this.#counts.get(account)?.get(address) ?? 0) > 1;
    return isShared || address.endsWith(')') ? `${address} (${visibleText(id)})` : address;
  }

  #count({ account, email }: Named, more: 1 | -1): void {
    const ofAccount = this.#counts.get(account) ?? new Map<string, number>();
    this.#counts.set(account, ofAccount);
    const address = visibleText(email);
    const count = (ofAccount.get(address) ?? 0) + more;
    if (count > 0) ofAccount.set(address, count);
    else ofAccount.delete(address);
  }
}
