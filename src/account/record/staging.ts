// Which answers wait to be committed with others, and what it takes to believe one until then.

import type { MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import type { TickRecord } from '../../store/records.ts';
import type { GroupCommit } from '../commit/group-commit.ts';
import type { Unwritten } from '../commit/unwritten.ts';
import type { RecorderOptions } from './guarded-account.ts';
import type { AnswerOrder, AskedAt, Observation } from './observe.ts';
import { isActive } from './plan.ts';

/** An answer that came. */
export interface Answer {
  readonly route: Observation['route'];
  readonly askedAt: AskedAt;
}

/** An answer that was taken in. */
export interface Taken {
  readonly mailbox: MailboxState;
  /** Settles with the commit that its caller has to wait for; null: it need not. */
  readonly committed: Promise<void> | null;
}

/** An answer that waits for its commit. */
interface Waits {
  /** null: nothing new was observed, the mailbox was judged again. */
  readonly answer: Answer | null;
  readonly now: EpochMs;
  readonly show: (newest: MailboxState) => void;
}

interface StagingParts {
  readonly group: GroupCommit;
  readonly order: AnswerOrder;
  readonly unwritten: Unwritten;
  readonly onLost: RecorderOptions['onLost'];
}

export class Staging {
  readonly #parts: StagingParts;

  constructor(parts: StagingParts) {
    this.#parts = parts;
  }

  /** Stages the answer with those like it. null when it waits for nobody: it acts, or an action of the mailbox is under way. */
  stage(mailbox: MailboxState, record: TickRecord | null, waits: Waits): Taken | null {
    const { group, onLost } = this.#parts;
    const others = this.#othersOf(mailbox, record, waits.answer);
    if (others === null) return null;
    const forget = this.#believe(mailbox, record, waits);
    const committed = waits.show;
    if (others === 'moving')
      return { mailbox, committed: group.moving.stage(mailbox, record, { committed, lost: forget }) };
    const lost = (error: unknown) => {
      forget();
      if (waits.answer) onLost(mailbox.id, waits.answer.route, error);
    };
    group.stage(mailbox, record, { committed, lost });
    return { mailbox, committed: null };
  }

  /** With whom it is committed. calm: it moved nothing. moving: people may be notified of it, but nothing acts. */
  #othersOf(mailbox: MailboxState, record: TickRecord | null, answer: Answer | null): 'calm' | 'moving' | null {
    const { group } = this.#parts;
    if (!group.waits || isActive(mailbox.action) || acts(record)) return null;
    if (group.moving.mailbox(mailbox.account, mailbox.id)) return 'moving';
    // The caller that has a mailbox judged again waits for the commit.
    if (answer && (record ? !record.remembers : group.has(mailbox))) return 'calm';
    return record === null || group.moving.isAlone ? null : 'moving';
  }

  /** It counts as taken in. Returns what makes it as if it had not been. */
  #believe(mailbox: MailboxState, record: TickRecord | null, { answer, now }: Waits): () => void {
    const { order, unwritten } = this.#parts;
    const notTaken = answer ? order.taken(answer.route, mailbox.id, answer.askedAt) : () => {};
    if (record) unwritten.written(record, now);
    return () => {
      notTaken();
      if (record) unwritten.lost(record);
    };
  }
}

const acts = (record: TickRecord | null) => record !== null && (record.actions.length > 0 || record.breaker !== null);
