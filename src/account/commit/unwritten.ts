// What of an answer the store need not be written for, because it knows it: an answer, a memory and a decision as before.
import { daysOf } from '../../core/decision.ts';
import type { GuardMemory } from '../../core/guard-memory.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, elapsedMs, minuteMs, secondMs } from '../../core/time.ts';
import type { DecisionRecord, TickRecord } from '../../store/records.ts';

/** A row that did not change is written again after this, for its time: so much of it a crash may forget. */
const rewrittenAfterMs = 5 * minuteMs;
/** And the row of a decision that goes on. What it rests on is stored with the statistics, so that the row is history alone. */
const decisionRewrittenAfterMs = 15 * minuteMs;
/** An account that is polled writes at least this often: a store that takes nothing is noticed by a write. */
const longestSilenceMs = 15 * secondMs;
/** How often a mailbox was judged counts up to this: a breach at the first look waits for the second. */
export const judgedThatMatters = 2;

type Answered = Pick<TickRecord, 'mailbox' | 'answered'>;
/** What a row is about. judged: a mailbox that was judged without an answer. */
type Row = NonNullable<TickRecord['answered']> | 'judged';

/** What the store knows of one mailbox. */
interface Written {
  /** When each row was written last. */
  readonly at: Partial<Record<Row, EpochMs>>;
  /** And the row of its decision. */
  decisionAt: EpochMs;
  /** Judgements that this row does not count yet. */
  judged: number;
}

/** For the mailboxes of one account. */
export class Unwritten {
  readonly #written = new Map<string, Written>();
  #lastAt = Number.NEGATIVE_INFINITY;

  /** What is to be written of a tick; null: nothing. `before` is what the store knows, or the same. */
  of(before: MailboxState, record: TickRecord, now: EpochMs): TickRecord | null {
    const { mailbox, answered, decision } = record;
    const counted = { ...record, decision: decision && this.#counting(before, decision) };
    if (isNews(record) || !isSameMemory(before.memory, mailbox.memory)) return counted;
    // Without an answer there is nothing to be newer: a reload that judges a whole fleet as before writes nothing.
    const known = this.#of(mailbox);
    const isKnown =
      answered === null || (this.#isRecent(known, record, now) && isSameAnswer(before, mailbox, answered));
    // The statistics keep what the same decision was made by last (schema/stored-stats.ts).
    if (!isKnown && !isWithin(known.decisionAt, now, decisionRewrittenAfterMs)) return { ...counted, remembers: false };
    if (decision) known.judged += 1;
    return isKnown ? null : { ...record, remembers: false, decision: null };
  }

  /** An answer was judged again, and is as known as before; false: its row has to be written for its time. */
  again(answer: Answered, now: EpochMs): boolean {
    const known = this.#of(answer.mailbox);
    if (!this.#isRecent(known, answer, now)) return false;
    known.judged += 1;
    return true;
  }

  /** The decision with the judgements that its row does not count yet; where it is another one, they belong to the span before. */
  #counting(before: MailboxState, decision: DecisionRecord): DecisionRecord {
    const { judged } = this.#of(before);
    if (decision.unchanged || judged === 0 || !before.verdict) return { ...decision, judged: judged + decision.judged };
    const { at, answer: verdict } = before.verdict;
    const days = daysOf(verdict, before.stats?.answer.rows ?? []);
    return { ...decision, ended: { at, verdict, judged, days } };
  }

  /** Its row was written lately, and so was any of the account. */
  #isRecent(written: Written, { answered }: Answered, now: EpochMs): boolean {
    const at = written.at[answered ?? 'judged'] ?? Number.NEGATIVE_INFINITY;
    return isWithin(at, now, rewrittenAfterMs) && isWithin(this.#lastAt, now, longestSilenceMs);
  }

  /** It was committed, or will be with others. */
  written({ mailbox, answered, decision }: TickRecord, now: EpochMs): void {
    const written = this.#of(mailbox);
    written.at[answered ?? 'judged'] = now;
    if (decision) {
      written.decisionAt = now;
      written.judged = 0;
    }
    this.#lastAt = now;
  }

  /** It was not committed after all. */
  lost({ mailbox, answered, decision }: TickRecord): void {
    const written = this.#of(mailbox);
    written.at[answered ?? 'judged'] = Number.NEGATIVE_INFINITY;
    if (!decision) return;
    written.decisionAt = Number.NEGATIVE_INFINITY;
    written.judged += decision.judged + (decision.ended?.judged ?? 0);
  }

  /** The mailbox has left. */
  forget(mailboxId: string): void {
    this.#written.delete(mailboxId);
  }

  #of({ id }: Pick<MailboxState, 'id'>): Written {
    const known = this.#written.get(id);
    if (known) return known;
    const nothing: Written = { at: {}, decisionAt: Number.NEGATIVE_INFINITY, judged: 0 };
    this.#written.set(id, nothing);
    return nothing;
  }
}

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

const isWithin = (at: EpochMs, now: EpochMs, spanMs: number) => elapsedMs(at, now) < spanMs;
