// Alerts of one account after answers, lists, outcomes and the passing of time. The recorder commits the changes.

import { type Condition, type MailboxContext, tune } from '../../alerts/condition.ts';
import { elapse, leave, step } from '../../alerts/engine.ts';
import {
  accountConditions,
  keyReadOnly,
  mailboxListShort,
  mailboxMissing,
  nameUnlisted,
} from '../../alerts/rules/account-rules.ts';
import { actedEvent, actionFailedCondition, isOverdue } from '../../alerts/rules/action-rules.ts';
import { bounceRules } from '../../alerts/rules/bounce-rules.ts';
import { heldSubject } from '../../alerts/rules/breaker-rule.ts';
import { configMatchesNothing, idleSubject } from '../../alerts/rules/daemon-rules.ts';
import { changedByOthersEvent, manyStoppedEvent } from '../../alerts/rules/event-rules.ts';
import { findingRules } from '../../alerts/rules/finding-rules.ts';
import { mailboxRules } from '../../alerts/rules/mailbox-rules.ts';
import { isWarmupStale, knownSince, staleRules } from '../../alerts/rules/stale-rule.ts';
import type { Action } from '../../core/action.ts';
import {
  type Alert,
  type AlertChanges,
  type AlertFacts,
  bothChanges,
  fingerprintOf,
  isToBeSeenAgain,
  noAccount,
  type Subject,
  type Transition,
} from '../../core/alert.ts';
import type { MeasuredRoute, Route } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { BreakerState } from '../../core/guard/breaker.ts';
import type { Change, MailboxState } from '../../core/mailbox.ts';
import { type IdlePattern, idlePatterns } from '../../core/mailbox-pattern.ts';
import type { Policy } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import { heldCondition } from './breakers.ts';
import { asFound, type RecorderOptions, type RecorderRooms } from './guarded-account.ts';
import { isNearOrOver, outsideChanges, stoppedTogether } from './outside-changes.ts';
import { isActive } from './plan.ts';
import { pooledAlerts } from './pooled-alerts.ts';
import { alertsWithout } from './rivals.ts';
import { missedMailboxes, noLongerMissed, type RosterChanges, reportedMissing, unlistedNames } from './roster.ts';

export interface Happening {
  readonly mailbox: MailboxState;
  readonly policy: Policy;
  readonly now: EpochMs;
  /** Route of the answer, or null for the outcome of an action. */
  readonly route: Route | null;
  readonly actions: readonly Action[];
  /** The guard's own action that people are to be notified of. */
  readonly acted: Action | null;
  readonly breaker: BreakerState | null;
  /** Changes by others since the last look, and the mailbox as it was then. */
  readonly outside?: { readonly before: MailboxState; readonly changes: readonly Change[] };
  readonly judged?: boolean;
}

export interface ListFindings {
  /** The breaker without the mailboxes that left, or null if they do not change it. */
  readonly breaker: BreakerState | null;
  /** Patterns of the account that match no mailbox, or null if the list cannot tell. */
  readonly idle: readonly IdlePattern[] | null;
  readonly now: EpochMs;
}

export class AccountAlerts {
  readonly #fleet: Fleet;
  readonly #usualWords: readonly string[];
  readonly #options: RecorderOptions;
  readonly #isRead: (mailboxId: string) => boolean;

  /** `isRead`: returns true if this process has read all answers that a mailbox is judged by. */
  constructor({ fleet }: RecorderRooms, options: RecorderOptions, isRead: (mailboxId: string) => boolean) {
    this.#isRead = isRead;
    this.#fleet = fleet;
    this.#usualWords = [...options.words.running, ...options.words.paused];
    this.#options = options;
  }

  after({ mailbox, policy, now, route, actions, acted, breaker, outside, judged = false }: Happening): AlertChanges {
    const context = this.#context(mailbox, policy, now, outside?.before);
    const newest = actions.at(-1);
    const conditions = [
      ...(route ? this.#newsOf(mailbox, conditionsAfter(route, mailbox, context)) : []),
      ...(newest ? [actionFailedCondition(newest, mailbox.verdict?.answer, context), ...this.#keyShown()] : []),
      ...(newest || !judged ? [] : this.#droppedUnderHold(mailbox, context)),
      ...(breaker ? [this.#held(breaker, policy, now, mailbox)] : []),
    ];
    const event = acted && actedEvent(acted, context);
    const changes = this.#step(conditions, now);
    const others = outside && this.#changedByOthers(mailbox, outside, context);
    const stopped = outside && this.#manyStopped(mailbox, outside.changes, context);
    const events = [event, others, stopped].filter((one) => one !== null && one !== undefined);
    const told = events.map(({ alert, ...event }) => {
      return { ...event, alert: { ...alert, facts: named(alert.facts, alert, this.#fleet) } satisfies Alert };
    });
    const transitions = [...told, ...changes.transitions];
    if (!this.#options.isFirstLook(mailbox.id, route)) return { ...changes, transitions };
    return { ...changes, transitions: transitions.map((one) => asFound(one, { mailbox, acted })) };
  }

  /** A hold drops a failed action without an all-clear: a later verdict resolves its alert. */
  #droppedUnderHold(mailbox: MailboxState, context: MailboxContext): readonly Condition[] {
    const { action } = mailbox;
    if (!this.#fleet.alertsAbout(mailbox).some(({ rule }) => rule === 'guard_action_failed')) return [];
    return action && !isActive(action) ? [actionFailedCondition(action, mailbox.verdict?.answer, context)] : [];
  }

  /** Drops conditions that do not hold if the mailbox has no alerts. Most conditions hold nowhere. */
  #newsOf(mailbox: MailboxState, conditions: readonly Condition[]): readonly Condition[] {
    if (this.#fleet.alertsAbout(mailbox).length > 0) return conditions;
    return conditions.filter(({ active, subject }) => active === true || subject.mailboxId === null);
  }

  /** Stored together with the outcomes of writes, so that a restart finds both or neither. */
  #keyShown(): readonly Condition[] {
    const state = this.#fleet.account(this.#options.account);
    return state ? [keyReadOnly(state)] : [];
  }

  #changedByOthers(
    { memory }: MailboxState,
    { before, changes }: NonNullable<Happening['outside']>,
    context: MailboxContext,
  ): Transition | null {
    const { policy } = context;
    const wasOurPause = before.memory?.claim?.kind === 'pause';
    const outside = outsideChanges(changes, { words: this.#options.words, policy, wasOurPause });
    const forgets = memory?.evidence?.from !== before.memory?.evidence?.from;
    return changedByOthersEvent(outside, { before, nearLimit: isNearOrOver(before, policy), forgets }, context);
  }

  #manyStopped(mailbox: MailboxState, changes: readonly Change[], context: MailboxContext): Transition | null {
    const { words } = this.#options;
    const together = stoppedTogether(mailbox, changes, { words, others: context.neighbours, now: context.now });
    return together && manyStoppedEvent(together.stopped, together.running, context);
  }

  listed(roster: RosterChanges, { breaker, idle, now }: ListFindings): AlertChanges {
    const { arrived, changed, repeated, left, missed, shortage } = roster;
    const { account, selects, expects, policyFor } = this.#options;
    const own = this.#own();
    const { back, forgotten } = missedMailboxes(own, { arrived, selects, expected: expects(), now });
    const [anyone] = left;
    const said = (mailbox: MailboxState) =>
      conditionsAfter('mailboxes', mailbox, this.#context(mailbox, policyFor(mailbox), now));
    // A repeated list entry counts as a second look: its alert need not wait for the polls of other mailboxes.
    const again = repeated.filter((mailbox) => this.#fleet.alertsAbout(mailbox).some(isToBeSeenAgain));
    const saidAgain = again.flatMap((mailbox) => said({ ...mailbox, entry: { ...mailbox.entry, at: now } }));
    const conditions = [
      ...changed.flatMap(said),
      ...saidAgain.filter(({ subject }) => this.#waitsFor(subject)),
      mailboxListShort(account, shortage),
      ...missed.map((mailbox) => mailboxMissing(mailbox, true)),
      ...back.map((mailbox) => mailboxMissing(mailbox, false)),
      ...this.#unlisted(roster, own),
      this.#matchesNothing(account, idle),
      ...this.#idleRoutes(),
      ...(breaker && anyone ? [this.#held(breaker, policyFor(anyone), now)] : []),
    ];
    const parts = [this.#step(conditions, now), leave(this.#without(left), now), leave(forgotten, now, noLongerMissed)];
    const all = parts.reduce(bothChanges);
    return { ...all, transitions: all.transitions.map((one) => this.#asListed(one)) };
  }

  /** Conditions for each configured name. A mailbox that was listed before is reported under its id. */
  #unlisted({ unlisted, missed }: RosterChanges, own: readonly Alert[]): readonly Condition[] {
    if (unlisted === null) return [];
    const { account, expects } = this.#options;
    const fresh = new Set(unlistedNames(unlisted, [...missed, ...reportedMissing(own)]));
    return expects().map((name) => nameUnlisted(account, name, fresh.has(name)));
  }

  #matchesNothing(account: string, idle: readonly IdlePattern[] | null): Condition {
    const alert = this.#fleet.alert(fingerprintOf(idleSubject(account)));
    return configMatchesNothing(account, idle, alert);
  }

  /** Condition of the routes' patterns. They concern every account, so they are judged once all mailboxes are known. */
  #idleRoutes(): readonly Condition[] {
    const { ofRoutes, accounts } = this.#options.patterns();
    const isKnown = (name: string) => this.#fleet.account(name)?.listed === true;
    if (ofRoutes.length === 0) return [this.#matchesNothing(noAccount, [])];
    if (!accounts.every(isKnown)) return [];
    return [this.#matchesNothing(noAccount, idlePatterns(ofRoutes, [...this.#fleet.mailboxes()]))];
  }

  #asListed(transition: Transition): Transition {
    const { mailboxId } = transition.alert;
    const mailbox = mailboxId === null ? undefined : this.#fleet.mailbox(this.#options.account, mailboxId);
    const isFirst = mailbox && this.#options.isFirstLook(mailbox.id, 'mailboxes');
    return isFirst ? asFound(transition, { mailbox, acted: null }) : transition;
  }

  /** Returns the changes that time alone causes: an account that is down, `for` that has passed, and stale data. */
  passed(now: EpochMs): AlertChanges {
    const { account, staleBefore, staleMeasurement, policyFor, seenAgain } = this.#options;
    const unreadSince = (route: MeasuredRoute) => staleMeasurement(route).unreadSince;
    const state = this.#fleet.account(account);
    const { timeZone } = this.#options.rules();
    const conditions: Condition[] = state
      ? [...accountConditions(state, now, timeZone, this.#fleet.sweep(account))]
      : [];
    const warmupStaleBefore = staleBefore('warmup');
    const staleFrom = { stats: staleBefore(), dns: unreadSince('dns'), blacklist: unreadSince('blacklist') };
    const isOld = (mailbox: MailboxState, route: keyof typeof staleFrom) =>
      (route === 'stats' ? knownSince(mailbox) : (mailbox[route]?.at ?? mailbox.firstSeenAt)) < staleFrom[route];
    for (const mailbox of this.#fleet.mailboxesOf(account)) {
      const { action } = mailbox;
      // Before a restarted process has read the mailbox, it has not judged whether it still wants the action.
      if (action && isOverdue(action, now) && (this.#isRead(mailbox.id) || seenAgain()))
        conditions.push(
          actionFailedCondition(action, mailbox.verdict?.answer, this.#context(mailbox, policyFor(mailbox), now)),
        );
      // Most mailboxes are neither stale nor firing, and need no conditions.
      const isUnjudged = isOld(mailbox, 'stats') || isWarmupStale(mailbox, warmupStaleBefore);
      if (!isUnjudged && !isOld(mailbox, 'dns') && !isOld(mailbox, 'blacklist')) continue;
      conditions.push(...conditionsAfter('time', mailbox, this.#context(mailbox, policyFor(mailbox), now)));
    }
    const pooled = pooledAlerts(this.#fleet, { ...this.#options, isRead: this.#isRead }, now);
    conditions.push(...pooled.conditions);
    const changes = bothChanges(this.#step(conditions, now), pooled.ends);
    const moved = new Set([...changes.changed.map(({ fingerprint }) => fingerprint), ...changes.dropped]);
    const untouched = this.#own().filter(({ fingerprint }) => !moved.has(fingerprint));
    // An alert that was pending when the last process ended has to be seen again before its `for` may pass.
    return bothChanges(
      changes,
      elapse(seenAgain() ? untouched : [], now, (fingerprint) => this.#fleet.endedLately(fingerprint)),
    );
  }

  #step(conditions: readonly Condition[], now: EpochMs): AlertChanges {
    const fleet = this.#fleet;
    const current = (fingerprint: string) => this.#fleet.alert(fingerprint);
    // The words stay unmade until somebody reads them: most conditions have no alert.
    const told = tune(conditions, this.#options.rules()).map((one): Condition => {
      const facts = { get: () => named(one.facts, one.subject, fleet) };
      return Object.create(one, { facts });
    });
    return step(told, current, now, (fingerprint) => fleet.endedLately(fingerprint));
  }

  #waitsFor(subject: Subject): boolean {
    const alert = this.#fleet.alert(fingerprintOf(subject));
    return alert !== undefined && isToBeSeenAgain(alert);
  }

  #context(mailbox: MailboxState, policy: Policy, now: EpochMs, before: MailboxState | null = null): MailboxContext {
    const { account, keyWrites, staleBefore, staleMeasurement, rules } = this.#options;
    const writesOff = this.#fleet.writesOffOver(account, mailbox.id, now);
    // A read-only key is tried on each mailbox. Before that, the mailbox may still get its action.
    const isTried = isActive(mailbox.action) && mailbox.action.attempts > 0;
    const mayWrite = policy.enforce && writesOff === null && !(keyWrites() === false && isTried);
    const neighbours = () => [...this.#fleet.mailboxesOf(account)].filter(({ id }) => id !== mailbox.id);
    return {
      now,
      policy,
      mayWrite,
      writesOff,
      staleBefore: staleBefore(),
      warmupStaleBefore: staleBefore('warmup'),
      staleMeasurement,
      before,
      usualWords: this.#usualWords,
      rules: rules(),
      neighbours,
    };
  }

  #held(breaker: BreakerState, policy: Policy, now: EpochMs, judged?: MailboxState): Condition {
    const { api, rules } = this.#options;
    const settings = { api, rules: rules(), windowMs: policy.breaker.windowMs };
    return heldCondition(this.#fleet, breaker, settings, now, judged);
  }

  /** Alerts of the account, and the alert of its API, which any account under that API may change. */
  #own(): readonly Alert[] {
    const { account, api } = this.#options;
    const held = this.#fleet.alert(fingerprintOf(heldSubject(api)));
    return [...this.#fleet.alertsOf(account), ...(held ? [held] : [])];
  }

  /** Alerts that end with mailboxes that left, also of a domain or an IP address without remaining mailboxes. */
  #without(left: readonly MailboxState[]): readonly Alert[] {
    if (left.length === 0) return [];
    const gone = new Set(left.map(({ id }) => id));
    return alertsWithout(this.#own(), gone, this.#fleet.mailboxesOf(this.#options.account));
  }
}

/** Texts about one of two mailboxes with the same address begin with its id as well. */
function named(
  facts: AlertFacts,
  { account, mailboxId: id, email }: Subject,
  fleet: Pick<Fleet, 'nameOf'>,
): AlertFacts {
  if (id === null || email === null || !facts.title.startsWith(`${email}:`)) return facts;
  return { ...facts, title: `${fleet.nameOf({ account, id, email })}${facts.title.slice(email.length)}` };
}

// The rules that an answer about a mailbox, or the passing of time, can change. A file of rules exports its own list.

const ruleLists = [bounceRules, staleRules, mailboxRules, findingRules];

export function conditionsAfter(
  answered: Route | 'time',
  mailbox: MailboxState,
  context: MailboxContext,
): readonly Condition[] {
  return ruleLists.flatMap((rules) => rules[answered] ?? []).map((rule) => rule(mailbox, context, answered));
}
