// The in-memory picture of the fleet: loaded at start, updated after each commit, read by the page, the metrics, the notifier and recipes.
import type { Action } from '../action.ts';
import type { Alert, AlertChanges, Silence } from '../alert.ts';
import { type BreakerState, closedBreaker } from '../breaker.ts';
import type { Incident } from '../incident.ts';
import type { AccountState, MailboxState, SweepProgress } from '../mailbox.ts';
import type { StoreFailure } from '../store-failure.ts';
import type { EpochMs } from '../time.ts';
import { type Guarding, isOff, scopeKey, scopesOver, type WritesOff } from '../write-scope.ts';
import { EndedLately, MailboxNames } from './newest-value.ts';

/** A delivery channel as its loop finds it. */
export interface ChannelState {
  readonly name: string;
  readonly type: string;
  readonly pending: number;
  /** Creation of the oldest unsent delivery, or null if none waits. */
  readonly oldestPendingAt: EpochMs | null;
  /** Messages given up in the last seven days; a person can have them sent again. */
  readonly undelivered: number;
  readonly lastSuccessAt: EpochMs | null;
  /** Moment since which no send succeeds, or null while sends succeed or none is tried. */
  readonly failingSince: EpochMs | null;
  readonly lastFailure: string | null;
  /** True if the failure is about the channel's configuration: no wait mends it. */
  readonly refusesSetup: boolean;
}

/** Number of finished actions kept for the page; the store has all. */
const recentActionsKept = 100;

/** Number of ended incidents kept for the page; the store has all. */
const endedIncidentsKept = 50;

const widths = ['everything', 'account', 'mailbox'];

const noMailboxes: ReadonlyMap<string, MailboxState> = new Map();
const noAlerts: ReadonlyMap<string, Alert> = new Map();
const noneAbout: readonly Alert[] = [];

/** Picture of the fleet that is read without the store. Its values are immutable; each put replaces one. */
export class Fleet {
  readonly #accounts = new Map<string, AccountState>();
  /** Mailboxes by account, then by id. */
  readonly #mailboxes = new Map<string, Map<string, MailboxState>>();
  readonly #names = new MailboxNames();
  readonly #alerts = new Map<string, Alert>();
  /** Alerts by account, then by fingerprint. */
  readonly #alertsOf = new Map<string, Map<string, Alert>>();
  /** Alerts by account, then by mailbox id. */
  readonly #alertsAbout = new Map<string, Map<string, readonly Alert[]>>();
  /** Alerts about no single mailbox, by fingerprint. */
  readonly #wideAlerts = new Map<string, Alert>();
  readonly #breakers = new Map<string, BreakerState>();
  readonly #writesOff = new Map<string, WritesOff>();
  readonly #channels = new Map<string, ChannelState>();
  readonly #silences = new Map<string, Silence>();
  /** First sweeps in progress, by account. */
  readonly #sweeps = new Map<string, SweepProgress>();
  #recentActions: readonly Action[] = [];
  #incidents: readonly Incident[] = [];
  #storeFailure: StoreFailure | null = null;
  #storeFailingSince: EpochMs | null = null;
  #guarding: readonly Guarding[] = [];
  #revision = 0;
  #alertsRevision = 0;
  readonly endedLately = new EndedLately();
  /** Revision of the latest change of an alert, by account. */
  readonly #alertsChangedAt = new Map<string, number>();

  /** Grows with every change: equal numbers mean the same picture. */
  get revision(): number {
    return this.#revision;
  }

  accounts(): IterableIterator<AccountState> {
    return this.#accounts.values();
  }
  account(name: string): AccountState | undefined {
    return this.#accounts.get(name);
  }
  putAccount(account: AccountState): void {
    this.#revision += 1;
    this.#accounts.set(account.name, account);
  }
  /** Removes an account that this process no longer polls. Its mailboxes stay. */
  removeAccountState(name: string): void {
    this.#revision += 1;
    this.#accounts.delete(name);
    this.#sweeps.delete(name);
  }
  /** The account is no longer configured: nothing of it is shown from now on. */
  removeAccount(name: string): void {
    this.clearAccount(name);
    this.removeAccountState(name);
    this.#guarding = this.#guarding.filter(({ account }) => account !== name);
  }

  /** Takes out what the store has of an account, so that it can be shown as it is stored now. */
  clearAccount(name: string): void {
    this.#revision += 1;
    this.#mailboxes.delete(name);
    this.#names.removeAccount(name);
    for (const { fingerprint } of [...this.alertsOf(name)]) this.removeAlert(fingerprint);
    this.#alertsOf.delete(name);
    this.#recentActions = this.#recentActions.filter(({ account }) => account !== name);
  }

  /** Every configured account, and whether it is guarded. */
  guarding(): readonly Guarding[] {
    return this.#guarding;
  }
  putGuarding(guarding: readonly Guarding[]): void {
    this.#revision += 1;
    this.#guarding = guarding;
  }

  /** All mailboxes that have not left, account by account. */
  *mailboxes(): IterableIterator<MailboxState> {
    for (const mailboxes of this.#mailboxes.values()) yield* mailboxes.values();
  }
  /** Mailboxes of one account. */
  mailboxesOf(account: string): IterableIterator<MailboxState> {
    return (this.#mailboxes.get(account) ?? noMailboxes).values();
  }
  mailbox(account: string, id: string): MailboxState | undefined {
    return this.#mailboxes.get(account)?.get(id);
  }
  /** Number of mailboxes, in all or of one account. */
  mailboxCount(account?: string): number {
    if (account !== undefined) return this.#mailboxes.get(account)?.size ?? 0;
    let count = 0;
    for (const mailboxes of this.#mailboxes.values()) count += mailboxes.size;
    return count;
  }
  putMailbox(mailbox: MailboxState): void {
    this.#revision += 1;
    const ofAccount = this.#mailboxes.get(mailbox.account);
    const before = ofAccount?.get(mailbox.id);
    if (ofAccount) ofAccount.set(mailbox.id, mailbox);
    else this.#mailboxes.set(mailbox.account, new Map([[mailbox.id, mailbox]]));
    if (before?.email === mailbox.email) return;
    if (before) this.#names.remove(before);
    this.#names.add(mailbox);
  }
  /** The mailbox has left: its series and its row are gone from now on. */
  removeMailbox(account: string, id: string): void {
    this.#revision += 1;
    const known = this.mailbox(account, id);
    if (known) this.#names.remove(known);
    this.#mailboxes.get(account)?.delete(id);
  }
  /** Unique within its account: its address, with its id where another mailbox has the same address now. Not yet escaped. */
  nameOf(mailbox: Pick<MailboxState, 'account' | 'id' | 'email'>): string {
    return this.#names.nameOf(mailbox);
  }

  /** Grows with every change of an alert. */
  get alertsRevision(): number {
    return this.#alertsRevision;
  }
  /** The accounts that the alerts are of which changed after a revision of the alerts. */
  alertsChangedSince(alertsRevision: number): ReadonlySet<string> {
    return new Set([...this.#alertsChangedAt].flatMap(([account, at]) => (at > alertsRevision ? [account] : [])));
  }
  /** Pending and firing alerts. */
  alerts(): IterableIterator<Alert> {
    return this.#alerts.values();
  }
  /** Alerts of one account. */
  alertsOf(account: string): IterableIterator<Alert> {
    return (this.#alertsOf.get(account) ?? noAlerts).values();
  }
  /** Alerts about one mailbox. */
  alertsAbout({ account, id }: Pick<MailboxState, 'account' | 'id'>): readonly Alert[] {
    return this.#alertsAbout.get(account)?.get(id) ?? noneAbout;
  }
  /** Alerts about accounts, domains, IP addresses, or Warmwarden itself. */
  wideAlerts(): IterableIterator<Alert> {
    return this.#wideAlerts.values();
  }
  alert(fingerprint: string): Alert | undefined {
    return this.#alerts.get(fingerprint);
  }
  /** Keeps a pending or firing alert; forgets a resolved one. */
  putAlert(alert: Alert): void {
    this.#revision += 1;
    const { account, fingerprint, status } = alert;
    if (status === 'resolved') {
      this.removeAlert(fingerprint);
      this.endedLately.put(alert);
      return;
    }
    this.#alerts.set(fingerprint, alert);
    this.#noteAbout(alert, true);
    const ofAccount = this.#alertsOf.get(account) ?? new Map<string, Alert>();
    this.#alertsOf.set(account, ofAccount.set(fingerprint, alert));
  }

  /** Shows committed changes of alerts. */
  putAlerts({ changed, dropped }: Pick<AlertChanges, 'changed' | 'dropped'>): void {
    for (const alert of changed) this.putAlert(alert);
    for (const fingerprint of dropped) this.removeAlert(fingerprint);
  }

  /** Forgets a pending alert whose condition ended before it fired. */
  removeAlert(fingerprint: string): void {
    this.#revision += 1;
    const known = this.#alerts.get(fingerprint);
    if (!known) return;
    this.#noteAbout(known, false);
    this.#alerts.delete(fingerprint);
    this.#alertsOf.get(known.account)?.delete(fingerprint);
  }

  /** Takes an alert in among those about the same, or out of them. */
  #noteAbout(alert: Alert, stays: boolean): void {
    const { account, mailboxId, fingerprint } = alert;
    this.#alertsRevision += 1;
    this.#alertsChangedAt.set(account, this.#alertsRevision);
    if (mailboxId === null) {
      if (stays) this.#wideAlerts.set(fingerprint, alert);
      else this.#wideAlerts.delete(fingerprint);
      return;
    }
    const ofAccount = this.#alertsAbout.get(account) ?? new Map<string, readonly Alert[]>();
    const others = (ofAccount.get(mailboxId) ?? noneAbout).filter((other) => other.fingerprint !== fingerprint);
    if (stays) this.#alertsAbout.set(account, ofAccount.set(mailboxId, [...others, alert]));
    else if (others.length > 0) ofAccount.set(mailboxId, others);
    else ofAccount.delete(mailboxId);
  }

  /** The newest first. */
  recentActions(): readonly Action[] {
    return this.#recentActions;
  }
  /** Moment of the latest confirmed change, by account, among the actions kept here. */
  lastWrites(): ReadonlyMap<string, EpochMs> {
    const last = new Map<string, EpochMs>();
    for (const action of this.#recentActions)
      if (action.state === 'confirmed')
        last.set(action.account, Math.max(action.settledAt, last.get(action.account) ?? action.settledAt));
    return last;
  }
  /** The newest actions on a mailbox, as far as the picture keeps them. */
  actionsOf({ account, id, action }: MailboxState): readonly Action[] {
    const own = this.#recentActions.filter(
      (one) => one.account === account && one.mailboxId === id && one.id !== action?.id,
    );
    return action ? [action, ...own] : own;
  }

  putAction(action: Action): void {
    this.#revision += 1;
    const others = this.#recentActions.filter((other) => other.id !== action.id);
    this.#recentActions = [action, ...others].sort((a, b) => b.plannedAt - a.plannedAt).slice(0, recentActionsKept);
  }

  /** Incidents in progress, the newest first, then ended ones, the latest first. */
  incidents(): readonly Incident[] {
    return this.#incidents;
  }
  putIncident(incident: Incident): void {
    this.#revision += 1;
    const all = [incident, ...this.#incidents.filter(({ id }) => id !== incident.id)];
    const open = all.filter(({ endedAt }) => endedAt === null).sort((a, b) => b.beganAt - a.beganAt);
    const ended = all.filter(({ endedAt }) => endedAt !== null).sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
    this.#incidents = [...open, ...ended.slice(0, endedIncidentsKept)];
  }

  /** Breakers by base_url. */
  breakers(): IterableIterator<readonly [string, BreakerState]> {
    return this.#breakers.entries();
  }
  breaker(api: string): BreakerState {
    return this.#breakers.get(api) ?? closedBreaker;
  }
  putBreaker(api: string, state: BreakerState): void {
    this.#revision += 1;
    this.#breakers.set(api, state);
  }
  /** No account is guarded under the API any more. */
  removeBreaker(api: string): void {
    this.#revision += 1;
    this.#breakers.delete(api);
  }

  /** Emergency stops, including expired ones that are not yet removed. */
  *knownWritesOff(): IterableIterator<WritesOff> {
    yield* this.#writesOff.values();
  }
  /** Emergency stops in force at a moment, the widest first. */
  writesOff(now: EpochMs): readonly WritesOff[] {
    const off = [...this.#writesOff.values()].filter((one) => isOff(one, now));
    return off.sort((a, b) => widths.indexOf(a.scope.kind) - widths.indexOf(b.scope.kind));
  }
  putWritesOff(off: WritesOff): void {
    this.#revision += 1;
    this.#writesOff.set(scopeKey(off.scope), off);
  }
  removeWritesOff(key: string): void {
    this.#revision += 1;
    this.#writesOff.delete(key);
  }
  /** Widest emergency stop over an account, or one of its mailboxes, or null if there is none. */
  writesOffOver(account: string, mailboxId: string | null, now: EpochMs): WritesOff | null {
    if (this.#writesOff.size === 0) return null;
    const known = scopesOver(account, mailboxId).map((scope) => this.#writesOff.get(scopeKey(scope)));
    return known.find((off) => off !== undefined && isOff(off, now)) ?? null;
  }
  /** True if no emergency stop covers an account, or one of its mailboxes. */
  writesAllowed(account: string, mailboxId: string | null, now: EpochMs): boolean {
    return this.writesOffOver(account, mailboxId, now) === null;
  }

  channels(): IterableIterator<ChannelState> {
    return this.#channels.values();
  }
  channel(name: string): ChannelState | undefined {
    return this.#channels.get(name);
  }
  putChannel(channel: ChannelState): void {
    this.#revision += 1;
    this.#channels.set(channel.name, channel);
  }
  removeChannel(name: string): void {
    this.#revision += 1;
    this.#channels.delete(name);
  }

  /** Silences in force at a moment, by their end. Forgets expired ones. */
  silences(now: EpochMs): readonly Silence[] {
    for (const { id, until } of this.#silences.values()) if (until <= now) this.#silences.delete(id);
    const inForce = [...this.#silences.values()].filter(({ from }) => from <= now);
    return inForce.sort((a, b) => a.until - b.until);
  }
  putSilence(silence: Silence): void {
    this.#revision += 1;
    this.#silences.set(silence.id, silence);
  }

  /** Failure of the store, or null while it works. */
  get storeFailure(): StoreFailure | null {
    return this.#storeFailure;
  }
  /** Moment since which the store fails, or null if it works or the moment is unknown. */
  get storeFailingSince(): EpochMs | null {
    return this.#storeFailingSince;
  }
  putStoreFailure(failure: StoreFailure | null, since: EpochMs | null = null): void {
    this.#revision += 1;
    this.#storeFailure = failure;
    this.#storeFailingSince = failure && since;
  }

  /** First sweeps that go on, of accounts with mailboxes that nobody remembers. */
  sweeps(): IterableIterator<SweepProgress> {
    return this.#sweeps.values();
  }
  sweep(account: string): SweepProgress | undefined {
    return this.#sweeps.get(account);
  }
  putSweep(progress: SweepProgress): void {
    this.#revision += 1;
    this.#sweeps.set(progress.account, progress);
  }
  endSweep(account: string): void {
    this.#revision += 1;
    this.#sweeps.delete(account);
  }
}
