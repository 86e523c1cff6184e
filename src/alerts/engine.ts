// Turns conditions into alerts: pending, firing, resolved. Pure: the caller keeps the alerts and records the
// transitions.

import {
  type Alert,
  type AlertChanges,
  type AlertFacts,
  type Announcement,
  fingerprintOf,
  severities,
  type Transition,
  type Unstable,
} from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import type { StoredTransition } from '../core/delivery.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../core/time.ts';
import type { Condition } from './condition.ts';
import type { Routed } from './notifications.ts';
import { endAsTold } from './quiet-ends.ts';

interface Collected {
  readonly changed: Alert[];
  readonly dropped: string[];
  readonly transitions: Transition[];
}

/**
 * Time that an unstable alert must be calm before it ends. An alert that fires again within this time of its end is
 * unstable.
 */
const calmMs = 30 * minuteMs;
type Step = 'firing' | 'worsened' | 'resolved';

/**
 * Applies conditions to the current alerts; each call may have only one condition per subject. `current` returns the
 * pending or firing alert of a fingerprint.
 */
export function step(
  conditions: readonly Condition[],
  current: (fingerprint: string) => Alert | undefined,
  now: EpochMs,
  endedLately: FindEnded = () => undefined,
): AlertChanges {
  const out: Collected = { changed: [], dropped: [], transitions: [] };
  for (const condition of conditions) {
    if (condition.active === 'unknown' && !condition.stillShown) continue;
    const alert = live(current(fingerprintOf(condition.subject)));
    if (condition.active === 'unknown') reword(out, condition, alert);
    else if (condition.active) speaksFor(out, condition, alert, { now, endedLately });
    else if (alert) speaksAgainst(out, condition, alert, now);
  }
  return out;
}

/**
 * Fires pending alerts that are due, and ends unstable ones that were calm long enough. If a pending alert began in the
 * future, the clock was set back: the alert then begins now instead of waiting for the clock to catch up.
 */
export function elapse(alerts: Iterable<Alert>, now: EpochMs, endedLately: FindEnded = () => undefined): AlertChanges {
  const out: Collected = { changed: [], dropped: [], transitions: [] };
  for (const alert of alerts) {
    const { calm = null } = alert.unstable ?? {};
    if (alert.status === 'firing' && calm && isCalm(calm, now))
      resolve(out, { ...alert, facts: calmFacts(calm.facts) }, now);
    if (alert.status !== 'pending' || alert.firesAt === null) continue;
    if (alert.since > now) out.changed.push({ ...alert, since: now, firesAt: now + alert.firesAt - alert.since });
    else if (alert.firesAt <= now) tell(out, 'firing', begun(alert, { now, endedLately }), now);
  }
  return out;
}

const mailboxLeft = 'The mailbox is no longer on the account, so Warmwarden no longer watches it.';

/** Ends alerts whose subject is gone. An announced alert is resolved, with the reason as its first sentence. */
export function leave(alerts: Iterable<Alert>, now: EpochMs, why = mailboxLeft): AlertChanges {
  const out: Collected = { changed: [], dropped: [], transitions: [] };
  for (const alert of alerts) {
    if (alert.status === 'pending') out.dropped.push(alert.fingerprint);
    if (alert.status !== 'firing') continue;
    const sentences = [why, ...alert.facts.sentences];
    resolve(out, { ...alert, facts: { ...alert.facts, sentences } }, now);
  }
  return out;
}

/**
 * Moves alerts to another account. A pending alert keeps its wait, and people who were notified of a firing alert are
 * not notified again. Receivers that track state get an end under the old name and a beginning under the new one.
 */
export function moveTo(account: string, alerts: Iterable<Alert>, now: EpochMs): AlertChanges {
  const out: Collected = { changed: [], dropped: [], transitions: [] };
  for (const alert of alerts) {
    const { fingerprint: movedFrom } = alert;
    const moved = { ...alert, account, fingerprint: fingerprintOf({ ...alert, account }) };
    if (alert.status === 'pending') out.dropped.push(movedFrom);
    else {
      const ended: Alert = { ...alert, status: 'resolved', resolvedAt: now, seen: 0 };
      out.changed.push(ended);
      out.transitions.push({ kind: 'resolved', at: now, alert: ended, foretold: true });
      out.transitions.push({ kind: 'firing', at: now, alert: moved, movedFrom });
    }
    out.changed.push(moved);
  }
  return out;
}

/** Returns the alert, or undefined if it is resolved: the next occurrence is a new alert. */
function live(alert: Alert | undefined): Alert | undefined {
  return alert?.status === 'resolved' ? undefined : alert;
}

function speaksFor(
  out: Collected,
  condition: Condition,
  alert: Alert | undefined,
  { now, endedLately }: { readonly now: EpochMs; readonly endedLately: FindEnded },
): void {
  if (alert?.status === 'firing') {
    refresh(out, condition, alert, now);
    return;
  }
  const since = Math.min(alert?.since ?? condition.since ?? now, now);
  const seen = (alert?.seen ?? 0) + 1;
  const seenEnough = seen >= condition.observations;
  const firesAt = since + condition.forMs;
  const next: Alert = {
    ...condition.subject,
    fingerprint: fingerprintOf(condition.subject),
    severity: condition.severity,
    status: 'pending',
    since,
    firingAt: null,
    resolvedAt: null,
    firesAt: seenEnough ? firesAt : null,
    seen,
    facts: condition.facts,
  };
  if (!seenEnough || firesAt > now) out.changed.push(next);
  else tell(out, 'firing', begun(next, { now, endedLately }), now, condition);
}

/** Returns the ended alert of a fingerprint, or undefined if none ended recently. */
type FindEnded = (fingerprint: string) => Alert | undefined;

/** Fires a pending alert that is due. It is unstable if it ended recently and its rule may come and go. */
function begun(alert: Alert, { now, endedLately }: { readonly now: EpochMs; readonly endedLately: FindEnded }): Alert {
  const firing = { ...alert, status: 'firing', firingAt: now, firesAt: null, seen: 0 } as const;
  const last = ruleBook[alert.rule].comesAndGoes ? endedLately(alert.fingerprint) : undefined;
  if (!last || elapsedMs(last.resolvedAt ?? now, now) >= calmMs) return firing;
  const unstable = { times: (last.unstable?.times ?? 1) + 1, calm: null };
  return { ...firing, facts: factsIn(alert.facts, unstable), unstable };
}

/**
 * Updates a firing alert. Later words only change what is shown, and restart the count against the alert. People are
 * notified again only if it became more severe or clearly worse.
 */
function refresh(out: Collected, condition: Condition, alert: Alert, now: EpochMs): void {
  const { severity } = condition;
  const severer = severities.indexOf(severity) < severities.indexOf(alert.severity);
  const isBack = alert.unstable !== undefined && alert.unstable.calm !== null;
  const unstable = isBack ? { times: (alert.unstable?.times ?? 0) + 1, calm: null } : alert.unstable;
  const facts = factsIn(condition.facts, unstable);
  const next = { ...alert, severity, seen: 0, facts, ...(unstable && { unstable }) };
  if (severer || condition.worse) {
    tell(out, 'worsened', next, now, condition);
    return;
  }
  const same = !isBack && alert.seen === 0 && alert.severity === severity && sameFacts(alert.facts, facts);
  if (!same) out.changed.push(next);
}

/**
 * Updates the words of an alert whose trouble was seen again. The observation does not count, but it may concern one
 * more mailbox or have another reason by now.
 */
function reword(out: Collected, condition: Condition, alert: Alert | undefined): void {
  const { stillShown } = condition;
  // The words are made only if there is an alert.
  if (!alert || (typeof stillShown === 'function' && !stillShown(alert))) return;
  const facts = factsIn(condition.facts, alert.unstable);
  const { numbers } = alert.facts;
  if (!sameFacts(alert.facts, { ...facts, numbers })) out.changed.push({ ...alert, facts });
}

function speaksAgainst(out: Collected, condition: Condition, alert: Alert, now: EpochMs): void {
  if (alert.status === 'pending') {
    out.dropped.push(alert.fingerprint);
    return;
  }
  if (alert.unstable) {
    calms(out, condition, alert, now);
    return;
  }
  const seen = alert.seen + 1;
  if (seen < condition.clearObservations) out.changed.push({ ...alert, seen });
  else resolve(out, { ...alert, facts: condition.facts }, now);
}

/** Shows an unstable alert with its newest facts while its condition is over, and ends it after 30 minutes of calm. */
function calms(out: Collected, { facts }: Condition, alert: Alert, now: EpochMs): void {
  const { times, calm } = alert.unstable ?? { times: 1, calm: null };
  if (!calm) {
    const unstable = { times, calm: { since: now, facts } };
    out.changed.push({ ...alert, seen: 0, facts: factsIn(facts, unstable), unstable });
  } else if (isCalm(calm, now)) resolve(out, { ...alert, facts: calmFacts(facts) }, now);
}

function isCalm({ since }: NonNullable<Unstable['calm']>, now: EpochMs): boolean {
  return elapsedMs(since, now) >= calmMs;
}

/** Returns the facts of an alert, with a sentence about its coming and going if it is unstable. */
function factsIn(facts: AlertFacts, unstable: Unstable | undefined): AlertFacts {
  if (!unstable) return facts;
  const much = `It comes and goes: it has come ${unstable.times} times since it was calm last. You get no message about it until it has been calm for 30 minutes.`;
  return { ...facts, title: `${facts.title} (unstable)`, sentences: [...facts.sentences, much] };
}

function calmFacts(facts: AlertFacts): AlertFacts {
  return { ...facts, sentences: [...facts.sentences, 'It has been calm for 30 minutes.'] };
}

function resolve(out: Collected, alert: Alert, now: EpochMs): void {
  tell(out, 'resolved', { ...alert, status: 'resolved', resolvedAt: now, seen: 0 }, now);
}

function tell(out: Collected, kind: Step, alert: Alert, at: EpochMs, condition?: Condition): void {
  out.changed.push(alert);
  out.transitions.push({ kind, at, alert, ...(condition?.worse === 'at_once' && { urgent: true }) });
}

/** Numbers that grow by themselves. A difference in these alone does not justify a write. */
const growing = new Set(['data_age_seconds']);

function sameFacts(one: AlertFacts, other: AlertFacts): boolean {
  if (one.title !== other.title || one.sentences.length !== other.sentences.length) return false;
  if (one.sentences.some((text, index) => text !== other.sentences[index])) return false;
  const names = new Set([...Object.keys(one.numbers), ...Object.keys(other.numbers)]);
  return [...names].every((name) => growing.has(name) || one.numbers[name] === other.numbers[name]);
}

// Finds steps that receivers that track state get at once, while people wait for the message of the group: an alert
// ended, or fires again after its end. Pure.

interface EarlyFacts {
  /** Transitions in the order of their ids. */
  readonly unnotified: readonly StoredTransition[];
  /** Ids of the transitions that are announced now. */
  readonly due: ReadonlySet<number>;
  /** Announcements that people have received, by fingerprint. */
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly muted: (alert: Alert) => boolean;
  /** Names of channels whose receivers track state. */
  readonly keepers: readonly string[];
}

/** Step for some channels, with the announcement after it. */
export interface EarlyStep extends Routed {
  readonly announcement: Announcement;
}

export function earlySteps({ unnotified, due, announced, muted, keepers }: EarlyFacts): readonly EarlyStep[] {
  const latest = new Map<string, Transition>();
  if (keepers.length === 0) return [];
  for (const { id, transition } of unnotified) {
    if (!due.has(id)) latest.set(transition.alert.fingerprint, transition);
  }
  const steps: EarlyStep[] = [];
  for (const transition of latest.values()) {
    const known = announced.get(transition.alert.fingerprint);
    if (!known || known.onlyInIncident) continue;
    const { closed = [], ...rest } = known;
    if (transition.kind === 'resolved') {
      const to = (known.channels ?? []).filter((name) => keepers.includes(name) && !closed.includes(name));
      if (to.length > 0)
        steps.push({
          transition: endAsTold(transition, known),
          to,
          announcement: { ...rest, closed: [...closed, ...to] },
        });
    } else if (closed.length > 0 && !muted(transition.alert))
      steps.push({ transition: { ...transition, kind: 'firing' }, to: closed, announcement: rest });
  }
  return steps;
}
