// What the rules take and what they give: the context, and a condition as one answer shows it.

import {
  type Alert,
  type AlertFacts,
  fingerprintOf,
  type Severity,
  type Subject,
  type Transition,
} from '../core/alert.ts';
import type { AlertRule } from '../core/alert-rules.ts';
import type { MeasuredRoute, RecentBounce, StaleMeasurement } from '../core/answers.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { mailboxPath } from '../core/page-links.ts';
import type { Policy } from '../core/policy.ts';
import { defaultRuleSettings, type RuleSettings } from '../core/rule-settings.ts';
import type { EpochMs } from '../core/time.ts';
import type { Others } from '../core/wording/causes.ts';
import type { WritesOff } from '../core/write-scope.ts';

/** What one answer, or the time, says about one subject. */
export interface Condition {
  readonly subject: Subject;
  readonly severity: Severity;
  /** unknown: nothing was learned; it neither fires nor resolves nor counts. */
  readonly active: boolean | 'unknown';
  /**
   * unknown, but it still shows the trouble: it counted already, or another reason keeps Warmwarden from acting. The words of the
   * alert follow it, or only those of the alerts that this picks.
   */
  readonly stillShown?: boolean | ((alert: Alert) => boolean);
  /** How long it must hold before it fires; 0 fires at once. */
  readonly forMs: number;
  /** Consecutive observations that it takes to fire: 1 or 2. */
  readonly observations: number;
  /** Consecutive observations against it that it takes to resolve. */
  readonly clearObservations: number;
  /**
   * It got clearly worse than its firing alert says, at the same severity: people are notified again; at_once: however
   * short ago they were notified last.
   */
  readonly worse?: boolean | 'at_once';
  /** Since when it holds, where that is known better than "since now". */
  readonly since?: EpochMs;
  /** See `wordedLater`. */
  readonly facts: AlertFacts;
}

/** A condition without its words. Rules that need `since` or `worse` have their words at hand. */
type Wordless = Omit<Condition, 'facts' | 'since' | 'worse'>;

/**
 * A condition whose words are made when they are read: most never are, and every answer asks ten rules. A class, because a getter
 * in a literal takes longer than most rules. A copy made with `...` lacks `facts`: add it by name.
 */
export function wordedLater(condition: Wordless, facts: () => AlertFacts): Condition {
  return new WordedLater(condition, facts);
}

class WordedLater implements Condition {
  readonly subject: Subject;
  readonly severity: Severity;
  readonly active: Condition['active'];
  readonly stillShown: NonNullable<Condition['stillShown']>;
  readonly forMs: number;
  readonly observations: number;
  readonly clearObservations: number;
  readonly #facts: () => AlertFacts;

  constructor(
    { subject, severity, active, stillShown = false, forMs, observations, clearObservations }: Wordless,
    facts: () => AlertFacts,
  ) {
    this.subject = subject;
    this.severity = severity;
    this.active = active;
    this.stillShown = stillShown;
    this.forMs = forMs;
    this.observations = observations;
    this.clearObservations = clearObservations;
    this.#facts = facts;
  }

  get facts(): AlertFacts {
    return this.#facts();
  }
}

/** Fires with the first observation, and resolves with the first against it. */
export const atOnce = { forMs: 0, observations: 1, clearObservations: 1 } as const;

/** What a rule needs besides the mailbox. */
export interface MailboxContext {
  readonly now: EpochMs;
  readonly policy: Policy;
  /** Enforcing, with a key that may write, and writes not switched off. */
  readonly mayWrite: boolean;
  /** The emergency stop that covers the mailbox; null: none does. */
  readonly writesOff: WritesOff | null;
  /** Statistics read before this moment are stale: several polls that were due since brought none. -Infinity: none is yet. */
  readonly staleBefore: EpochMs;
  /** The same of the warm-up. */
  readonly warmupStaleBefore: EpochMs;
  /** When a measurement counts as too old, and since when polls brought no answer at all. */
  readonly staleMeasurement: (route: MeasuredRoute) => StaleMeasurement;
  /** The mailbox as it was before the answer; null where none was taken in. */
  readonly before: MailboxState | null;
  /** The words for a warm-up that runs or is paused, in lower case. */
  readonly usualWords: readonly string[];
  readonly rules: RuleSettings;
  /** The other mailboxes of the account: what they show of the same domain or ip. */
  readonly neighbours: () => readonly MailboxState[];
  /** Base of the links to the page; null when there is no page. */
  readonly pageUrl: string | null;
  /** The words that start this program, for the commands in messages. */
  readonly command: string;
  /** Those who share a domain or a provider with it; walks the fleet. */
  readonly others: (mailbox: MailboxState) => readonly Others[];
}

/** The address of a mailbox's page as a number of a message; nothing where there is no page. */
export function pageLink(pageUrl: string | null, account: string, mailboxId: string): AlertFacts['numbers'] {
  if (pageUrl === null) return {};
  return { page_url: `${pageUrl}${mailboxPath({ account, id: mailboxId })}` };
}

/** Identity for an account as a whole; `cause` is null for a rule with one cause. */
export function accountSubject(rule: AlertRule, account: string, cause: string | null = null): Subject {
  return { rule, account, mailboxId: null, email: null, object: cause };
}

/** Identity of guard_blind for an account whose counts are missing or contradicted. It replaces the alerts of its mailboxes. */
export function missingCountsSubject(account: string): Subject {
  return accountSubject('guard_blind', account, 'counts');
}

/** Identity for one mailbox; `cause` is null for a rule with one cause. */
export function subjectOf(rule: AlertRule, mailbox: MailboxState, cause: string | null = null): Subject {
  return { rule, account: mailbox.account, mailboxId: mailbox.id, email: mailbox.email, object: cause };
}

/** Something that happened once: its alert is never kept among the current ones. */
export function eventOf(
  subject: Subject,
  what: { readonly severity: Severity; readonly since: EpochMs; readonly now: EpochMs; readonly facts: AlertFacts },
): Transition {
  const { severity, since, now, facts } = what;
  const times = { since, firingAt: now, resolvedAt: null, firesAt: null, seen: 0 };
  const fingerprint = fingerprintOf(subject);
  return { kind: 'event', at: now, alert: { ...subject, fingerprint, severity, status: 'firing', ...times, facts } };
}

// How the kinds of recent bounces grade a message: what bounced for good is graver than a full mailbox. No decision rests on it.

/** The API documents no words for the kinds of bounces: these are the usual ones for an address or a sender that is refused for good. */
const forGood = /(^|[^a-z])(hard|block|blocked|permanent)([^a-z]|$)/;

/** Why a message is graver than usual. */
export const graverText = 'All recent bounces were hard or blocks, so this alert is critical.';

/** A warning about bounces that are all hard, or blocked, is critical; too few to act on stay what they are. */
export function gradedBy(mailbox: MailboxState, { minBounces }: Policy, severity: Severity): Severity {
  const bounces = mailbox.warmup?.answer.recentBounces ?? [];
  const grave = bounces.length >= Math.max(2, minBounces) && bounces.every(isForGood);
  return grave && severity === 'warning' ? 'critical' : severity;
}

function isForGood({ type, category }: RecentBounce): boolean {
  return forGood.test((type ?? category ?? '').toLowerCase());
}

// What the operator set over the rules: severity, `for`, and whether a rule is announced at all. Pure.

/** The conditions as the settings want them. A rule that is off holds nowhere: what fires of it ends. */
export function tune(conditions: readonly Condition[], settings: RuleSettings): readonly Condition[] {
  return conditions.map((condition) => {
    const { rule } = condition.subject;
    const { enabled, severity, forMs } = settings.of[rule];
    if (!enabled) return switchedOff(condition);
    // A condition that is severer than its rule (a major blacklist) stays so.
    const usual = condition.severity === defaultRuleSettings.of[rule].severity;
    // A condition that waits less than its rule keeps its shorter wait (guard_blind after a second observation).
    const byDefault = defaultRuleSettings.of[rule].forMs;
    const waits = forMs === byDefault ? Math.min(condition.forMs, forMs) : forMs;
    const tuned = { severity: usual ? severity : condition.severity, forMs: waits };
    // As it is, nothing puts it in words before somebody reads them.
    if (tuned.severity === condition.severity && waits === condition.forMs) return condition;
    return { ...condition, ...tuned, facts: condition.facts };
  });
}

function switchedOff(condition: Condition): Condition {
  const { rule } = condition.subject;
  const { title, numbers } = condition.facts;
  const sentences = [`The rule ${rule} is off in the configuration (alerts.rules).`];
  return { ...condition, active: false, clearObservations: 1, facts: { title, sentences, numbers } };
}
