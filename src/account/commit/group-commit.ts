// Calm answers, which move nothing, are committed together, those of all accounts in one transaction. Until then they are
// staged: later answers are judged on them, and nobody else sees them.
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { BadRecords, CalmRecord, WaitingRecords } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { inTurns, nextTurn, type World } from '../../world/world.ts';
import { MovingCommit } from './moving-commit.ts';
import type { Turns } from './turns.ts';

/** So much of what calm answers said a crash may forget: it is asked again. */
const commitEveryMs = 500;
/** In one transaction: a larger one would be written and shown without a pause. */
const mailboxesAPiece = 200;
/** Of them, so many are shown in one turn of the event loop. */
const mailboxesShown = 50;

export interface GroupCommitRooms {
  readonly world: Pick<World, 'clock'>;
  readonly store: Store;
  readonly fleet: Fleet;
  readonly turns: Turns;
}

/** What becomes of a staged answer: one of the two is called, within a turn. */
export interface StagedOutcome {
  /** It was committed. `mailbox`: as it is believed to be with all that was committed beside it. */
  readonly committed: (mailbox: MailboxState) => void;
  /** It was not, and is no longer believed. Of several about one mailbox the newest comes first. */
  readonly lost: (error: unknown) => void;
}

/** One answer, and what is to be written of it. */
interface CalmAnswer {
  readonly answered: CalmRecord['answered'][number] | null;
  readonly decision: CalmRecord['decision'];
}

/** What is staged of one mailbox. */
interface Staged {
  readonly record: CalmRecord;
  readonly outcomes: readonly StagedOutcome[];
}

/** One for all accounts of a daemon. Everything but `flush` and `stop` is to be called within a turn. */
export class GroupCommit implements WaitingRecords {
  /** Answers that move something. */
  readonly moving: MovingCommit;
  readonly #rooms: GroupCommitRooms;
  readonly #everyMs: number;
  /** By account, then by mailbox. */
  readonly #staged = new Map<string, Map<string, Staged>>();
  readonly #stop = new AbortController();
  #isDue = false;

  /** `everyMs`: how long an answer waits for others, milliseconds; 0: each is committed by itself. */
  constructor(rooms: GroupCommitRooms, everyMs = commitEveryMs) {
    this.#rooms = rooms;
    this.#everyMs = everyMs;
    this.moving = new MovingCommit(rooms);
    rooms.store.takeAlong(this);
  }

  /** Whether answers wait for one another at all. */
  get waits(): boolean {
    return this.#everyMs > 0 && !this.#stop.signal.aborted;
  }

  /** A mailbox as it is believed to be: staged, or in the picture. */
  mailbox(account: string, id: string): MailboxState | undefined {
    const staged = this.moving.mailbox(account, id) ?? this.#staged.get(account)?.get(id)?.record.mailbox;
    return staged ?? this.#rooms.fleet.mailbox(account, id);
  }

  mailboxesOf(account: string): readonly MailboxState[] {
    const staged = this.#staged.get(account);
    const shown = [...this.#rooms.fleet.mailboxesOf(account)];
    return staged ? shown.map((mailbox) => staged.get(mailbox.id)?.record.mailbox ?? mailbox) : shown;
  }

  /** Whether something of the mailbox waits. */
  has({ account, id }: Pick<MailboxState, 'account' | 'id'>): boolean {
    return this.#staged.get(account)?.has(id) ?? false;
  }

  /** An answer waits for the next commit. `calm`: what is to be written of it; null: nothing, but it rests on what waits. */
  stage(mailbox: MailboxState, calm: CalmAnswer | null, outcome: StagedOutcome): void {
    const { account, id } = mailbox;
    const ofAccount = this.#staged.get(account) ?? new Map<string, Staged>();
    const before = ofAccount.get(id);
    const record = both(before?.record ?? { mailbox, answered: [], decision: null }, mailbox, calm);
    this.#staged.set(account, ofAccount.set(id, { record, outcomes: [...(before?.outcomes ?? []), outcome] }));
    if (!this.#isDue) void this.#commitLater();
  }

  /** Commits what is staged, piece by piece. Never rejects: what the store does not take is lost. */
  async commit(): Promise<void> {
    const { store, world } = this.#rooms;
    const all = this.of(null);
    for (let from = 0; from < all.length; from += mailboxesAPiece) {
      // The statements of a piece, its commit and what is shown of it are enough for one turn.
      await world.clock.busy(() => nextTurn());
      const piece = all.slice(from, from + mailboxesAPiece).filter((record) => this.#waits(record));
      try {
        if (piece.length > 0) await store.recordCalm(piece);
      } catch (error) {
        // The store took nothing of this piece, so the rest is not tried.
        const rest = all.slice(from);
        await this.settled(rest, new Map(rest.map((record) => [record, error])));
        return;
      }
    }
  }

  /** Another commit of its account may have included it. */
  #waits(record: CalmRecord): boolean {
    const { account, id } = record.mailbox;
    return this.#staged.get(account)?.get(id)?.record === record;
  }

  /** Commits what is staged, in a turn of its own. */
  flush(): Promise<void> {
    return this.#rooms.turns.take(() => this.commit());
  }

  /** Flushes; from now on nothing waits. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.flush();
  }

  of(accounts: readonly string[] | null): readonly CalmRecord[] {
    return (accounts ?? [...this.#staged.keys()]).flatMap((name) =>
      [...(this.#staged.get(name)?.values() ?? [])].map(({ record }) => record),
    );
  }

  /** In turns of the event loop: what another commit took along of a large account is more than a piece. */
  settled(records: readonly CalmRecord[], bad: BadRecords): Promise<void> {
    const settle = (piece: readonly CalmRecord[]) => {
      for (const record of piece) this.#settle(record, bad);
    };
    return this.#rooms.world.clock.busy(() => inTurns(records, settle, { size: mailboxesShown }));
  }

  #settle(record: CalmRecord, bad: BadRecords): void {
    const { account, id } = record.mailbox;
    const ofAccount = this.#staged.get(account);
    const outcomes = ofAccount?.get(id)?.outcomes ?? [];
    ofAccount?.delete(id);
    if (ofAccount?.size === 0) this.#staged.delete(account);
    if (!bad.has(record)) for (const { committed } of outcomes) committed(record.mailbox);
    else for (const { lost } of outcomes.toReversed()) lost(bad.get(record));
  }

  async #commitLater(): Promise<void> {
    this.#isDue = true;
    await this.#rooms.world.clock.sleep(this.#everyMs, this.#stop.signal);
    this.#isDue = false;
    await this.flush();
  }
}

/** What is to be written of a mailbox, with another answer about it. Of two answers by one route the later one is. */
function both(before: CalmRecord, mailbox: MailboxState, calm: CalmAnswer | null): CalmRecord {
  const answered = calm?.answered ?? null;
  const isKnown = answered === null || before.answered.includes(answered);
  const decision = calm?.decision
    ? { ...calm.decision, judged: calm.decision.judged + (before.decision?.judged ?? 0) }
    : before.decision;
  return { mailbox, answered: isKnown ? before.answered : [...before.answered, answered], decision };
}
