// What of an answer the store need not be written for, because it knows it: an answer, a memory and a decision as before.

import type { GuardMemory } from '../model/guard-memory.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { type EpochMs, minuteMs, secondMs } from '../model/time.ts';
import type { TickRecord } from '../store/records.ts';

/** A row that did not change is written again after this, for its time: so much of it a crash may forget. */
const rewrittenAfterMs = 5 * minuteMs;
/** An account that is polled writes at least this often: a store that takes nothing is noticed by a write. */
const longestSilenceMs = 15 * secondMs;
/** How often a mailbox was judged counts up to this: a breach at the first look waits for the second. */
export const judgedThatMatters = 2;

type Answered = Pick<TickRecord, 'mailbox' | 'answered'>;

/** For the mailboxes of one account. */
export class Unwritten {
  /** By route and mailbox: when its row was written last. */
  readonly #writtenAt = new Map<string, EpochMs>();
  /** By mailbox: judgements that its decision's row does not count yet. */
  readonly #judged = new Map<string, number>();
  #lastAt = Number.NEGATIVE_INFINITY;

  /** What is to be written of a tick; null: nothing. `before` is what the store knows, or the same. */
  of(before: MailboxState, record: TickRecord, now: EpochMs): TickRecord | null {
    const { mailbox, answered, decision } = record;
    const judged = (this.#judged.get(mailbox.id) ?? 0) + Number(decision !== null);
    const counted = { ...record, decision: decision && { ...decision, judged } };
    if (isNews(record) || !isSameMemory(before.memory, mailbox.memory)) return counted;
    // Without an answer there is nothing to be newer: a reload that judges a whole fleet as before writes nothing.
    if (answered === null || (this.#isRecent(record, now) && isSameAnswer(before, mailbox, answered))) {
      if (decision) this.#judged.set(mailbox.id, judged);
      return null;
    }
    return { ...counted, remembers: false };
  }

  /** An answer was judged again, and is as known as before; false: its row has to be written for its time. */
  again(answer: Answered, now: EpochMs): boolean {
    if (!this.#isRecent(answer, now)) return false;
    const { id } = answer.mailbox;
    this.#judged.set(id, (this.#judged.get(id) ?? 0) + 1);
    return true;
  }

  /** Its row was written lately, and so was any of the account. */
  #isRecent(answer: Answered, now: EpochMs): boolean {
    const at = this.#writtenAt.get(keyOf(answer)) ?? Number.NEGATIVE_INFINITY;
    return isWithin(at, now, rewrittenAfterMs) && isWithin(this.#lastAt, now, longestSilenceMs);
  }

  /** It was committed, or will be with others. */
  written(record: TickRecord, now: EpochMs): void {
    this.#writtenAt.set(keyOf(record), now);
    if (record.decision) this.#judged.delete(record.mailbox.id);
    this.#lastAt = now;
  }

  /** It was not committed after all. */
  lost(record: TickRecord): void {
    const { mailbox, decision } = record;
    this.#writtenAt.delete(keyOf(record));
    if (decision) this.#judged.set(mailbox.id, (this.#judged.get(mailbox.id) ?? 0) + decision.judged);
  }

  /** The mailbox has left. */
  forget(mailboxId: string): void {
    this.#judged.delete(mailboxId);
    for (const key of keys) this.#writtenAt.delete(`${key} ${mailboxId}`);
  }
}

const keys = ['stats', 'warmup', 'mailbox', 'dns', 'blacklist', 'judged'];

const keyOf = ({ mailbox, answered }: Answered) => `${answered ?? 'judged'} ${mailbox.id}`;

/** Whether the answer that came says what the one before said. */
function isSameAnswer(before: MailboxState, mailbox: MailboxState, answered: TickRecord['answered']): boolean {
  if (answered === null) return true;
  const key = answered === 'mailbox' ? 'detail' : answered;
  return isSame(before[key]?.answer, mailbox[key]?.answer);
}

/** Something happened: that is written at once, and whole. */
function isNews({ changes, actions, alerts, breaker, decision }: TickRecord): boolean {
  const moved = alerts.changed.length + alerts.dropped.length + alerts.transitions.length;
  return changes.length + actions.length + moved > 0 || breaker !== null || decision?.unchanged === false;
}

function isSameMemory(one: GuardMemory | null, other: GuardMemory | null): boolean {
  return one === other || isSame(one && mattering(one), other && mattering(other));
}

const mattering = (memory: GuardMemory) => ({
  ...memory,
  answersJudged: Math.min(memory.answersJudged, judgedThatMatters),
});

/** Values that were read from JSON, or are written as it. What differs is most often at their end: the newest day. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [fields, others] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>];
  return (
    Object.keys(fields).findLast((name) => !isSame(fields[name], others[name])) === undefined &&
    Object.keys(others).every((name) => name in fields || others[name] === undefined)
  );
}

/** A moment ahead of now means that the clock was set back. */
const isWithin = (at: EpochMs, now: EpochMs, spanMs: number) => at <= now && now - at < spanMs;
