// The fleet's mailboxes as the block cache wants them: names, samples, and how many series there may be.
import type { Fleet } from '../core/fleet/fleet.ts';
import { guardStateOf } from '../core/guard/run-state.ts';
import { type GuardState, type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { type IsoDate, secondMs, utcDate } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { type Clock, createPacer } from '../world/world.ts';
import { BlockCache } from './exposition/block-cache.ts';
import type { Piece } from './exposition/piece.ts';
import type { MetricsSettings } from './fleet-series.ts';
import { type MailboxMetric, mailboxMetrics, mailboxParts, maxSeriesOfMailbox } from './mailbox-series.ts';

/** The loop belongs to others after so much work. */
const sliceMs = 2;

/** A mailbox, and what the guard makes of it. */
interface Seen {
  readonly mailbox: MailboxState;
  readonly state: GuardState;
  /** Whether the configuration lets Warmwarden act on it. */
  readonly enforced: boolean;
}

interface Counts {
  readonly states: Map<GuardState, number>;
  acts: number;
  watches: number;
}

/** The series of the mailboxes. */
export class MailboxBlocks {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  #cache: BlockCache<Seen, MailboxMetric>;
  #settings: MetricsSettings;
  /** The mailboxes at the last count: a mailbox that has not changed since keeps its object. */
  #seen: readonly Seen[] = [];
  /** The settings that their states were derived from. */
  #seenBy: MetricsSettings;
  /** By account. */
  #counts: ReadonlyMap<string, Counts> = new Map();
  #day: IsoDate;

  constructor(fleet: Fleet, clock: Clock, settings: MetricsSettings) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#settings = settings;
    this.#seenBy = settings;
    this.#day = utcDate(clock.now());
    this.#cache = this.#newCache();
  }

  /** Other settings: every name and state may be another. */
  configured(settings: MetricsSettings): void {
    this.#settings = settings;
    this.#cache = this.#newCache();
  }

  /** Counts the states, and brings the series up to date. `overwrites`: nobody needs the pieces from before any more. One call at a time. */
  async pieces(overwrites: boolean): Promise<readonly Piece[]> {
    // Rows of a day that lies too far ahead do not count, so that each day reads the same answer again.
    const today = utcDate(this.#clock.now());
    if (today !== this.#day) this.#cache = this.#newCache();
    this.#day = today;
    await this.#count();
    return this.#cache.pieces(overwrites);
  }

  /** How many mailboxes of an account were in a state when they were counted last. */
  inState(account: string, state: GuardState): number {
    return this.#counts.get(account)?.states.get(state) ?? 0;
  }

  /** How many of them Warmwarden acted on then, and how many it only watched. */
  enforcement(account: string): { readonly acts: number; readonly watches: number } {
    return this.#counts.get(account) ?? { acts: 0, watches: 0 };
  }

  async #count(): Promise<void> {
    const pacer = createPacer(sliceMs);
    // A reload may come meanwhile.
    const settings = this.#settings;
    const before = this.#seenBy === settings ? this.#seen : [];
    const counts = new Map<string, Counts>();
    const now = this.#clock.now();
    const seen: Seen[] = [];
    for (const mailbox of this.#fleet.mailboxes()) {
      const known = before[seen.length];
      const one = known?.mailbox === mailbox ? known : seenBy(settings, mailbox);
      seen.push(one);
      const ofAccount = counts.get(mailbox.account) ?? { states: new Map(), acts: 0, watches: 0 };
      counts.set(mailbox.account, ofAccount);
      ofAccount.states.set(one.state, (ofAccount.states.get(one.state) ?? 0) + 1);
      if (one.enforced && this.#fleet.writesAllowed(mailbox.account, mailbox.id, now)) ofAccount.acts += 1;
      else ofAccount.watches += 1;
      if (pacer.due()) await pacer.turn();
    }
    this.#counts = counts;
    this.#seen = seen;
    this.#seenBy = settings;
  }

  #newCache(): BlockCache<Seen, MailboxMetric> {
    return new BlockCache<Seen, MailboxMetric>({
      gauges: mailboxMetrics,
      items: () => this.#shown(),
      // Another address or provider is another mailbox here: labels are made of them.
      keyOf: ({ mailbox: { account, id, email, entry } }) =>
        `${mailboxKey(account, id)} ${email} ${entry.answer.provider}`,
      // What was read at about the same time is read again at about the same time.
      orderOf: ({ mailbox }) => Math.floor((mailbox.stats?.at ?? 0) / secondMs),
      identityOf: ({ mailbox }) => ({ account: mailbox.account, mailbox: this.#nameOf(mailbox) }),
      parts: mailboxParts.map(({ series, factsOf, valuesOf, ...part }) => ({
        ...part,
        series: series.map(({ gauge, labels }) => ({
          gauge,
          labels: typeof labels === 'function' ? ({ mailbox }: Seen) => labels(mailbox) : labels,
        })),
        ...(factsOf && { factsOf: ({ mailbox, state }) => factsOf(mailbox, state) }),
        valuesOf: ({ mailbox, state }) => valuesOf(mailbox, { state, now: this.#clock.now() }),
      })),
    });
  }

  /** How many mailboxes the series limit leaves out. */
  omitted(): number {
    return Math.max(0, this.#seen.length - this.#mailboxLimit());
  }

  /** Whole mailboxes, those known longest first: which ones must not change from scrape to scrape. */
  #shown(): readonly Seen[] {
    const limit = this.#mailboxLimit();
    return this.#seen.length > limit ? this.#seen.slice(0, limit) : this.#seen;
  }

  #mailboxLimit(): number {
    return Math.floor(this.#settings.seriesLimit / maxSeriesOfMailbox);
  }

  #nameOf(mailbox: MailboxState): string {
    return this.#settings.mailboxLabel === 'id' ? visibleText(mailbox.id) : this.#fleet.nameOf(mailbox);
  }
}

function seenBy({ policyOf }: MetricsSettings, mailbox: MailboxState): Seen {
  const { nearLimitPpm, enforce } = policyOf(mailbox);
  return { mailbox, state: guardStateOf(mailbox, nearLimitPpm), enforced: enforce };
}
