// The alerts beyond one mailbox, of one account: the running counts follow the picture, and conditions come of them.
import type { Condition } from '../../alerts/condition.ts';
import { leave } from '../../alerts/engine.ts';
import {
  accountShiftAlert,
  domainOverLimit,
  domainSubject,
  hasShifted,
  isDomainOver,
  shiftSubject,
} from '../../alerts/rules/pooled-rules.ts';
import { type Alert, type AlertChanges, fingerprintOf, type Subject } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { inTurns } from '../../world/world.ts';
import type { RecorderOptions } from './guarded-account.ts';
import { type PooledLook, PooledMailboxes } from './pooled-mailboxes.ts';

const noneRuns = 'No guarded mailbox of the domain is in warm-up any more.';

/** What they need of an account. */
export type PooledOptions = Pick<RecorderOptions, 'account' | 'pageUrl' | 'policyFor' | 'staleBefore'>;

export class PooledAlerts {
  readonly #fleet: Fleet;
  readonly #options: PooledOptions;
  readonly #alert: (fingerprint: string) => Alert | undefined;
  #counts: PooledMailboxes | null = null;

  /** `alert`: as it is believed to be. */
  constructor(fleet: Fleet, options: PooledOptions, alert: (fingerprint: string) => Alert | undefined) {
    this.#alert = alert;
    this.#fleet = fleet;
    this.#options = options;
  }

  /** Takes in what the picture has, in turns of the event loop, so that the first answer need not do it in one. */
  async prepare(now: EpochMs): Promise<void> {
    if (this.#counts) return;
    const { account } = this.#options;
    const counts = new PooledMailboxes(account);
    await inTurns([...this.#fleet.mailboxesOf(account)], (piece) => {
      for (const mailbox of piece) counts.put(mailbox, this.#look(mailbox, now), false);
    });
    this.#counts = counts;
  }

  /** Returns what puts the mailbox back as it is counted now. */
  keep(mailboxId: string, now: EpochMs): () => void {
    const counts = this.#known(now);
    const before = counts.kept(mailboxId);
    return () => counts.restore(mailboxId, before);
  }

  /** What the counts say with a mailbox that is about to be committed. */
  after(mailbox: MailboxState, judged: boolean, now: EpochMs): readonly Condition[] {
    const counts = this.#known(now);
    counts.put(mailbox, this.#look(mailbox, now), judged);
    const { account, pageUrl } = this.#options;
    const domain = counts.domain(domainOf(mailbox.email), now);
    const shift = counts.shift(now);
    const conditions: Condition[] = [];
    if (
      domain &&
      this.#isNews(domainSubject(account, domain.domain), domain.excess !== null, () => isDomainOver(domain))
    )
      conditions.push(domainOverLimit(domain, { now, pageUrl }));
    const isShifted = shift.shift?.isShifted === true;
    if (this.#isNews(shiftSubject(account), isShifted, () => hasShifted(shift)))
      conditions.push(accountShiftAlert(shift, { now, pageUrl }));
    return conditions;
  }

  /** What time alone changes: counts get stale, and what fires gets newer words, or ends. */
  passed(now: EpochMs): { readonly conditions: readonly Condition[]; readonly ends: AlertChanges } {
    const counts = this.#known(now);
    this.#age(counts, now);
    const { account, pageUrl } = this.#options;
    const conditions: Condition[] = [];
    const gone: Alert[] = [];
    for (const alert of this.#fleet.alertsOf(account)) {
      if (alert.status !== 'firing') continue;
      if (alert.rule === 'account_shift') conditions.push(accountShiftAlert(counts.shift(now), { now, pageUrl }));
      if (alert.rule !== 'domain_over_limit') continue;
      const domain = counts.domain(alert.object ?? '', now);
      if (domain) conditions.push(domainOverLimit(domain, { now, pageUrl }));
      else gone.push(alert);
    }
    return { conditions, ends: leave(gone, now, noneRuns) };
  }

  /** The mailbox is in the picture as it is here. */
  shown(mailbox: MailboxState, now: EpochMs): void {
    this.#counts?.put(mailbox, this.#look(mailbox, now), false);
  }

  left(mailboxId: string): void {
    this.#counts?.restore(mailboxId, null);
  }

  /**
   * Only what is news is put in words: what fires is refreshed by time, so that no answer walks a whole domain. Where there is
   * no alert, what cannot hold is not even looked at.
   */
  #isNews(subject: Subject, mayHold: boolean, active: () => Condition['active']): boolean {
    const alert = this.#alert(fingerprintOf(subject));
    if (!alert) return mayHold && active() === true;
    const holds = active();
    return holds === true ? alert.status !== 'firing' : holds === false;
  }

  /** Made of the picture when it is needed first; from then on each change of a mailbox changes it. */
  #known(now: EpochMs): PooledMailboxes {
    if (this.#counts) return this.#counts;
    const { account } = this.#options;
    this.#counts = new PooledMailboxes(account);
    for (const mailbox of this.#fleet.mailboxesOf(account)) this.#counts.put(mailbox, this.#look(mailbox, now), false);
    return this.#counts;
  }

  /** Whose statistics are stale counts no more; who could not be read for as long is no longer waited for. */
  #age(counts: PooledMailboxes, now: EpochMs): void {
    const staleBefore = this.#options.staleBefore();
    const { hasPending } = counts;
    for (const mailbox of this.#fleet.mailboxesOf(this.#options.account)) {
      const isStale = (mailbox.stats?.at ?? mailbox.firstSeenAt) < staleBefore;
      if (isStale || (hasPending && mailbox.firstSeenAt < staleBefore && !counts.kept(mailbox.id)?.judged))
        counts.put(mailbox, this.#look(mailbox, now), false);
    }
  }

  #look(mailbox: MailboxState, now: EpochMs): PooledLook {
    const { policyFor, staleBefore } = this.#options;
    return { policy: policyFor(mailbox), now, staleBefore: staleBefore() };
  }
}
