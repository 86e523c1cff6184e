// Turns conditions into alerts: pending, firing, resolved. Pure.

import {
  type Alert,
  type AlertChanges,
  type AlertFacts,
  type Announcement,
  fingerprintOf,
  type Transition,
  type Unstable,
} from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import type { StoredTransition } from '../core/delivery.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../core/time.ts';
import type { Condition } from './condition.ts';
import { endAsTold, severer } from './grouping.ts';
import type { Routed } from './notifications.ts';

interface AlertLook {
  readonly changes: { readonly changed: Alert[]; readonly dropped: string[]; readonly transitions: Transition[] };
  readonly now: EpochMs;
  readonly endedLately: FindEnded;
}

type FindEnded = (fingerprint: string) => Alert | undefined;

function lookAt(now: EpochMs, endedLately: FindEnded = () => undefined): AlertLook {
  return { changes: { changed: [], dropped: [], transitions: [] }, now, endedLately };
}

/** Calm before an unstable alert ends. An alert that fires again within this time of its end is unstable. */
const calmMs = 30 * minuteMs;

/** Applies conditions, at most one per subject. `current` returns the pending or firing alert of a fingerprint. */
export function step(
  conditions: readonly Condition[],
  current: (fingerprint: string) => Alert | undefined,
  now: EpochMs,
  endedLately?: FindEnded,
): AlertChanges {
  const look = lookAt(now, endedLately);
  for (const condition of conditions) {
    if (condition.active === 'unknown' && !condition.stillShown) continue;
    const known = current(fingerprintOf(condition.subject));
    const alert = known?.status === 'resolved' ? undefined : known;
    if (condition.active === 'unknown') reword(look, condition, alert);
    else if (condition.active) speaksFor(look, condition, alert);
    else if (alert) speaksAgainst(look, condition, alert);
  }
  return look.changes;
}

/** Fires due alerts, and ends calm unstable ones. After the clock was set back, a pending alert begins now. */
export function elapse(alerts: Iterable<Alert>, now: EpochMs, endedLately?: FindEnded): AlertChanges {
  const look = lookAt(now, endedLately);
  for (const alert of alerts) {
    const { calm = null } = alert.unstable ?? {};
    if (alert.status === 'firing' && calm && isCalm(calm, now))
      resolve(look, { ...alert, facts: calmFacts(calm.facts) });
    if (alert.status !== 'pending' || alert.firesAt === null) continue;
    if (alert.since > now)
      look.changes.changed.push({ ...alert, since: now, firesAt: now + alert.firesAt - alert.since });
    else if (alert.firesAt <= now) tell(look, 'firing', begun(look, alert));
  }
  return look.changes;
}

const mailboxLeft = 'The mailbox is no longer on the account, so Warmwarden no longer watches it.';

/** Ends alerts whose subject is gone. An announced alert is resolved, with the reason as its first sentence. */
export function leave(alerts: Iterable<Alert>, now: EpochMs, why = mailboxLeft): AlertChanges {
  const look = lookAt(now);
  for (const alert of alerts) {
    const facts = { ...alert.facts, sentences: [why, ...alert.facts.sentences] };
    if (alert.status === 'pending') look.changes.dropped.push(alert.fingerprint);
    if (alert.status === 'firing') resolve(look, { ...alert, facts });
  }
  return look.changes;
}

/** People are not notified of the move. Receivers that track state get an end and a beginning. */
export function moveTo(account: string, alerts: Iterable<Alert>, now: EpochMs): AlertChanges {
  const look = lookAt(now);
  for (const alert of alerts) {
    const { fingerprint: movedFrom } = alert;
    const moved = { ...alert, account, fingerprint: fingerprintOf({ ...alert, account }) };
    if (alert.status === 'pending') look.changes.dropped.push(movedFrom);
    else {
      const ended: Alert = { ...alert, status: 'resolved', resolvedAt: now, seen: 0 };
      look.changes.changed.push(ended);
      look.changes.transitions.push({ kind: 'resolved', at: now, alert: ended, foretold: true });
      look.changes.transitions.push({ kind: 'firing', at: now, alert: moved, movedFrom });
    }
    look.changes.changed.push(moved);
  }
  return look.changes;
}

function speaksFor(look: AlertLook, condition: Condition, alert: Alert | undefined): void {
  if (alert?.status === 'firing') {
    refresh(look, condition, alert);
    return;
  }
  const { now } = look;
  const since = Math.min(alert?.since ?? condition.since ?? now, now);
  const seen = (alert?.seen ?? 0) + 1;
  const firesAt = seen >= condition.observations ? since + condition.forMs : null;
  const next: Alert = {
    ...condition.subject,
    fingerprint: fingerprintOf(condition.subject),
    severity: condition.severity,
    status: 'pending',
    since,
    firingAt: null,
    resolvedAt: null,
    firesAt,
    seen,
    facts: condition.facts,
  };
  if (firesAt === null || firesAt > now) look.changes.changed.push(next);
  else tell(look, 'firing', begun(look, next), condition);
}

/** Fires a pending alert that is due. It is unstable if it ended recently and its rule may come and go. */
function begun({ now, endedLately }: AlertLook, alert: Alert): Alert {
  const firing = { ...alert, status: 'firing', firingAt: now, firesAt: null, seen: 0 } as const;
  const last = ruleBook[alert.rule].comesAndGoes ? endedLately(alert.fingerprint) : undefined;
  if (!last || elapsedMs(last.resolvedAt ?? now, now) >= calmMs) return firing;
  const unstable = { times: (last.unstable?.times ?? 1) + 1, calm: null };
  return { ...firing, facts: factsIn(alert.facts, unstable), unstable };
}

/**
 * Later words restart the count against the alert. People are notified only if it is more severe or clearly worse, which
 * ends an acknowledgement.
 */
function refresh(look: AlertLook, condition: Condition, { acknowledged, ...alert }: Alert): void {
  const { severity } = condition;
  const isBack = alert.unstable !== undefined && alert.unstable.calm !== null;
  const unstable = isBack ? { times: (alert.unstable?.times ?? 0) + 1, calm: null } : alert.unstable;
  const facts = factsIn(condition.facts, unstable);
  const next = { ...alert, severity, seen: 0, facts, ...(unstable && { unstable }) };
  const stays = acknowledged && { acknowledged };
  const same = !isBack && alert.seen === 0 && alert.severity === severity && sameFacts(alert.facts, facts);
  if (severer(severity, alert.severity) || condition.worse) tell(look, 'worsened', next, condition);
  else if (!same) look.changes.changed.push({ ...next, ...stays });
}

/** Updates the words without counting the observation: it may concern one more mailbox or have another reason. */
function reword({ changes }: AlertLook, condition: Condition, alert: Alert | undefined): void {
  const { stillShown } = condition;
  // The words are made only if there is an alert.
  if (!alert || (typeof stillShown === 'function' && !stillShown(alert))) return;
  const facts = factsIn(condition.facts, alert.unstable);
  const { numbers } = alert.facts;
  if (!sameFacts(alert.facts, { ...facts, numbers })) changes.changed.push({ ...alert, facts });
}

function speaksAgainst(look: AlertLook, condition: Condition, alert: Alert): void {
  if (alert.status === 'pending') look.changes.dropped.push(alert.fingerprint);
  else if (alert.unstable) calms(look, condition, alert);
  else if (alert.seen + 1 < condition.clearObservations) look.changes.changed.push({ ...alert, seen: alert.seen + 1 });
  else resolve(look, { ...alert, facts: condition.facts });
}

/** Shows an unstable alert with its newest facts, and ends it after `calmMs` of calm. */
function calms(look: AlertLook, { facts }: Condition, alert: Alert): void {
  const { times, calm } = alert.unstable ?? { times: 1, calm: null };
  if (!calm) {
    const unstable = { times, calm: { since: look.now, facts } };
    look.changes.changed.push({ ...alert, seen: 0, facts: factsIn(facts, unstable), unstable });
  } else if (isCalm(calm, look.now)) resolve(look, { ...alert, facts: calmFacts(facts) });
}

function isCalm({ since }: NonNullable<Unstable['calm']>, now: EpochMs): boolean {
  return elapsedMs(since, now) >= calmMs;
}

function factsIn(facts: AlertFacts, unstable: Unstable | undefined): AlertFacts {
  if (!unstable) return facts;
  const much = `It comes and goes: it has come ${unstable.times} times since it was calm last. You get no message about it until it has been calm for 30 minutes.`;
  return { ...facts, title: `${facts.title} (unstable)`, sentences: [...facts.sentences, much] };
}

function calmFacts(facts: AlertFacts): AlertFacts {
  return { ...facts, sentences: [...facts.sentences, 'It has been calm for 30 minutes.'] };
}

function resolve(look: AlertLook, alert: Alert): void {
  tell(look, 'resolved', { ...alert, status: 'resolved', resolvedAt: look.now, seen: 0 });
}

function tell(look: AlertLook, kind: 'firing' | 'worsened' | 'resolved', alert: Alert, condition?: Condition): void {
  look.changes.changed.push(alert);
  look.changes.transitions.push({ kind, at: look.now, alert, ...(condition?.worse === 'at_once' && { urgent: true }) });
}

/** Numbers that grow by themselves: a difference in these alone justifies no write. */
const growing = new Set(['data_age_seconds']);

function sameFacts(one: AlertFacts, other: AlertFacts): boolean {
  if (one.title !== other.title || one.sentences.length !== other.sentences.length) return false;
  if (one.sentences.some((text, index) => text !== other.sentences[index])) return false;
  const names = new Set([...Object.keys(one.numbers), ...Object.keys(other.numbers)]);
  return [...names].every((name) => growing.has(name) || one.numbers[name] === other.numbers[name]);
}

// Steps that receivers that track state get at once, while people wait for the message of the group. Pure.

interface EarlyFacts {
  readonly unnotified: readonly StoredTransition[];
  readonly due: ReadonlySet<number>;
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly muted: (alert: Alert) => boolean;
  readonly keepers: readonly string[];
}

export interface EarlyStep extends Routed {
  readonly announcement: Announcement;
}

export function earlySteps({ unnotified, due, announced, muted, keepers }: EarlyFacts): readonly EarlyStep[] {
  if (keepers.length === 0) return [];
  const waiting = unnotified.filter(({ id }) => !due.has(id)).map(({ transition }) => transition);
  const latest = new Map(waiting.map((transition) => [transition.alert.fingerprint, transition]));
  return [...latest.values()].flatMap((transition): readonly EarlyStep[] => {
    const known = announced.get(transition.alert.fingerprint);
    if (!known || known.onlyInIncident) return [];
    const { closed = [], ...rest } = known;
    if (transition.kind !== 'resolved') {
      const isBack = closed.length > 0 && !muted(transition.alert);
      return isBack ? [{ transition: { ...transition, kind: 'firing' }, to: closed, announcement: rest }] : [];
    }
    const to = (known.channels ?? []).filter((name) => keepers.includes(name) && !closed.includes(name));
    const announcement = { ...rest, closed: [...closed, ...to] };
    return to.length > 0 ? [{ transition: endAsTold(transition, known), to, announcement }] : [];
  });
}
