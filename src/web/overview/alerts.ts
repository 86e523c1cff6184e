// Alerts for pages and the API: firing alerts in groups, and past alerts with their messages.
import { concerns, domainObject, ipObject } from '../../alerts/rules/finding-rules.ts';
import { type Alert, accountsOf, isCause, type Severity } from '../../core/alert.ts';
import { type AlertRule, alertRules, ruleBook } from '../../core/alert-rules.ts';
import type { DeliveryPlace, ListedDelivery } from '../../core/delivery.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import { dayMs, type EpochMs, hourMs } from '../../core/time.ts';
import type { RouteParts } from '../route-parts.ts';

export const gravities: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 };

export const isFiring = ({ status }: Alert) => status === 'firing';

const urgencies: ReadonlyMap<AlertRule, number> = new Map(alertRules.map((rule, index) => [rule, index]));
const urgencyOf = ({ rule }: Alert) => urgencies.get(rule) ?? alertRules.length;

/**
 * Sorts by severity, then by urgency of the rule (the circuit breaker comes before the mailboxes that it holds), then
 * newest first.
 */
export function gravestFirst(a: Alert, b: Alert): number {
  return (
    gravities[b.severity] - gravities[a.severity] ||
    urgencyOf(a) - urgencyOf(b) ||
    b.since - a.since ||
    (a.fingerprint < b.fingerprint ? -1 : 1)
  );
}

export interface AlertGroup {
  readonly first: Alert;
  /** Alerts that the entry names in addition. */
  readonly others: readonly Alert[];
  /** Number of alerts in the entry; 1 if the entry is a single alert. */
  readonly count: number;
}

/** Largest number of alerts of a rule and severity that get their own entries. */
const apartAtMost = 5;
const named = 3;

/**
 * Firing alerts for counts and lists: one entry each, or one entry for all alerts of a rule and severity if there are
 * many.
 */
export class FiringAlerts {
  /** Most severe first. */
  readonly all: readonly Alert[];
  readonly groups: readonly AlertGroup[];

  constructor(alerts: Iterable<Alert>) {
    this.all = [...alerts].filter(isFiring).sort(gravestFirst);
    const alike = Map.groupBy(this.all, ({ rule, severity }) => `${severity} ${rule}`);
    this.groups = [...alike.values()].flatMap(groupsOf);
  }

  /** Number of alerts, of all severities or of one. */
  count(severity?: Severity): number {
    return severity === undefined ? this.all.length : this.all.filter((one) => one.severity === severity).length;
  }

  hasOf(rule: AlertRule): boolean {
    return this.all.some((one) => one.rule === rule);
  }
}

/** Groups the alerts of one rule and severity, newest first. */
function groupsOf(alike: readonly Alert[]): readonly AlertGroup[] {
  const [first, ...others] = alike.slice(0, named);
  if (first && alike.length > apartAtMost) return [{ first, others, count: alike.length }];
  return alike.map((alert) => ({ first: alert, others: [], count: 1 }));
}

const entriesAPage = 50;

/**
 * Returns one page of the firing alerts in a selection. If one rule is selected, each alert is its own entry. `wanted`:
 * number of the page, from 1; a page beyond the last is the last one.
 */
export function alertsOnPage(fleet: Fleet, selection: AlertSelection, wanted: number) {
  const all = [...fleet.alerts()];
  const firing = new FiringAlerts(all);
  const chosen = new FiringAlerts(firing.all.filter((alert) => isChosen(alert, selection)));
  const entries: readonly AlertGroup[] =
    selection.rule === null ? chosen.groups : chosen.all.map((first) => ({ first, others: [], count: 1 }));
  const pages = Math.max(1, Math.ceil(entries.length / entriesAPage));
  const page = Math.min(wanted, pages);
  const groups = entries.slice((page - 1) * entriesAPage, page * entriesAPage);
  return { firing, chosen: chosen.count(), pending: all.length - firing.count(), groups, page, pages };
}

// Firing alerts without a mailbox of their own, by the mailboxes that they concern: those of an account, a domain or an
// IP address.

const none: readonly Alert[] = [];

/** True for an alert about a domain or an IP address. Any other alert without a mailbox concerns a whole account. */
function isAboutSender(alert: Alert): boolean {
  const { shows } = ruleBook[alert.rule];
  return (shows === 'sender' || shows === 'shared') && !isCause(alert);
}

/** Index of alerts by name, because a large fleet has thousands of domains. */
export class WideAlerts {
  /** Alerts by account, then by domain or IP address. The key '' is for the whole account. */
  readonly #byAccount = new Map<string, Map<string, Alert[]>>();

  constructor(alerts: Iterable<Alert>) {
    for (const alert of alerts) {
      if (alert.status !== 'firing') continue;
      const object = isAboutSender(alert) ? (alert.object ?? '') : '';
      for (const account of accountsOf(alert)) this.#put(account, object, alert);
    }
  }

  /** Alerts about the whole account. */
  ofAccount(account: string): readonly Alert[] {
    return this.#byAccount.get(account)?.get('') ?? none;
  }

  *about(mailbox: MailboxState): Iterable<Alert> {
    const ofAccount = this.#byAccount.get(mailbox.account);
    if (ofAccount === undefined) return;
    const objects = new Set(['', domainOf(mailbox.email), domainObject(mailbox), ipObject(mailbox)]);
    for (const object of objects) yield* ofAccount.get(object) ?? none;
  }

  /**
   * Alerts about the mailbox's domain or IP address that also concern the mailbox: its last data shows the same
   * problem.
   */
  concerning(mailbox: MailboxState): readonly Alert[] {
    return [...this.about(mailbox)].filter((alert) => concerns(alert, mailbox));
  }

  #put(account: string, object: string, alert: Alert): void {
    const ofAccount = this.#byAccount.get(account) ?? new Map<string, Alert[]>();
    this.#byAccount.set(account, ofAccount);
    const known = ofAccount.get(object);
    if (known) known.push(alert);
    else ofAccount.set(object, [alert]);
  }
}

export interface AlertSelection {
  readonly severity: Severity | null;
  readonly rule: string | null;
  readonly account: string | null;
  /** ACCOUNT/ID, an id or an address. */
  readonly mailbox: string | null;
}

/** An alert that was resolved, or a single event. */
export interface PastAlert {
  readonly kind: 'resolved' | 'event';
  /** Time of the end or of the event. */
  readonly at: EpochMs;
  readonly alert: Alert;
  /** Messages about the alert, newest first. */
  readonly messages: readonly ListedDelivery[];
}

/** Creates a lookup of the messages about an alert, in their order. */
export function byAlert(deliveries: readonly ListedDelivery[]): (alert: Alert) => readonly ListedDelivery[] {
  const named = new Map<string, ListedDelivery[]>();
  for (const delivery of deliveries) {
    for (const fingerprint of delivery.alerts) {
      const known = named.get(fingerprint);
      if (known) known.push(delivery);
      else named.set(fingerprint, [delivery]);
    }
  }
  return ({ fingerprint }) => named.get(fingerprint) ?? [];
}

/** Transitions of alerts that one response scans, even if few match. */
const stepsScanned = 1_000;
const stepsARead = 200;

type PastParts = Pick<RouteParts, 'transitions' | 'deliveries'>;

export interface PastPage {
  readonly rows: readonly PastAlert[];
  /** Position of the next page, or null if there are no older alerts. */
  readonly next: number | null;
}

/** True if an alert is in the selection. `mailbox`: ACCOUNT/ID, an id or an address. */
function isChosen(alert: Alert, { severity, rule, account, mailbox }: AlertSelection): boolean {
  return (
    (severity === null || alert.severity === severity) &&
    (rule === null || alert.rule === rule) &&
    (account === null || alert.account === account) &&
    (mailbox === null || isAbout(alert, mailbox))
  );
}

function isAbout({ account, mailboxId, email }: Alert, name: string): boolean {
  return mailboxId !== null && [mailboxId, email, `${account}/${mailboxId}`, `${account}/${email}`].includes(name);
}

/**
 * Reads up to `limit` matching alerts that are older than the transition `before`. Older ones may follow at `next` even
 * if there are fewer.
 */
export async function readPast(parts: PastParts, selection: AlertSelection, from: From): Promise<PastPage> {
  const { found, next } = await scan(parts, selection, from);
  const spans = found.flatMap(({ alert, at }) => spansOf(alert, at));
  const about = byAlert((await messagesIn(parts.deliveries, spans)).deliveries);
  const messagesOf = (one: Ended) => about(one.alert).filter((delivery) => isWithin(delivery, one));
  return { rows: found.map((one) => ({ ...one, messages: messagesOf(one) })), next };
}

interface From {
  readonly before: number | null;
  readonly limit: number;
}

type Ended = Omit<PastAlert, 'messages'>;

async function scan({ transitions }: PastParts, selection: AlertSelection, { before, limit }: From) {
  const found: Ended[] = [];
  let next = before;
  for (let scanned = 0; scanned < stepsScanned; scanned += stepsARead) {
    const steps = await transitions(stepsARead, next ?? undefined);
    for (const { id, transition } of steps) {
      if (found.length === limit) return { found, next };
      next = id;
      const { kind, at, alert } = transition;
      if ((kind === 'resolved' || kind === 'event') && isChosen(alert, selection)) found.push({ kind, at, alert });
    }
    if (steps.length < stepsARead) return { found, next: null };
  }
  return { found, next };
}

function isWithin({ createdAt }: ListedDelivery, { at, alert }: Ended): boolean {
  return spansOf(alert, at).some(({ from, until }) => createdAt >= from && createdAt <= until);
}

/** Selection from form fields: an empty text selects all. */
export function selectionOf(asked: {
  readonly severity?: AlertSelection['severity'] | undefined;
  readonly rule?: string | undefined;
  readonly account?: string | undefined;
  readonly mailbox?: string | undefined;
}): AlertSelection {
  const { severity, rule, account, mailbox } = asked;
  return { severity: severity ?? null, rule: rule || null, account: account || null, mailbox: mailbox || null };
}

export interface Span {
  readonly from: EpochMs;
  readonly until: EpochMs;
}

export interface Messages {
  /** Newest first. */
  readonly deliveries: readonly ListedDelivery[];
  /** False if the spans may have further messages. */
  readonly complete: boolean;
}

const deliveriesARead = 300;

/** Largest number of reads for one response: many alerts at once may cause thousands of messages. */
const maxReads = 40;

/** Longest time from a transition of an alert to its message: groups wait minutes. */
const toldWithinMs = hourMs;

/**
 * Spans in which messages about an alert were written. An alert that fired for longer than a day has one at its
 * beginning and one at its end.
 */
export function spansOf({ firingAt, since }: Alert, endedAt: EpochMs | null): readonly Span[] {
  const from = Math.min(firingAt ?? endedAt ?? since, endedAt ?? Number.MAX_SAFE_INTEGER);
  const began = { from, until: from + toldWithinMs };
  if (endedAt === null) return [began];
  const ended = { from: endedAt, until: endedAt + toldWithinMs };
  return endedAt - from <= dayMs ? [{ from, until: ended.until }] : [began, ended];
}

/**
 * Reads the messages in the spans. `newest`: messages that were already read, newest first and without a gap; they are
 * part of the result.
 */
export async function messagesIn(
  deliveries: RouteParts['deliveries'],
  spans: readonly Span[],
  newest: readonly ListedDelivery[] = [],
): Promise<Messages> {
  const found: ListedDelivery[] = [...newest];
  const oldest = newest.at(-1);
  let reads = 0;
  for (const { from, until } of joined(spans)) {
    if (oldest && from > oldest.createdAt) continue;
    const isReached = oldest && until >= oldest.createdAt;
    let place: DeliveryPlace | null = isReached
      ? oldest
      : { createdAt: until, sequence: Number.MAX_SAFE_INTEGER, id: '' };
    while (place !== null) {
      if (reads === maxReads) return { deliveries: found, complete: false };
      reads += 1;
      const read: readonly ListedDelivery[] = await deliveries(deliveriesARead, place);
      found.push(...read.filter(({ createdAt }) => createdAt >= from));
      const last = read.at(-1);
      place = read.length < deliveriesARead || last === undefined || last.createdAt < from ? null : last;
    }
  }
  return { deliveries: found, complete: true };
}

/** Merges overlapping spans, newest first. */
function joined(spans: readonly Span[]): readonly Span[] {
  const whole: Span[] = [];
  for (const span of spans.toSorted((a, b) => b.until - a.until)) {
    const last = whole.at(-1);
    if (last && span.until >= last.from) whole[whole.length - 1] = { ...last, from: Math.min(last.from, span.from) };
    else whole.push(span);
  }
  return whole;
}
