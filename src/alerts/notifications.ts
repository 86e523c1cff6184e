// Selects the news and the reminders that people get now. Pure; silences and inhibition come in as `muted`.
import { type Alert, type Announcement, isCause, type Transition } from '../core/alert.ts';
import type { Severity } from '../core/alert-rules.ts';
import type { StoredTransition } from '../core/delivery.ts';
import { mailboxPath } from '../core/page-links.ts';
import { dayMs, type EpochMs, elapsedMs } from '../core/time.ts';
import {
  callsForNothing,
  dueGroups,
  endAsTold,
  endOf,
  type GroupTiming,
  groupOf,
  isTooFew,
  mayNotifyFrom,
  severer,
} from './grouping.ts';
import { type KnownFleet, traitsOf } from './routing.ts';
import { isDisarming } from './rules/protection-rule.ts';

export interface NotificationFacts {
  readonly unnotified: readonly StoredTransition[];
  readonly announced: ReadonlyMap<string, Announcement>;
  /** Read before `unnotified`, so that everything in them has been recorded. */
  readonly firing: readonly Alert[];
  /** True if an alert is silenced or explained by another one. The end of an announced alert is told regardless. */
  readonly muted: (alert: Alert) => boolean;
  readonly wanted: (alert: Alert) => boolean;
  /** Returns the kind of the message for channels that an announced alert came to concern, or null if there are none. */
  readonly joined: (alert: Alert) => 'worsened' | 'firing' | null;
  readonly repeatIntervalMs: Readonly<Record<Severity, number | null>>;
  readonly timing: GroupTiming;
}

export interface Notification {
  readonly group: string;
  /** Ids of the settled transitions, including those that are no news. */
  readonly ids: readonly number[];
  readonly news: readonly Transition[];
}

/** `nextDueAt` is null if only an event can make a notification due. */
export function notificationsOf(facts: NotificationFacts): {
  notifications: readonly Notification[];
  nextDueAt: EpochMs | null;
} {
  const { due, nextDueAt } = dueGroups(facts.unnotified, facts.timing);
  const current = new Map(facts.firing.map((alert) => [alert.fingerprint, alert]));
  const notifications = new Map<string, Notification>(
    due.map(({ group, unnotified }) => {
      const news = newsOf(unnotified, facts).map((transition) => withNewestFacts(transition, current));
      return [group, { group, ids: unnotified.map(({ id }) => id), news }];
    }),
  );
  for (const [group, again] of Map.groupBy(sayAgain(facts), (one) => one.group)) {
    const { ids, news } = notifications.get(group) ?? { ids: [], news: [] };
    notifications.set(group, { group, ids, news: [...news, ...again.map(({ transition }) => transition)] });
  }
  return { notifications: [...notifications.values()], nextDueAt };
}

/** Returns the latest step of each alert, if the step changes what people know. */
function newsOf(unnotified: readonly StoredTransition[], facts: NotificationFacts): readonly Transition[] {
  const steps = Map.groupBy(
    unnotified.map(({ transition }) => transition),
    ({ alert }) => alert.fingerprint,
  );
  return [...steps.values()].map((ofOne) => newsOfOne(ofOne, facts)).filter((news) => news !== null);
}

function newsOfOne(steps: readonly Transition[], { announced, muted }: NotificationFacts): Transition | null {
  const latest = steps.at(-1);
  if (!latest) return null;
  const known = announced.get(latest.alert.fingerprint);
  if (latest.kind === 'resolved') {
    // The end of an unannounced alert is not announced either, unless the alert begins and ends within this message.
    const begins = steps.some(({ kind, alert }) => kind !== 'resolved' && !muted(alert));
    if (known) return endAsTold(latest, known);
    if (latest.foretold) return null;
    // The beginning of store_failing was announced without the store.
    const isBrief = latest.alert.rule !== 'store_failing';
    return begins ? { ...latest, ...(isBrief && { brief: true }) } : null;
  }
  if (muted(latest.alert)) return null;
  if (latest.kind !== 'firing' && latest.kind !== 'worsened') return latest;
  const isSeverer = known !== undefined && severer(latest.alert.severity, known.severity);
  const worsened = isSeverer || steps.some(({ kind }) => kind === 'worsened');
  if (known && worsened) return { ...latest, kind: 'worsened' };
  // The alert fires again before every channel got its end.
  if (known && !latest.alert.unstable && !known.closed) return null;
  const moved = steps.some(({ movedFrom }) => movedFrom !== undefined && announced.has(movedFrom));
  return { ...latest, kind: 'firing', ...(moved && !worsened && { foretold: true }) };
}

/** Updates the alert, which may have grown while the message waited. */
export function withNewestFacts(transition: Transition, current: ReadonlyMap<string, Alert>): Transition {
  const now = transition.kind === 'resolved' ? undefined : current.get(transition.alert.fingerprint);
  const isSame = now?.firingAt === transition.alert.firingAt;
  // A message about an unstable alert says that the alert came, so the facts of its calm are not used.
  return now && isSame && !now.unstable?.calm ? { ...transition, alert: now } : transition;
}

/** Repeats firing alerts. A reminder names all announced alerts of its group, so that the group is repeated once. */
function sayAgain(facts: NotificationFacts): readonly { readonly group: string; readonly transition: Transition }[] {
  const { announced, muted, wanted, joined, timing, unnotified } = facts;
  const waiting = new Set(unnotified.map(({ transition }) => transition.alert.fingerprint));
  const due = new Set<string>();
  const again = facts.firing.flatMap((alert) => {
    const group = groupOf(alert);
    // A channel that an alert comes to concern is told at once: after its update, the incident is silent until its end.
    const news = joined(alert);
    // An incident repeats its alerts only when it gets worse or ends.
    if (!news && timing.incidents.of({ kind: 'reminder', at: timing.now, alert }) !== null) return [];
    if (waiting.has(alert.fingerprint) || muted(alert) || mayNotifyFrom(group, timing) > timing.now) return [];
    const say = (kind: Transition['kind']) => [{ group, transition: { kind, at: timing.now, alert } }];
    const known = announced.get(alert.fingerprint);
    if (!known || (known.channels?.length === 0 && wanted(alert))) return say('firing');
    if (news === 'firing') return [{ group, transition: { kind: news, at: timing.now, alert, escalated: true } }];
    if (callsForNothing(alert)) return [];
    const isMoreThanTold = known.quietEnd === 'too_few' && !isTooFew(alert);
    if (isMoreThanTold || news) return say('worsened');
    if (isDue(alert, known, facts)) due.add(group);
    return say('reminder');
  });
  return again.filter(({ group, transition }) => transition.kind !== 'reminder' || due.has(group));
}

function isDue(alert: Alert, { at, severity }: Announcement, { repeatIntervalMs, timing }: NotificationFacts): boolean {
  if (alert.acknowledged && !isDisarming(alert)) return false;
  const interval = isDisarming(alert) ? dayMs : repeatIntervalMs[severity];
  return interval !== null && elapsedMs(at, timing.now) >= interval;
}

export function withLinks(alert: Alert, pageUrl: string | null): Alert {
  if (pageUrl === null) return alert;
  const path = pagePath(alert);
  const links = { ...(path && { page_url: `${pageUrl}${path}` }), runbook_url: `${pageUrl}/runbooks#${alert.rule}` };
  return { ...alert, facts: { ...alert.facts, numbers: { ...alert.facts.numbers, ...links } } };
}

/** Adds the tags and the provider that the alert has now: a reload may change them. */
export function withTags(alert: Alert, fleet: KnownFleet): Alert {
  const { account, facts } = alert;
  if (facts.withheld || facts.tags) return alert;
  const { tags, providers } = traitsOf(alert, account, fleet);
  const [provider, ...others] = providers;
  const isOne = provider !== undefined && others.length === 0;
  return { ...alert, facts: { ...facts, ...(tags.length > 0 && { tags }), ...(isOne && { provider }) } };
}

function pagePath(alert: Alert): string | null {
  const { rule, account, mailboxId, object, facts } = alert;
  const seenWith = facts.numbers['seen_with'];
  if (mailboxId !== null) return mailboxPath({ account, id: mailboxId });
  if (rule === 'guard_held') return '/?state=held';
  const ofDomain = object === null || isCause(alert) ? '' : ` @${object}`;
  const words = rule === 'shared_bounces' ? `${account}${ofDomain}` : seenWith && `${account} ${seenWith}`;
  return words ? `/?q=${encodeURIComponent(words)}` : null;
}

export interface Routed {
  readonly transition: Transition;
  readonly to: readonly string[];
}

export interface Telling {
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly at: EpochMs;
  readonly inIncident: boolean;
}

/** Returns null if the alert does not go on. An escalation does not delay the reminder of the others. */
export function announcementOf(
  { transition: { kind, alert, escalated }, to }: Routed,
  { announced, at: now, inIncident }: Telling,
): Announcement | null {
  if (kind === 'resolved' || kind === 'event') return null;
  const { fingerprint, severity } = alert;
  const before = announced.get(fingerprint);
  const at = escalated && before ? before.at : now;
  const channels = [...new Set([...(before?.channels ?? []), ...to])];
  return { fingerprint, at, severity, channels, ...endOf(alert, before, inIncident) };
}
