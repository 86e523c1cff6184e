// The whole fleet as every page begins with it: ranked, counted, named. Made once for all who ask while it is the same, in slices.
import type { Fleet } from '../fleet/fleet.ts';
import { MailboxNames } from '../fleet/mailbox-labels.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { Ppm } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import {
  firingAlerts,
  firingByMailbox,
  type NearLimitPpmOf,
  noAlerts,
  noCounts,
  type RankedMailbox,
  rank,
  type StateCounts,
} from '../overview/fleet-view.ts';
import { WideAlerts } from '../overview/wide-alerts.ts';
import type { KnownFleet } from '../page/fleet-page.ts';
import { createPacer } from '../world.ts';

/** Ten thousand mailboxes are gone through in slices of this. */
const sliceMs = 3;

export interface RankedFleet extends KnownFleet {
  /** In no order. */
  readonly ranked: readonly RankedMailbox[];
  readonly counts: StateCounts;
  readonly names: MailboxNames;
  readonly providers: ReadonlySet<string>;
}

interface Ranked {
  readonly nearLimitPpm: Ppm;
  readonly one: RankedMailbox;
}

export class Ranking {
  readonly #fleet: Fleet;
  readonly #nearLimitPpmOf: NearLimitPpmOf;
  /** A mailbox that is the same object is the same. */
  readonly #calm = new WeakMap<MailboxState, Ranked>();
  #known: { readonly revision: number; readonly fleet: RankedFleet } | null = null;
  #making: Promise<void> | null = null;

  constructor(fleet: Fleet, nearLimitPpmOf: NearLimitPpmOf) {
    this.#fleet = fleet;
    this.#nearLimitPpmOf = nearLimitPpmOf;
  }

  /** With everything that was committed when it is called, or at the revision `least`; never older than what was read before. */
  async read(least = this.#fleet.revision): Promise<RankedFleet> {
    while (this.#known === null || this.#known.revision < least) {
      this.#making ??= this.#make().finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
    return this.#known.fleet;
  }

  async #make(): Promise<void> {
    const { revision } = this.#fleet;
    const alerts = firingByMailbox(this.#fleet);
    const wide = new WideAlerts(firingAlerts(this.#fleet));
    const ranked: RankedMailbox[] = [];
    const names = new MailboxNames();
    const providers = new Set<string>();
    let [firstSeenAt, oldestStatsAt, unread]: [EpochMs | null, EpochMs | null, number] = [null, null, 0];
    const counts = noCounts();
    const pacer = createPacer(sliceMs, 'patient');
    for (const mailbox of [...this.#fleet.mailboxes()]) {
      if (pacer.due()) await pacer.turn();
      const own = alerts.get(mailbox.account)?.get(mailbox.id) ?? noAlerts;
      const shared = wide.concerning(mailbox);
      const one = this.#rank(mailbox, shared.length > 0 ? [...own, ...shared] : own);
      ranked.push(one);
      counts[one.state] += 1;
      names.note(mailbox);
      const { provider } = mailbox.entry.answer;
      if (provider !== null) providers.add(provider);
      firstSeenAt = Math.min(firstSeenAt ?? mailbox.firstSeenAt, mailbox.firstSeenAt);
      if (mailbox.stats) oldestStatsAt = Math.min(oldestStatsAt ?? mailbox.stats.at, mailbox.stats.at);
      else unread += 1;
    }
    this.#known = { revision, fleet: { ranked, counts, names, providers, firstSeenAt, oldestStatsAt, unread } };
  }

  #rank(mailbox: MailboxState, alerts: RankedMailbox['alerts']): RankedMailbox {
    const nearLimitPpm = this.#nearLimitPpmOf(mailbox);
    if (alerts.length > 0) return rank(mailbox, nearLimitPpm, alerts);
    const known = this.#calm.get(mailbox);
    if (known?.nearLimitPpm === nearLimitPpm) return known.one;
    const one = rank(mailbox, nearLimitPpm, alerts);
    this.#calm.set(mailbox, { nearLimitPpm, one });
    return one;
  }
}
