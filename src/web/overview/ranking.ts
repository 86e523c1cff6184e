// The whole fleet as every page begins with it: ranked, counted, named. Made once for all who ask while it is the same, in slices.

import type { Silence } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { type Clock, createPacer, turnAfter } from '../../world/world.ts';
import { eachAlert, FiringAlerts, WideAlerts } from './firing-alerts.ts';
import { FleetSums, type FleetTotals } from './fleet-sums.ts';
import { isFiring, type RankedMailbox, type RankingPolicy, rank } from './fleet-view.ts';

/** Ten thousand mailboxes are gone through in slices of this. */
const sliceMs = 3;

export interface RankedFleet extends FleetTotals {
  /** In no order. */
  readonly ranked: readonly RankedMailbox[];
  readonly firing: FiringAlerts;
}

interface Known {
  /** Of the fleet, when the ranking began. */
  readonly revision: number;
  readonly alertsRevision: number;
  readonly configuration: object;
  readonly silences: readonly Silence[];
  /** Place by place as `fleet.ranked`: to see that one is the same, nothing of it has to be read. */
  readonly mailboxes: readonly MailboxState[];
  readonly sums: FleetSums;
  readonly fleet: RankedFleet;
}

export class Ranking {
  readonly #fleet: Fleet;
  readonly #policyOf: (mailbox: MailboxState) => RankingPolicy;
  readonly #configuration: () => object;
  readonly #clock: Pick<Clock, 'now'>;
  #known: Known | null = null;
  #making: Promise<void> | null = null;

  /** `configuration`: what the policies follow from; another object when they may be others. */
  constructor(
    { fleet, clock }: { readonly fleet: Fleet; readonly clock: Pick<Clock, 'now'> },
    policyOf: (mailbox: MailboxState) => RankingPolicy,
    configuration: () => object,
  ) {
    this.#fleet = fleet;
    this.#clock = clock;
    this.#policyOf = policyOf;
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
    const silences = this.#fleet.silences(this.#clock.now());
    const isAsBefore = this.#known?.configuration === configuration && areSame(this.#known.silences, silences);
    const known = isAsBefore ? this.#known : null;
    const alerted = this.#fleet.alertsChangedSince(known?.alertsRevision ?? 0);
    const wide = new WideAlerts(this.#fleet.wideAlerts());
    const firing = known?.alertsRevision === alertsRevision ? known.fleet.firing : await this.#firing();
    const mailboxes = [...this.#fleet.mailboxes()];
    // With a hundred thousand, each of these steps takes milliseconds, though nothing changed.
    await turnAfter(mailboxes);
    const before = known?.fleet.ranked ?? [];
    const ranked = before.slice(0, mailboxes.length);
    const sums = known?.sums.copy() ?? new FleetSums();
    const pacer = createPacer(sliceMs);
    for (let place = 0; place < Math.max(mailboxes.length, before.length); place += 1) {
      const mailbox = mailboxes[place];
      // A mailbox that is the same object is the same.
      const isSame = known?.mailboxes[place] === mailbox;
      if (isSame && alerted.size === 0) continue;
      if (pacer.due()) await pacer.turn();
      if (isSame && mailbox && !alerted.has(mailbox.account)) continue;
      const was = before[place];
      const one = mailbox && this.#rank(mailbox, { wide, silences }, isSame ? was : undefined);
      if (one === was) continue;
      sums.replace(place, was, one);
      if (one) ranked[place] = one;
    }
    await turnAfter(mailboxes);
    const fleet = { ranked, firing, ...sums.totals() };
    this.#known = { revision, alertsRevision, configuration, silences, mailboxes, sums, fleet };
  }

  async #firing(): Promise<FiringAlerts> {
    const firing = new FiringAlerts();
    await eachAlert(this.#fleet.alerts(), (alert) => {
      if (isFiring(alert)) firing.put(alert);
    });
    return firing;
  }

  /** `same`: of the last ranking, when only alerts may have changed. */
  #rank(
    mailbox: MailboxState,
    { wide, silences }: { readonly wide: WideAlerts; readonly silences: readonly Silence[] },
    same: RankedMailbox | undefined,
  ): RankedMailbox {
    const [own, shared] = [this.#fleet.alertsAbout(mailbox), wide.concerning(mailbox)];
    const alerts = shared.length === 0 && own.every(isFiring) ? own : [...own.filter(isFiring), ...shared];
    return same && areSame(same.alerts, alerts) ? same : rank(mailbox, this.#policyOf(mailbox), { alerts, silences });
  }
}

const areSame = (some: readonly object[], others: readonly object[]) =>
  some.length === others.length && some.every((one, index) => one === others[index]);
