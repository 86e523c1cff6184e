// Two ways into the store. A record that changes an alert, an action, a decision or the breaker, or that has a change by
// others, is committed at once. Any other record is shown at once and, if it differs, committed in a batch, at most 5 s
// later: kill -9 loses it, and the next process reads it again. A verdict within a span is written with changed
// statistics, or once an hour, with the number of answers that led to it.
import { mailboxRoutes } from '../../api/poll/poll.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { awaitsJudgement, type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { newcomerAnswers } from '../../core/policy.ts';
import { type EpochMs, elapsedMs, hourMs, secondMs } from '../../core/time.ts';
import { answerText, mailboxRow, observationOf, type StoredRoute } from '../../store/rows.ts';
import type { Store } from '../../store/store.ts';
import type { AnswerRecord, NewDecision } from '../../store/writes.ts';
import { type Clock, nextTurn, type World } from '../../world/world.ts';

/** Answers that share a commit share its pages and its sync. */
const commitEveryMs = 5 * secondMs;
const afterFailureMs = 2 * secondMs;
/** Age after which an unchanged row is written again, to update its time. A start reads everything again. */
const rewrittenAfterMs = hourMs;
const mailboxesACommit = 200;
/** A larger number of judged answers is no reason to write the row: the mailbox is no longer new. */
const judgedThatMatters = newcomerAnswers + 1;

// Turns: decisions are made and committed one after the other, so that each rests on the committed state before it.

/** Queue of work on one store. The breaker spans accounts, so all accounts of a daemon share one queue. */
export class Turns {
  readonly #clock: Pick<Clock, 'busy'>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: Pick<Clock, 'busy'>) {
    this.#clock = clock;
  }

  /** Runs `work` after all earlier work, even if that failed, in its own turn of the event loop. */
  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#last.then(() => this.#clock.busy(() => nextTurn())).then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

export interface GroupCommitRooms {
  readonly world: Pick<World, 'clock' | 'log'>;
  readonly store: Store;
  readonly fleet: Fleet;
  readonly turns: Turns;
}

/** Answers of a mailbox, its verdict, and its row with the guard's memory. */
type StoredPart = StoredRoute | 'verdict' | 'row';

interface PendingMailbox {
  readonly account: string;
  readonly id: string;
  /** Parts that differ from what is written, or were written long ago. */
  readonly parts: Set<StoredPart>;
  /** Newest verdict of the current span, with the number of answers that were judged since it was written. */
  decision: NewDecision | null;
  readonly writtenAt: Partial<Record<StoredPart, EpochMs>>;
}

/** Batch of all accounts of a daemon. `add`, `commitNow` and `commit` are to be called within a turn. */
export class GroupCommit {
  readonly #rooms: GroupCommitRooms;
  readonly #waiting = new Map<string, PendingMailbox>();
  readonly #stop = new AbortController();
  /** Maximum number of mailboxes in the next commit. */
  #most = mailboxesACommit;
  #isDue = false;

  constructor(rooms: GroupCommitRooms) {
    this.#rooms = rooms;
  }

  /** Adds a record that need not be committed at once (see isMoving). The fleet has its mailbox, or gets it in the same turn. */
  add(before: MailboxState, record: AnswerRecord): void {
    const waiting = this.#of(before, before);
    for (const route of record.answered) this.#want(waiting, route, isSameAnswer(before, record.mailbox, route));
    if (record.remembers && !isSameRow(before, record.mailbox)) waiting.parts.add('row');
    const [decision] = record.decisions;
    if (decision) {
      waiting.decision = together(waiting.decision, decision);
      // The stored verdict is never older than the stored statistics.
      this.#want(waiting, 'verdict', !waiting.parts.has('stats') && !awaitsJudgement(before));
    }
    if (waiting.parts.size > 0) this.#commitLater(commitEveryMs);
  }

  async commitNow(record: AnswerRecord): Promise<void> {
    const { store } = this.#rooms;
    const { account, id } = record.mailbox;
    const waiting = this.#of(record.mailbox, this.#rooms.fleet.mailbox(account, id));
    await store.recordAnswer(withWaiting(record, waiting));
    this.#written(waiting, record);
  }

  /** Commits all pending data. Never rejects: data that a failing store refuses stays pending. */
  async commit(): Promise<void> {
    for (;;) {
      const due = [...this.#waiting.values()].filter(({ parts }) => parts.size > 0).slice(0, this.#most);
      if (due.length === 0) return;
      try {
        await this.#rooms.store.recordAnswers(due.flatMap((waiting) => this.#recordOf(waiting) ?? []));
      } catch (error) {
        this.#putOff(due, error);
        return this.#commitLater(afterFailureMs);
      }
      this.#most = Math.min(mailboxesACommit, 2 * this.#most);
      for (const waiting of due) this.#written(waiting);
    }
  }

  /** Tries fewer next time, behind the others: a row that the store refuses keeps no other from it for long. */
  #putOff(due: readonly PendingMailbox[], error: unknown): void {
    const [{ account, id } = { account: '', id: '' }, ...others] = due;
    if (others.length === 0 && this.#most > 1)
      this.#rooms.world.log.error({ account, mailbox: id, err: error }, 'an answer could not be recorded');
    this.#most = Math.max(1, Math.floor(due.length / 2));
    for (const waiting of due) {
      const key = mailboxKey(waiting.account, waiting.id);
      this.#waiting.delete(key);
      this.#waiting.set(key, waiting);
    }
  }

  flush(): Promise<void> {
    return this.#rooms.turns.take(() => this.commit());
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.flush();
  }

  forget({ account, id }: Pick<MailboxState, 'account' | 'id'>): void {
    this.#waiting.delete(mailboxKey(account, id));
  }

  #recordOf(waiting: PendingMailbox): AnswerRecord | null {
    const mailbox = this.#rooms.fleet.mailbox(waiting.account, waiting.id);
    if (!mailbox) return null;
    return withWaiting({ ...nothingMoved, mailbox, remembers: false }, waiting);
  }

  #written(
    waiting: PendingMailbox,
    { answered, decisions }: Pick<AnswerRecord, 'answered' | 'decisions'> = nothingMoved,
  ): void {
    const now = this.#rooms.world.clock.now();
    if (decisions.length > 0) waiting.parts.add('verdict');
    for (const part of [...waiting.parts, ...answered]) waiting.writtenAt[part] = now;
    if (waiting.parts.has('verdict')) waiting.decision = null;
    waiting.parts.clear();
  }

  #want({ parts, writtenAt }: PendingMailbox, part: StoredPart, isUnchanged: boolean): void {
    const sinceMs = elapsedMs(writtenAt[part] ?? Number.NEGATIVE_INFINITY, this.#rooms.world.clock.now());
    if (!isUnchanged || sinceMs >= rewrittenAfterMs) parts.add(part);
  }

  /** `stored`: the mailbox before its first answer under this account, or undefined if no row is known. */
  #of({ account, id }: Pick<MailboxState, 'account' | 'id'>, stored?: MailboxState): PendingMailbox {
    const key = mailboxKey(account, id);
    const known = this.#waiting.get(key);
    if (known) return known;
    const nothing: PendingMailbox = {
      account,
      id,
      parts: new Set(),
      decision: null,
      writtenAt: stored ? readTimesOf(stored) : {},
    };
    this.#waiting.set(key, nothing);
    return nothing;
  }

  #commitLater(ms: number): void {
    if (this.#isDue || this.#stop.signal.aborted) return;
    this.#isDue = true;
    void this.#rooms.world.clock.sleep(ms, this.#stop.signal).then(() => {
      this.#isDue = false;
      return this.flush();
    });
  }
}

export const nothingMoved = {
  ...{ answered: [], changes: [], decisions: [], actions: [], breaker: null },
  alerts: { changed: [], dropped: [], transitions: [] },
} as const satisfies Partial<AnswerRecord>;

/** Returns true if the record has to be committed before anything is shown or done. */
export function isMoving({ changes, actions, alerts, breaker, decisions }: AnswerRecord): boolean {
  const moved = alerts.changed.length + alerts.dropped.length + alerts.transitions.length;
  return changes.length + actions.length + moved > 0 || breaker !== null || decisions.some((one) => !one.unchanged);
}

function withWaiting(record: AnswerRecord, { parts, decision }: PendingMailbox): AnswerRecord {
  const [newest] = record.decisions;
  const waiting = newest || parts.has('verdict') ? decision : null;
  const decisions = newest?.unchanged ? [together(waiting, newest)] : [waiting, newest].filter((one) => one != null);
  const answered = new Set([...parts, ...record.answered].filter((part) => part !== 'verdict' && part !== 'row'));
  return { ...record, remembers: record.remembers || parts.has('row'), answered: [...answered], decisions };
}

function together(before: NewDecision | null, newest: NewDecision): NewDecision {
  return before ? { ...newest, judged: before.judged + newest.judged } : newest;
}

function readTimesOf(stored: MailboxState): PendingMailbox['writtenAt'] {
  const times = (['mailboxes', ...mailboxRoutes] as const).map((route) => [route, observationOf(stored, route)?.at]);
  return Object.fromEntries([...times, ['verdict', stored.verdict?.at]]);
}

function isSameRow(one: MailboxState, other: MailboxState): boolean {
  const [known, newest] = [one, other].map((mailbox) => JSON.stringify(mailboxRow(mattering(mailbox))));
  return known === newest;
}

function isSameAnswer(one: MailboxState, other: MailboxState, route: StoredRoute): boolean {
  const [known, newest] = [one, other].map((mailbox) => observationOf(mailbox, route)?.answer);
  return known === newest || answerText(one, route) === answerText(other, route);
}

function mattering(mailbox: MailboxState): MailboxState {
  const { memory } = mailbox;
  const answersJudged = Math.min(memory?.answersJudged ?? 0, judgedThatMatters);
  return { ...mailbox, memory: memory && { ...memory, answersJudged } };
}
