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

interface Known {
  /** Of the fleet, when the ranking began. */
  readonly revision: number;
  readonly alertsRevision: number;
  readonly configuration: object;
  readonly fleet: RankedFleet;
}

export class Ranking {
  readonly #fleet: Fleet;
  readonly #nearLimitPpmOf: NearLimitPpmOf;
  readonly #configuration: () => object;
  #known: Known | null = null;
  #making: Promise<void> | null = null;

  /** `configuration`: what the near limits follow from; another object when they may be others. */
  constructor(fleet: Fleet, nearLimitPpmOf: NearLimitPpmOf, configuration: () => object) {
    this.#fleet = fleet;
    this.#nearLimitPpmOf = nearLimitPpmOf;
    this.#configuration = configuration;
  }

  /** With everything that was committed when it is called, or at the revision `least`; never older than what was read before. */
  async read(least = this.#fleet.revision): Promise<RankedFleet> {
    while (
      this.#known === null ||
      this.#known.revision < least ||
      this.#known.configuration !== this.#configuration()
    ) {
      this.#making ??= this.#make().finally(() => {
        this.#making = null;
      });
      await this.#making;
    }
    return this.#known.fleet;
  }

  async #make(): Promise<void> {
    const { revision, alertsRevision } = this.#fleet;
    const configuration = this.#configuration();
    const known = this.#known?.configuration === configuration ? this.#known : null;
    const sameAlerts = known?.alertsRevision === alertsRevision;
    const before = known?.fleet.ranked ?? [];
    const wide = new WideAlerts(this.#fleet.wideAlerts());
    const firing = sameAlerts ? known.fleet.firing : await this.#firing();
    const ranked: RankedMailbox[] = [];
    const providers = new Set<string>();
    let [firstSeenAt, oldestStatsAt, unread]: [EpochMs | null, EpochMs | null, number] = [null, null, 0];
    const counts = noCounts();
    const pacer = createPacer(sliceMs, 'patient');
    for (const mailbox of [...this.#fleet.mailboxes()]) {
      if (pacer.due()) await pacer.turn();
      const place = before[ranked.length];
      // A mailbox that is the same object is the same.
      const same = place?.mailbox === mailbox ? place : null;
      const one = same && sameAlerts ? same : this.#rank(mailbox, wide, same);
      ranked.push(one);
      counts[one.state] += 1;
      const { provider } = mailbox.entry.answer;
      if (provider !== null) providers.add(provider);
      firstSeenAt = Math.min(firstSeenAt ?? mailbox.firstSeenAt, mailbox.firstSeenAt);
      if (mailbox.stats) oldestStatsAt = Math.min(oldestStatsAt ?? mailbox.stats.at, mailbox.stats.at);
      else unread += 1;
    }
    const fleet = { ranked, counts, providers, firing, firstSeenAt, oldestStatsAt, unread };
    this.#known = { revision, alertsRevision, configuration, fleet };
  }

  async #firing(): Promise<FiringAlerts> {
    const firing = new FiringAlerts();
    await eachAlert(this.#fleet, (alert) => {
      if (isFiring(alert)) firing.put(alert);
    });
    return firing;
  }

  /** `same`: of the last ranking, when only alerts may have changed. */
  #rank(mailbox: MailboxState, wide: WideAlerts, same: RankedMailbox | null): RankedMailbox {
    const [own, shared] = [this.#fleet.alertsAbout(mailbox), wide.concerning(mailbox)];
    const alerts = shared.length === 0 && own.every(isFiring) ? own : [...own.filter(isFiring), ...shared];
    return same && areSame(same.alerts, alerts) ? same : rank(mailbox, this.#nearLimitPpmOf(mailbox), alerts);
  }
}

const areSame = (some: readonly Alert[], others: readonly Alert[]) =>
  some.length === others.length && some.every((one, index) => one === others[index]);
