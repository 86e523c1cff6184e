// The fleet's mailboxes as the block cache wants them: names, samples, and how many series there may be.
import type { Fleet } from '../fleet/fleet.ts';
import { MailboxNames } from '../fleet/mailbox-labels.ts';
import { guardStateOf } from '../guard/state.ts';
import { type GuardState, type MailboxState, mailboxKey } from '../model/mailbox.ts';
import { type IsoDate, utcDate } from '../model/time.ts';
import { visibleText } from '../wording/visible-text.ts';
import { type Clock, createPacer, type Pacer } from '../world.ts';
import { BlockCache } from './exposition/block-cache.ts';
import type { Piece } from './exposition/piece.ts';
import type { MetricsSettings } from './fleet-series.ts';
import {
  type MailboxMetric,
  mailboxMetrics,
  mailboxParts,
  maxSeriesOfMailbox,
  samplesOfPart,
} from './mailbox-series.ts';

/** The loop belongs to others after so much work. */
const sliceMs = 2;

/** The series of the mailboxes. */
export class MailboxBlocks {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  #cache: BlockCache<MailboxState, MailboxMetric>;
  #settings: MetricsSettings;
  #states = new WeakMap<MailboxState, GuardState>();
  #names = new MailboxNames();
  #counts: ReadonlyMap<string, ReadonlyMap<GuardState, number>> = new Map();
  #day: IsoDate;
  /** How many there were when they were counted last. */
  #here = 0;

  constructor(fleet: Fleet, clock: Clock, settings: MetricsSettings) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#settings = settings;
    this.#day = utcDate(clock.now());
    this.#cache = this.#newCache();
  }

  /** Other settings: every name and state may be another. */
  configured(settings: MetricsSettings): void {
    this.#settings = settings;
    this.#states = new WeakMap();
    this.#cache = this.#newCache();
  }

  /** Counts the states, and brings the series up to date. One call at a time. */
  async pieces(): Promise<readonly Piece[]> {
    // Rows of a day that lies too far ahead do not count, so that each day reads the same answer anew.
    const today = utcDate(this.#clock.now());
    if (today !== this.#day) this.#cache = this.#newCache();
    this.#day = today;
    await this.#count();
    return this.#cache.pieces();
  }

  /** How many mailboxes of an account were in a state when they were counted last. */
  inState(account: string, state: GuardState): number {
    return this.#counts.get(account)?.get(state) ?? 0;
  }

  async #count(): Promise<void> {
    const pacer = createPacer(sliceMs, 'patient');
    const counts = new Map<string, Map<GuardState, number>>();
    let here = 0;
    for (const mailbox of this.#mailboxesHere()) {
      here += 1;
      const ofAccount = counts.get(mailbox.account) ?? new Map<GuardState, number>();
      const state = this.#stateOf(mailbox);
      counts.set(mailbox.account, ofAccount.set(state, (ofAccount.get(state) ?? 0) + 1));
      if (pacer.due()) await pacer.turn();
    }
    this.#counts = counts;
    this.#here = here;
  }

  /** Those that no other replica guards: it exposes its own. */
  *#mailboxesHere(): Generator<MailboxState, undefined> {
    for (const mailbox of this.#fleet.mailboxes()) if (!this.#fleet.isElsewhere(mailbox.account)) yield mailbox;
  }

  #newCache(): BlockCache<MailboxState, MailboxMetric> {
    return new BlockCache<MailboxState, MailboxMetric>({
      gauges: mailboxMetrics,
      items: () => this.#shown(),
      // Another address is another mailbox here: the label is made of it.
      keyOf: ({ account, id, email }) => `${mailboxKey(account, id)} ${email}`,
      regrouped: (pacer) => this.#nameAll(pacer),
      identityOf: (mailbox) => ({ account: mailbox.account, mailbox: this.#nameOf(mailbox) }),
      parts: mailboxParts.map((part) => ({
        gauges: part.metrics,
        factsOf: (mailbox) => part.factsOf(mailbox, this.#stateOf(mailbox)),
        samplesOf: (mailbox) => samplesOfPart(part, mailbox, { state: this.#stateOf(mailbox), now: this.#clock.now() }),
      })),
    });
  }

  /** What the guard makes of the mailbox. Remembered: it is asked for at every scrape. */
  #stateOf(mailbox: MailboxState): GuardState {
    const known = this.#states.get(mailbox);
    if (known) return known;
    const state = guardStateOf(mailbox, this.#settings.nearLimitPpmOf(mailbox));
    this.#states.set(mailbox, state);
    return state;
  }

  /** How many mailboxes the series limit leaves out. */
  omitted(): number {
    return Math.max(0, this.#here - this.#mailboxLimit());
  }

  /** Whole mailboxes, those known longest first: which ones must not change from scrape to scrape. */
  *#shown(): Generator<MailboxState, undefined> {
    let left = this.#mailboxLimit();
    for (const mailbox of this.#mailboxesHere()) {
      if (left === 0) return;
      left -= 1;
      yield mailbox;
    }
  }

  #mailboxLimit(): number {
    return Math.floor(this.#settings.seriesLimit / maxSeriesOfMailbox);
  }

  async #nameAll(pacer: Pacer): Promise<void> {
    this.#names = new MailboxNames();
    if (this.#settings.mailboxLabel === 'id') return;
    for (const mailbox of this.#fleet.mailboxes()) {
      this.#names.note(mailbox);
      if (pacer.due()) await pacer.turn();
    }
  }

  #nameOf(mailbox: MailboxState): string {
    return this.#settings.mailboxLabel === 'id' ? visibleText(mailbox.id) : this.#names.nameOf(mailbox);
  }
}
