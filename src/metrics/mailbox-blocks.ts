// Adapts the fleet's mailboxes to the block cache: names, samples, and the limit of series.
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

/** Maximum work before the event loop is yielded, milliseconds. */
const sliceMs = 2;

/** Mailbox with its guard state. */
interface Seen {
  readonly mailbox: MailboxState;
  readonly state: GuardState;
  /** True if the configuration lets Warmwarden act on the mailbox. */
  readonly enforced: boolean;
}

interface AccountCounts {
  readonly states: Map<GuardState, number>;
  acts: number;
  watches: number;
}

/** Series of the mailboxes. */
export class MailboxBlocks {
  readonly #fleet: Fleet;
  readonly #clock: Clock;
  #cache: BlockCache<Seen, MailboxMetric>;
  #settings: MetricsSettings;
  /** Mailboxes at the last count. An unchanged mailbox keeps its object. */
  #seen: readonly Seen[] = [];
  /** Settings from which the states of `#seen` were derived. */
  #seenBy: MetricsSettings;
  /** Counts by account. */
  #counts: ReadonlyMap<string, AccountCounts> = new Map();
  #day: IsoDate;

  constructor(fleet: Fleet, clock: Clock, settings: MetricsSettings) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#settings = settings;
    this.#seenBy = settings;
    this.#day = utcDate(clock.now());
    this.#cache = this.#newCache();
  }

  /** Applies new settings and drops all cached series, because any name or state may have changed. */
  configured(settings: MetricsSettings): void {
    this.#settings = settings;
    this.#cache = this.#newCache();
  }

  /**
   * Counts the states and updates the series. `overwrites` is true if the pieces of earlier calls are no longer needed.
   * Calls must not overlap.
   */
  async pieces(overwrites: boolean): Promise<readonly Piece[]> {
    // Daily rows too far in the future do not count, so the same answer may give other values on the next day.
    const today = utcDate(this.#clock.now());
    if (today !== this.#day) this.#cache = this.#newCache();
    this.#day = today;
    await this.#count();
    return this.#cache.pieces(overwrites);
  }

  /** Returns the number of mailboxes of an account in a state at the last count. */
  inState(account: string, state: GuardState): number {
    return this.#counts.get(account)?.states.get(state) ?? 0;
  }

  /** Returns how many mailboxes Warmwarden acted on at the last count, and how many it only watched. */
  enforcement(account: string): { readonly acts: number; readonly watches: number } {
    return this.#counts.get(account) ?? { acts: 0, watches: 0 };
  }

  async #count(): Promise<void> {
    const pacer = createPacer(sliceMs);
    // A reload may replace the settings during the count.
    const settings = this.#settings;
    const before = this.#seenBy === settings ? this.#seen : [];
    const counts = new Map<string, AccountCounts>();
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
      // The labels contain the address and the provider, so a change of either makes another item.
      keyOf: ({ mailbox: { account, id, email, entry } }) =>
        `${mailboxKey(account, id)} ${email} ${entry.answer.provider}`,
      // Mailboxes read at about the same time are read again at about the same time.
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

  /** Returns the number of mailboxes that the series limit leaves out. */
  omitted(): number {
    return Math.max(0, this.#seen.length - this.#mailboxLimit());
  }

  /**
   * Returns the mailboxes within the limit, always with all their series. Mailboxes known longest come first, so the
   * selection is stable between scrapes.
   */
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
