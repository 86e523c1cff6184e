// The whole fleet as every page begins with it: ranked, counted, named. Made once for all who ask while it is the same, in slices.
import type { Fleet } from '../fleet/fleet.ts';
import type { Alert } from '../model/alert.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { FiringAlerts } from '../overview/firing-alerts.ts';
import {
  isFiring,
  type NearLimitPpmOf,
  noCounts,
  type RankedMailbox,
  rank,
  type StateCounts,
} from '../overview/fleet-view.ts';
import { WideAlerts } from '../overview/wide-alerts.ts';
import type { KnownFleet } from '../page/fleet-page.ts';
import { createPacer } from '../world.ts';
import { eachAlert } from './each-alert.ts';

/** Ten thousand mailboxes are gone through in slices of this. */
const sliceMs = 3;

export interface RankedFleet extends KnownFleet {
  /** In no order. */
  readonly ranked: readonly RankedMailbox[];
  readonly counts: StateCounts;
  readonly providers: ReadonlySet<string>;
  readonly firing: FiringAlerts;
}

export class Ranking {
  readonly #fleet: Fleet;
  readonly #nearLimitPpmOf: NearLimitPpmOf;
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
    const before = this.#known?.fleet.ranked ?? [];
    const wide = new WideAlerts(this.#fleet.wideAlerts());
    const firing = new FiringAlerts();
    await eachAlert(this.#fleet, (alert) => {
      if (isFiring(alert)) firing.put(alert);
    });
    const ranked: RankedMailbox[] = [];
    const providers = new Set<string>();
    let [firstSeenAt, oldestStatsAt, unread]: [EpochMs | null, EpochMs | null, number] = [null, null, 0];
    const counts = noCounts();
    const pacer = createPacer(sliceMs, 'patient');
    for (const mailbox of [...this.#fleet.mailboxes()]) {
      if (pacer.due()) await pacer.turn();
      const one = this.#rank(mailbox, wide, before[ranked.length]);
      ranked.push(one);
      counts[one.state] += 1;
      const { provider } = mailbox.entry.answer;
      if (provider !== null) providers.add(provider);
      firstSeenAt = Math.min(firstSeenAt ?? mailbox.firstSeenAt, mailbox.firstSeenAt);
      if (mailbox.stats) oldestStatsAt = Math.min(oldestStatsAt ?? mailbox.stats.at, mailbox.stats.at);
      else unread += 1;
    }
    this.#known = { revision, fleet: { ranked, counts, providers, firing, firstSeenAt, oldestStatsAt, unread } };
  }

  /** `before`: what stood at its place in the last ranking. A mailbox that is the same object is the same. */
  #rank(mailbox: MailboxState, wide: WideAlerts, before: RankedMailbox | undefined): RankedMailbox {
    const nearLimitPpm = this.#nearLimitPpmOf(mailbox);
    const [own, shared] = [this.#fleet.alertsAbout(mailbox), wide.concerning(mailbox)];
    const alerts = shared.length === 0 && own.every(isFiring) ? own : [...own.filter(isFiring), ...shared];
    const isSame =
      before?.mailbox === mailbox && before.nearLimitPpm === nearLimitPpm && areSame(before.alerts, alerts);
    return isSame ? before : rank(mailbox, nearLimitPpm, alerts);
  }
}

const areSame = (some: readonly Alert[], others: readonly Alert[]) =>
  some.length === others.length && some.every((one, index) => one === others[index]);
