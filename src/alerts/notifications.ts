// What people are notified of now: of the transitions without a notification, what is news; of what goes on, what is to be
// said again. Pure; silences and inhibition come in as `muted`.
import { type Alert, type Announcement, accountsOf, type Severity, type Transition } from '../core/alert.ts';
import type { StoredTransition } from '../core/delivery.ts';
import { dayMs, type EpochMs, elapsedMs } from '../core/time.ts';
import { dueGroups, type GroupTiming, groupOf, mayNotifyFrom } from './grouping.ts';
import { callsForNothing, endAsTold, endOf, isMoreThanTold } from './quiet-ends.ts';
import { isDisarming } from './rules/protection-rule.ts';

export interface NotificationFacts {
  /** In the order of their ids. */
  readonly unnotified: readonly StoredTransition[];
  /** What people know, by fingerprint. */
  readonly announced: ReadonlyMap<string, Announcement>;
  /** Every alert that fires now, taken before the transitions without a notification were: what is in it has been recorded. */
  readonly firing: readonly Alert[];
  /** Silenced, or explained by another alert. The end of what was announced is announced all the same. */
  readonly muted: (alert: Alert) => boolean;
  /** Whether a channel wants an alert now. */
  readonly wanted: (alert: Alert) => boolean;
  /** Of an alert that people know: whether a channel wants it by now that was not notified of it. */
  readonly joined: (alert: Alert) => boolean;
  /** null: no reminders. */
  readonly repeatIntervalMs: Readonly<Record<Severity, number | null>>;
  readonly timing: GroupTiming;
}

/** One group's part of a look. */
export interface Notification {
  readonly group: string;
  /** Stored transitions that are settled by it, also those that are no news. */
  readonly ids: readonly number[];
  /** One a fingerprint; may be empty. */
  readonly news: readonly Transition[];
  /** What is news only to channels that were not notified of it when it fired. */
  readonly late: readonly Transition[];
}

/** What to tell now, group by group, and when to look again (null: when something happens). */
export function notificationsOf(facts: NotificationFacts): {
  notifications: readonly Notification[];
  nextDueAt: EpochMs | null;
} {
  const { due, nextDueAt } = dueGroups(facts.unnotified, facts.timing);
  const notifications = new Map<string, Notification>();
  const current = new Map(facts.firing.map((alert) => [alert.fingerprint, alert]));
  for (const { group, unnotified } of due) {
    const news = newsOf(unnotified, facts).map((transition) => withNewestFacts(transition, current));
    notifications.set(group, { group, ids: unnotified.map(({ id }) => id), news, late: [] });
  }
  const of = (group: string) => notifications.get(group) ?? { group, ids: [], news: [], late: [] };
  for (const [group, again] of sayAgain(facts)) {
    notifications.set(group, { ...of(group), news: [...of(group).news, ...again] });
  }
  const lateOnes = lateFor(facts);
  if (lateOnes.length === 0) return { notifications: [...notifications.values()], nextDueAt };
  const withNews = new Set(
    [...notifications.values()].flatMap(({ news }) => news.map(({ alert }) => alert.fingerprint)),
  );
  for (const late of lateOnes) {
    const group = groupOf(late.alert);
    if (!withNews.has(late.alert.fingerprint))
      notifications.set(group, { ...of(group), late: [...of(group).late, late] });
  }
  return { notifications: [...notifications.values()], nextDueAt };
}

/** Fingerprints of the alerts of some transitions. */
function namesOf(stored: readonly StoredTransition[]): ReadonlySet<string> {
  return new Set(stored.map(({ transition }) => transition.alert.fingerprint));
}

/** Of each alert the latest step, if it changes what people know. */
function newsOf(unnotified: readonly StoredTransition[], facts: NotificationFacts): readonly Transition[] {
  const steps = new Map<string, Transition[]>();
  for (const { transition } of unnotified) {
    const { fingerprint } = transition.alert;
    steps.set(fingerprint, [...(steps.get(fingerprint) ?? []), transition]);
  }
  return [...steps.values()].map((ofOne) => newsOfOne(ofOne, facts)).filter((news) => news !== null);
}

function newsOfOne(steps: readonly Transition[], { announced, muted }: NotificationFacts): Transition | null {
  const latest = steps.at(-1);
  if (!latest) return null;
  const known = announced.get(latest.alert.fingerprint);
  if (latest.kind === 'resolved') {
    // What nobody was notified of has no end to be announced either, unless it begins and ends in this very message.
    const begins = steps.some(({ kind, alert }) => kind !== 'resolved' && !muted(alert));
    if (known) return endAsTold(latest, known);
    if (latest.foretold) return null;
    // The beginning of a failing store was announced without the store.
    const isBrief = latest.alert.rule !== 'store_failing';
    return begins ? { ...latest, ...(isBrief && { brief: true }) } : null;
  }
  if (muted(latest.alert)) return null;
  if (latest.kind !== 'firing' && latest.kind !== 'worsened') return latest;
  const worsened = steps.some(({ kind }) => kind === 'worsened');
  if (known && worsened) return { ...latest, kind: 'worsened' };
  // It fires again before every channel got its end: people are notified if it is unstable now, and channels that got the end are notified that it fires.
  if (known && !latest.alert.unstable && !known.closed) return null;
  const moved = steps.some(({ movedFrom }) => movedFrom !== undefined && announced.has(movedFrom));
  return { ...latest, kind: 'firing', ...(moved && !worsened && { foretold: true }) };
}

/** While a message waited for its group its alert may have grown: a list got longer, a count rose. */
function withNewestFacts(transition: Transition, current: ReadonlyMap<string, Alert>): Transition {
  const now = transition.kind === 'resolved' ? undefined : current.get(transition.alert.fingerprint);
  const isSame = now?.firingAt === transition.alert.firingAt;
  // A message about what comes and goes says that it came.
  return now && isSame && !now.unstable?.calm ? { ...transition, alert: now } : transition;
}

/**
 * Reminders, group by group: when one alert's interval is over, all of its group that people know of are named, so
 * that a group is repeated once and not alert by alert. With them goes what was muted when it fired and no longer is, or had no
 * channel and now has one, and what people only know the lesser half of.
 */
function sayAgain(facts: NotificationFacts): ReadonlyMap<string, readonly Transition[]> {
  const { announced, muted, wanted, timing, unnotified } = facts;
  const waiting = namesOf(unnotified);
  const groups = new Map<string, { known: Alert[]; late: Alert[]; worse: Alert[]; due: boolean }>();
  for (const alert of facts.firing) {
    const group = groupOf(alert);
    if (isOfIncident(alert, facts)) continue;
    if (waiting.has(alert.fingerprint) || muted(alert) || mayNotifyFrom(group, timing) > timing.now) continue;
    const of = groups.get(group) ?? { known: [], late: [], worse: [], due: false };
    const known = announced.get(alert.fingerprint);
    const announcement = known?.channels?.length === 0 && wanted(alert) ? undefined : known;
    if (announcement && callsForNothing(alert)) continue;
    const isWorse = isMoreThanTold(alert, announcement);
    (isWorse ? of.worse : announcement ? of.known : of.late).push(alert);
    of.due ||= announcement !== undefined && !isWorse && isDue(alert, announcement, facts);
    groups.set(group, of);
  }
  const transition = (kind: Transition['kind']) => (alert: Alert) => ({ kind, at: timing.now, alert });
  const again = new Map<string, readonly Transition[]>();
  for (const [group, { known, late, worse, due }] of groups) {
    const transitions = [
      ...late.map(transition('firing')),
      ...worse.map(transition('worsened')),
      ...(due ? known : []).map(transition('reminder')),
    ];
    if (transitions.length > 0) again.set(group, transitions);
  }
  return again;
}

/**
 * An alert about several accounts may come to concern one more, with channels of its own: it is new to them, and does not wait
 * for the group, which is about those who know it: neither for its interval, nor for the news that it got worse.
 */
function lateFor(facts: NotificationFacts): readonly Transition[] {
  const { firing, announced, muted, joined, unnotified, timing } = facts;
  const others = unnotified.filter(({ transition }) => transition.kind !== 'worsened');
  const waiting = namesOf(others);
  const isLate = (alert: Alert) =>
    accountsOf(alert).length > 1 &&
    announced.has(alert.fingerprint) &&
    !isOfIncident(alert, facts) &&
    !waiting.has(alert.fingerprint) &&
    !muted(alert) &&
    joined(alert);
  return firing.filter(isLate).map((alert) => ({ kind: 'firing', at: timing.now, alert }));
}

/** What goes on in an incident is said again with it, and only when it gets worse or ends. */
function isOfIncident(alert: Alert, { timing }: NotificationFacts): boolean {
  return timing.incidents.of({ kind: 'reminder', at: timing.now, alert }) !== null;
}

function isDue(alert: Alert, { at, severity }: Announcement, { repeatIntervalMs, timing }: NotificationFacts): boolean {
  const interval = isDisarming(alert) ? dayMs : repeatIntervalMs[severity];
  return interval !== null && elapsedMs(at, timing.now) >= interval;
}

/** Where a person reads what the rule means and what to do. */
export function withRunbook(transition: Transition, pageUrl: string | null): Transition {
  if (pageUrl === null) return transition;
  const { alert } = transition;
  const numbers = { ...alert.facts.numbers, runbook_url: `${pageUrl}/runbooks#${alert.rule}` };
  return { ...transition, alert: { ...alert, facts: { ...alert.facts, numbers } } };
}

/** A transition, and the channels that are to hear of it. */
export interface Routed {
  readonly transition: Transition;
  readonly to: readonly string[];
}

export interface Telling {
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly at: EpochMs;
  /** In a message about an incident. */
  readonly inIncident: boolean;
}

/** What people know after a transition was announced; null for what does not go on. */
export function announcementOf(
  { transition: { kind, alert }, to }: Routed,
  { announced, at, inIncident }: Telling,
): Announcement | null {
  if (kind === 'resolved' || kind === 'event') return null;
  const { fingerprint, severity } = alert;
  const before = announced.get(fingerprint);
  const channels = [...new Set([...(before?.channels ?? []), ...to])];
  return { fingerprint, at, severity, channels, ...endOf(alert, before, inIncident) };
}
