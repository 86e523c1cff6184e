// The alerts that a reader asks for: those that fire, and those that are over with the messages about each.
import type { Alert, Severity } from '../../core/alert.ts';
import type { DeliveryPlace, ListedDelivery } from '../../core/delivery.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { dayMs, type EpochMs, hourMs } from '../../core/time.ts';
import { turnAfter } from '../../world/world.ts';
import type { RouteParts } from '../route-parts.ts';
import { type AlertGroup, eachAlert, FiringAlerts } from './firing-alerts.ts';
import { FirstOf } from './first-of.ts';
import { gravestFirst, isFiring } from './fleet-view.ts';

export interface AlertSelection {
  readonly severity: Severity | null;
  readonly rule: string | null;
  readonly account: string | null;
  /** As people name it. */
  readonly mailbox: string | null;
}

/** What resolved, or happened once. */
export interface PastAlert {
  readonly kind: 'resolved' | 'event';
  /** When it ended or happened. */
  readonly at: EpochMs;
  readonly alert: Alert;
  /** About it, the newest first. */
  readonly messages: readonly ListedDelivery[];
}

/** What of the firing alerts is on the page. */
export interface AlertsOnPage {
  /** All that fire. */
  readonly firing: FiringAlerts;
  /** How many of them are asked for. */
  readonly chosen: number;
  /** How many may fire soon. */
  readonly pending: number;
  /** Of those that are asked for, the gravest first; of one rule all one by one. */
  readonly groups: readonly AlertGroup[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** The messages about an alert, in their order. */
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

/** One answer looks at so many steps of alerts, also when few of them match. */
const stepsScanned = 1_000;
const stepsARead = 200;

type PastParts = Pick<RouteParts, 'transitions' | 'deliveries'>;

export interface PastPage {
  readonly rows: readonly PastAlert[];
  /** Where to go on; null: there are no older ones. */
  readonly next: number | null;
}

/** Whether an alert is among those that are asked for. `mailbox`: ACCOUNT/ID, an id or an address. */
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

/** Up to `limit` of those that match, from behind the step `before` on. There may be fewer, and yet older ones behind `next`. */
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

/** An empty text restricts nothing, as a form sends it. */
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
  /** The newest first. */
  readonly deliveries: readonly ListedDelivery[];
  /** false: there may be more in the spans. */
  readonly complete: boolean;
}

const deliveriesARead = 300;

/** One answer looks through so many messages at most: some storms send thousands. */
const maxReads = 40;

/** The message about a step of an alert is written this long after it, at the latest: groups wait minutes. */
const toldWithinMs = hourMs;

/** When messages about an alert were written. Of one that fired for longer than a day: about its beginning and its end. */
export function spansOf({ firingAt, since }: Alert, endedAt: EpochMs | null): readonly Span[] {
  const from = Math.min(firingAt ?? endedAt ?? since, endedAt ?? Number.MAX_SAFE_INTEGER);
  const began = { from, until: from + toldWithinMs };
  if (endedAt === null) return [began];
  const ended = { from: endedAt, until: endedAt + toldWithinMs };
  return endedAt - from <= dayMs ? [{ from, until: ended.until }] : [began, ended];
}

/** `newest`: messages that were read already, the newest first and without a gap; they are among the answer. */
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
      await turnAfter(read);
    }
  }
  return { deliveries: found, complete: true };
}

/** Those that overlap as one, the newest first. */
function joined(spans: readonly Span[]): readonly Span[] {
  const whole: Span[] = [];
  for (const span of spans.toSorted((a, b) => b.until - a.until)) {
    const last = whole.at(-1);
    if (last && span.until >= last.from) whole[whole.length - 1] = { ...last, from: Math.min(last.from, span.from) };
    else whole.push(span);
  }
  return whole;
}

// What the page of alerts shows of those that fire: all of them counted, and one page of those that are asked for.

const entriesAPage = 50;

/** `wanted`: from 1; a page that is not there is the last one. */
export async function alertsOnPage(fleet: Fleet, selection: AlertSelection, wanted: number): Promise<AlertsOnPage> {
  const [firing, chosen] = [new FiringAlerts(), new FiringAlerts()];
  const apart = selection.rule === null ? null : new FirstOf(gravestFirst, wanted * entriesAPage);
  let pending = 0;
  await eachAlert(fleet.alerts(), (alert) => {
    if (!isFiring(alert)) {
      pending += 1;
      return;
    }
    firing.put(alert);
    if (!isChosen(alert, selection)) return;
    chosen.put(alert);
    apart?.put(alert);
  });
  const pages = Math.max(1, Math.ceil((apart?.total ?? chosen.groups.length) / entriesAPage));
  const page = Math.min(wanted, pages);
  const from = (page - 1) * entriesAPage;
  const groups =
    apart?.take(from).map((first) => ({ first, others: [], count: 1 })) ??
    chosen.groups.slice(from, from + entriesAPage);
  return { firing, chosen: chosen.count(), pending, groups, page, pages };
}
