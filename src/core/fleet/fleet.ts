// The in-memory picture of the fleet: loaded at start. An answer that moves nothing is shown before its commit.
import type { Action } from '../action.ts';
import { type Alert, type AlertChanges, type Silence, windowOf } from '../alert.ts';
import { type BreakerState, closedBreaker } from '../guard/breaker.ts';
import type { Incident } from '../incident.ts';
import {
  type AccountState,
  isUnread,
  type MailboxName,
  type MailboxState,
  noTags,
  type SweepProgress,
  type Tags,
} from '../mailbox.ts';
import type { StoreFailure } from '../store-failure.ts';
import { type EpochMs, hourMs, secondMs } from '../time.ts';
import { visibleText } from '../wording/phrases.ts';
import { isOff, scopeKey, scopesOver, type WritesOff } from '../write-scope.ts';

export interface ChannelState {
  readonly name: string;
  readonly type: string;
  readonly pending: number;
  readonly oldestPendingAt: EpochMs | null;
  /** Messages given up in the last seven days. */
  readonly undelivered: number;
  readonly lastSuccessAt: EpochMs | null;
  /** Start of the failure, or null if sends succeed or none was tried. */
  readonly failingSince: EpochMs | null;
  readonly lastFailure: string | null;
  /** True if the channel's configuration must be mended. */
  readonly refusesSetup: boolean;
}

const recentActionsKept = 100;

const endedIncidentsKept = 50;

const widths = ['everything', 'account', 'mailbox'];

/** An alert that comes again within this time of its end is unstable. */
const endedKeptMs = hourMs;

const addressKey = ({ account, email }: MailboxName) => `${account}/${visibleText(email)}`;

export class Fleet {
  /** Tags of the configuration in force. */
  tags: Tags = noTags;
  readonly #accounts = new Map<string, AccountState>();
  readonly #mailboxes = new Map<string, Map<string, MailboxState>>();
  readonly #addresses = new Map<string, number>();
  readonly #alerts = new Map<string, Alert>();
  /** Alerts by account, then by mailbox id ('' for those about no single mailbox), then by fingerprint. */
  readonly #alertsOf = new Map<string, Map<string, Map<string, Alert>>>();
  readonly #ended = new Map<string, Alert>();
  readonly #breakers = new Map<string, BreakerState>();
  readonly #writesOff = new Map<string, WritesOff>();
  readonly #channels = new Map<string, ChannelState>();
  readonly #silences = new Map<string, Silence>();
  readonly #sweeps = new Map<string, SweepProgress>();
  #recentActions: readonly Action[] = [];
  #incidents: readonly Incident[] = [];
  #storeFailure: StoreFailure | null = null;
  #storeFailingSince: EpochMs | null = null;
  #guarding: readonly Guarding[] = [];
  #revision = 0;

  get revision(): number {
    return this.#revision;
  }

  accounts(): IterableIterator<AccountState> {
    return this.#accounts.values();
  }
  account(name: string): AccountState | undefined {
    return this.#accounts.get(name);
  }
  /** Returns every configured account, including those that were never read. */
  accountNames(): ReadonlySet<string> {
    return new Set([...this.#accounts.keys(), ...this.#guarding.map(({ account }) => account)]);
  }
  putAccount(account: AccountState): void {
    this.#revision += 1;
    this.#accounts.set(account.name, account);
  }
  removeAccount(name: string): void {
    this.clearAccount(name);
    this.#accounts.delete(name);
    this.#sweeps.delete(name);
    this.#guarding = this.#guarding.filter(({ account }) => account !== name);
  }

  clearAccount(name: string): void {
    this.#revision += 1;
    for (const { account, id } of [...this.mailboxesOf(name)]) this.removeMailbox(account, id);
    for (const { fingerprint } of [...this.alertsOf(name)]) this.removeAlert(fingerprint);
    this.#recentActions = this.#recentActions.filter(({ account }) => account !== name);
  }

  guarding(): readonly Guarding[] {
    return this.#guarding;
  }
  putGuarding(guarding: readonly Guarding[]): void {
    this.#revision += 1;
    this.#guarding = guarding;
  }
  unreadAccounts(): ReadonlySet<string> {
    const failing = [...this.#accounts.values()].filter(isUnread).map(({ name }) => name);
    const starting = this.#guarding.filter(({ startingSince }) => startingSince !== null);
    return new Set([...failing, ...starting.map(({ account }) => account)]);
  }

  *mailboxes(): IterableIterator<MailboxState> {
    for (const mailboxes of this.#mailboxes.values()) yield* mailboxes.values();
  }
  *mailboxesOf(account: string): IterableIterator<MailboxState> {
    yield* this.#mailboxes.get(account)?.values() ?? [];
  }
  mailbox(account: string, id: string): MailboxState | undefined {
    return this.#mailboxes.get(account)?.get(id);
  }
  mailboxCount(account?: string): number {
    if (account !== undefined) return this.#mailboxes.get(account)?.size ?? 0;
    let count = 0;
    for (const mailboxes of this.#mailboxes.values()) count += mailboxes.size;
    return count;
  }
  putMailbox(mailbox: MailboxState): void {
    this.#revision += 1;
    const { account, id, email } = mailbox;
    const ofAccount = this.#mailboxes.get(account) ?? new Map<string, MailboxState>();
    const before = ofAccount.get(id);
    this.#mailboxes.set(account, ofAccount.set(id, mailbox));
    if (before?.email === email) return;
    if (before) this.#countAddress(before, -1);
    this.#countAddress(mailbox, 1);
  }
  removeMailbox(account: string, id: string): void {
    this.#revision += 1;
    const known = this.mailbox(account, id);
    if (known) this.#countAddress(known, -1);
    this.#mailboxes.get(account)?.delete(id);
  }
  /** Unique name within the account: the address, with the id if it is shared or itself ends in a parenthesis. */
  nameOf(mailbox: MailboxName): string {
    const address = visibleText(mailbox.email);
    const isShared = (this.#addresses.get(addressKey(mailbox)) ?? 0) > 1;
    return isShared || address.endsWith(')') ? `${address} (${visibleText(mailbox.id)})` : address;
  }
  #countAddress(mailbox: MailboxName, more: 1 | -1): void {
    const key = addressKey(mailbox);
    const count = (this.#addresses.get(key) ?? 0) + more;
    if (count > 0) this.#addresses.set(key, count);
    else this.#addresses.delete(key);
  }

  alerts(): IterableIterator<Alert> {
    return this.#alerts.values();
  }
  *alertsOf(account: string): IterableIterator<Alert> {
    for (const about of this.#alertsOf.get(account)?.values() ?? []) yield* about.values();
  }
  alertsAbout({ account, id }: Pick<MailboxState, 'account' | 'id'>): readonly Alert[] {
    return [...(this.#alertsOf.get(account)?.get(id)?.values() ?? [])];
  }
  /** Returns the alert that the statistics or the warm-up of a mailbox are stale, also while it waits for its `for`. */
  staleAlert(mailbox: Pick<MailboxState, 'account' | 'id'>): Alert | undefined {
    return this.alertsAbout(mailbox).find(
      ({ rule, object, status }) => rule === 'stale_data' && object === 'statistics' && status !== 'resolved',
    );
  }
  isStale(mailbox: Pick<MailboxState, 'account' | 'id'>): boolean {
    return this.staleAlert(mailbox) !== undefined;
  }
  *wideAlerts(): IterableIterator<Alert> {
    for (const ofAccount of this.#alertsOf.values()) yield* ofAccount.get('')?.values() ?? [];
  }
  alert(fingerprint: string): Alert | undefined {
    return this.#alerts.get(fingerprint);
  }
  endedLately(fingerprint: string): Alert | undefined {
    return this.#ended.get(fingerprint);
  }
  putAlert(alert: Alert): void {
    this.#revision += 1;
    const { account, fingerprint, status } = alert;
    if (status === 'resolved') {
      this.removeAlert(fingerprint);
      this.#noteEnd(alert);
      return;
    }
    this.#alerts.set(fingerprint, alert);
    const about = alert.mailboxId ?? '';
    const ofAccount = this.#alertsOf.get(account) ?? new Map<string, Map<string, Alert>>();
    const known = ofAccount.get(about) ?? new Map<string, Alert>();
    this.#alertsOf.set(account, ofAccount.set(about, known.set(fingerprint, alert)));
  }

  putAlerts({ changed, dropped }: Pick<AlertChanges, 'changed' | 'dropped'>): void {
    for (const alert of changed) this.putAlert(alert);
    for (const fingerprint of dropped) this.removeAlert(fingerprint);
  }

  removeAlert(fingerprint: string): void {
    this.#revision += 1;
    const known = this.#alerts.get(fingerprint);
    if (!known) return;
    this.#alerts.delete(fingerprint);
    const ofAccount = this.#alertsOf.get(known.account);
    const about = ofAccount?.get(known.mailboxId ?? '');
    about?.delete(fingerprint);
    if (about?.size === 0) ofAccount?.delete(known.mailboxId ?? '');
  }

  #noteEnd(alert: Alert): void {
    this.#ended.delete(alert.fingerprint);
    this.#ended.set(alert.fingerprint, alert);
    for (const [fingerprint, { resolvedAt }] of this.#ended) {
      if ((alert.resolvedAt ?? 0) - (resolvedAt ?? 0) < endedKeptMs) return;
      this.#ended.delete(fingerprint);
    }
  }

  recentActions(): readonly Action[] {
    return this.#recentActions;
  }
  lastWrites(): ReadonlyMap<string, EpochMs> {
    const last = new Map<string, EpochMs>();
    for (const action of this.#recentActions)
      if (action.state === 'confirmed')
        last.set(action.account, Math.max(action.settledAt, last.get(action.account) ?? action.settledAt));
    return last;
  }
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

  /** Open incidents, the newest first, then ended ones, the latest first. */
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
  removeBreaker(api: string): void {
    this.#revision += 1;
    this.#breakers.delete(api);
  }

  /** Write stops, including expired ones. */
  *knownWritesOff(): IterableIterator<WritesOff> {
    yield* this.#writesOff.values();
  }
  /** Write stops in force at a moment, the widest first. */
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
  /** Widest write stop over an account, or one of its mailboxes, or null if there is none. */
  writesOffOver(account: string, mailboxId: string | null, now: EpochMs): WritesOff | null {
    if (this.#writesOff.size === 0) return null;
    const known = scopesOver(account, mailboxId).map((scope) => this.#writesOff.get(scopeKey(scope)));
    return known.find((off) => off !== undefined && isOff(off, now)) ?? null;
  }
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

  /** Silences in force, by their end. */
  silences(now: EpochMs): readonly Silence[] {
    return this.knownSilences(now).filter(({ from }) => from <= now);
  }
  /** Silences in force or planned, each with its window that is in force or next, by its end. Forgets expired ones. */
  knownSilences(now: EpochMs): readonly Silence[] {
    const known = [...this.#silences.values()].flatMap((one) => {
      const window = windowOf(one, now);
      if (window === null) this.#silences.delete(one.id);
      return window ?? [];
    });
    return known.sort((a, b) => a.until - b.until);
  }
  putSilence(silence: Silence): void {
    this.#revision += 1;
    this.#silences.set(silence.id, silence);
  }

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

// The loops of the accounts: their longest wait, and those that do not run yet or any more.

/** Longest wait of an account's loops. */
export const turnEveryMs = 15 * secondMs;

export interface Guarding {
  readonly account: string;
  /** Time since which its loops should run, or null while all do. */
  readonly startingSince: EpochMs | null;
  /** True if a loop has stopped, which only a restart of the process starts again. */
  readonly hasStopped?: true;
}
