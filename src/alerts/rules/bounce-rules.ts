// Rules that read the verdict: over the limit and not acted on, near the limit, and unable to judge.
import type { Alert } from '../../core/alert.ts';
import type { Severity } from '../../core/alert-rules.ts';
import type { Route } from '../../core/answers.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { isBlind, isIdle, lacksCounts, type Reason, type Verdict } from '../../core/verdict.ts';
import { bounceKinds, causeSentences } from '../../core/wording/causes.ts';
import {
  countsReadText,
  explainVerdict,
  firstVerdictText,
  rateText,
  verdictNumbers,
} from '../../core/wording/explain.ts';
import { bouncesText, datesText, percentText } from '../../core/wording/phrases.ts';
import { scopeText, stopText, writesOnCommand } from '../../core/write-scope.ts';
import {
  type Condition,
  condition,
  type MailboxContext,
  type RulesAfter,
  subjectOf,
  type Words,
} from '../condition.ts';
import { isTooFew } from '../grouping.ts';
import { contestAdvice } from './mailbox-rules.ts';

const judged = [guardBlind, bounceOverLimit, bounceNearLimit, bounceBurst];
export const bounceRules: RulesAfter = { stats: judged, warmup: judged };

/** Share of its threshold below which a near-limit alert ends: 80% becomes 70%. */
const nearLimitClearShare = 7 / 8;

/** Reasons of verdicts that end before the guard learns whether it could have judged. */
const silentReasons: readonly Reason[] = ['stale_data', 'no_data'];

function isUnjudged({ reason }: Verdict): boolean {
  return isBlind(reason) || silentReasons.includes(reason);
}

/** An emergency in an unknown mode does not show whether the guard can judge. */
function guardBlind(mailbox: MailboxState, context: MailboxContext, answered: Route | 'time'): Condition {
  const verdict = mailbox.verdict?.answer;
  // Late bounces of earlier emails can outnumber the emails after the evidence restarted.
  const isLate = verdict?.reason === 'implausible_counts' && verdict.windowDays < context.policy.windowDays;
  // A single such answer may be a mistake. The second one fires the alert, however soon it comes.
  const atSecond = verdict !== undefined && lacksCounts(verdict.reason);
  const isOldNews = atSecond && answered !== 'stats';
  const isSilent = verdict !== undefined && (silentReasons.includes(verdict.reason) || verdict.reason === 'emergency');
  return condition(subjectOf('guard_blind', mailbox), {
    active: !verdict || isLate || isOldNews || isSilent ? 'unknown' : isBlind(verdict.reason),
    stillShown: verdict !== undefined && isUnjudged(verdict),
    ...(atSecond && { forMs: 0 }),
    observations: atSecond ? 2 : 1,
    firing: () => [
      `${mailbox.email} is NOT GUARDED: its bounces cannot be judged`,
      ...(verdict ? blindSentences(verdict, mailbox) : []),
    ],
    ended: () => [`${mailbox.email}: bounces can be judged again`, ...explained(mailbox, context)],
    numbers: () => numbersOf(mailbox),
  });
}

function blindSentences(verdict: Verdict, { warmup }: MailboxState): readonly string[] {
  const word = warmup?.answer.status ?? null;
  if (verdict.reason === 'word_against_counts')
    return [
      `The status says ${word}, but it sends and bounces.`,
      rateText(verdict),
      'Warmwarden does not act on these bounces.',
      'If the warm-up runs, pause it in the warm-up service, or correct api.status_words.',
    ];
  const advice: Partial<Record<Reason, string>> = {
    unknown_status: unknownWordAdvice(word),
    unknown_mode: 'Set one of the modes slow, balanced, aggressive or recovery in the warm-up service.',
    no_evidence: 'Find out what keeps changing the mode or the status of the mailbox.',
  };
  return [
    explainVerdict(verdict),
    'It is guarded again once its bounces can be judged.',
    advice[verdict.reason] ??
      'Check in the warm-up service what the mailbox really sends. If it does send, ask its support.',
  ];
}

/** Fires for a breach without an action. What other rules report begins no alert, but a firing one names it. */
function bounceOverLimit(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const hindrance = verdict ? hindranceOf(verdict, context) : null;
  const waits = verdict !== undefined && (reportedElsewhere.includes(verdict.reason) || isUnjudged(verdict));
  return condition(subjectOf('bounce_over_limit', mailbox), {
    severity: overLimitSeverity(verdict),
    active: overLimitActive(verdict, hindrance, context),
    // An alert of too few bounces keeps its words: the rule about the wait notifies people when there is more to know.
    stillShown: waits && ((alert: Alert) => !isTooFew(alert)),
    firing: (): Words => {
      if (!verdict || (hindrance === null && !waits))
        return [
          `${mailbox.email}: bounces over the limit, ${verdict?.foundUntil ? 'found so in recovery mode' : 'too few to act on'}`,
          ...explained(mailbox, context),
          ...bounceKinds(mailbox),
          'You get a message if Warmwarden acts or this gets worse, and none if it ends by itself.',
        ];
      const [title, why, todo] = hindrance
        ? [notActed, hindrance, adviceText(verdict, mailbox, context)]
        : waitingOf(verdict, mailbox);
      return [
        `${mailbox.email}: ${title}`,
        wantsAction(verdict) && rateText(verdict),
        `NO ACTION TAKEN: ${why}`,
        ...causeSentences(mailbox, verdict, context.rules.timeZone),
        countsRead(mailbox, context),
        todo,
      ];
    },
    ended: () => [`${mailbox.email}: ${overLimitEnd(verdict)}`, ...explained(mailbox, context)],
    numbers: () => numbersOf(mailbox),
  });
}

/** Warmwarden later acts on half of the mailboxes with too few bounces in recovery mode, else on one in ten. */
function overLimitSeverity(verdict: Verdict | undefined): Severity {
  if (verdict?.reason !== 'insufficient_evidence') return 'critical';
  return verdict.mode === 'recovery' ? 'warning' : 'info';
}

function overLimitActive(
  verdict: Verdict | undefined,
  hindrance: string | null,
  context: MailboxContext,
): Condition['active'] {
  if (!verdict) return 'unknown';
  if (hindrance !== null || verdict.reason === 'insufficient_evidence') return true;
  if (reportedElsewhere.includes(verdict.reason)) return 'unknown';
  // Another rule reports the action itself. This rule only reports that Warmwarden may act again.
  if (wantsAction(verdict)) return context.mayWrite ? false : 'unknown';
  return isUnjudged(verdict) ? 'unknown' : false;
}

/** Reasons of a wanted action that waits and that other rules report. */
const reportedElsewhere: readonly Reason[] = ['first_sight', 'circuit_breaker', 'contested', 'word_against_counts'];

function wantsAction(verdict: Verdict): boolean {
  return verdict.wanted === 'recovery' || verdict.wanted === 'pause';
}

const notActed = 'bounces over the limit, NO ACTION TAKEN';

/** Returns why a wanted action is not taken, or null if it is taken, waits (see waitingOf), or none is wanted. */
function hindranceOf(verdict: Verdict, context: MailboxContext): string | null {
  if (!wantsAction(verdict) || reportedElsewhere.includes(verdict.reason)) return null;
  if (verdict.reason === 'unknown_status') return 'the status of the warm-up is neither running nor paused.';
  if (!context.policy.enforce) return 'enforcement is off (guard.enforce).';
  if (context.writesOff) return stopText(context.writesOff);
  if (!context.mayWrite) return 'the API key is read-only.';
  return verdict.action === 'none' ? 'the configuration asks for an alert only (on_breach).' : null;
}

/** Returns the title, the reason why Warmwarden waits although it may act, and the advice. */
function waitingOf(verdict: Verdict, mailbox: MailboxState): readonly [title: string, why: string, todo: string] {
  switch (verdict.reason) {
    case 'circuit_breaker':
      return [
        notActed,
        'too many mailboxes exceeded their bounce limits at once, so the circuit breaker is holding the action.',
        'Look at the whole fleet. Real bounces: `warmwarden breaker apply`. Wrong data: `warmwarden breaker discard`.',
      ];
    case 'contested':
      return [
        notActed,
        "somebody reversed Warmwarden's changes twice within a day, so it does not act on this mailbox for now.",
        contestAdvice(mailbox),
      ];
    case 'first_sight':
      return [notActed, firstVerdictText, 'Set the mode to recovery in the warm-up service, or wait for that answer.'];
    default:
      return [
        'bounces were over the limit, and cannot be judged now',
        explainVerdict(verdict),
        'Check the mailbox in the warm-up service. This alert ends when Warmwarden acts, or reads that the bounces are under the limit.',
      ];
  }
}

function adviceText(
  { reason, wanted }: Verdict,
  { warmup }: MailboxState,
  { policy, writesOff }: MailboxContext,
): string {
  if (reason === 'unknown_status') return unknownWordAdvice(warmup?.answer.status ?? null);
  const change = wanted === 'pause' ? 'Pause the warm-up' : 'Set the mode to recovery';
  if (!policy.enforce || writesOff === null) return `${change} in the warm-up service, or allow Warmwarden to act.`;
  const { scope } = writesOff;
  const who = scope.kind === 'everything' ? 'ALL accounts' : scopeText(scope);
  return `${change} in the warm-up service, or allow changes again, for ${who}: \`${writesOnCommand(scope)}\`.`;
}

function unknownWordAdvice(word: string | null): string {
  return word === null
    ? 'The API shows no status. Check the warm-up in the warm-up service, and pause it there if the bounces are real.'
    : `The status is "${word}". Say in api.status_words whether that word means running or paused, or pause the warm-up in the warm-up service.`;
}

function overLimitEnd(verdict: Verdict | undefined): string {
  if (verdict?.foundUntil) return 'found in recovery mode with bounces over the limit';
  if (verdict && isIdle(verdict.reason)) return 'the warm-up is no longer running';
  return verdict && wantsAction(verdict) ? 'Warmwarden acts on its bounces again' : 'bounces are under the limit again';
}

/** Other rules report a breach. */
function bounceNearLimit(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const endPpm = context.policy.nearLimitPpm * nearLimitClearShare;
  const end =
    verdict?.reason === 'ok'
      ? `bounce rate below ${percentText(endPpm)} of the limit again`
      : 'the warm-up is no longer running';
  return condition(subjectOf('bounce_near_limit', mailbox), {
    active: nearLimitActive(verdict, context),
    firing: () => [`${mailbox.email}: bounces near the limit`, ...explained(mailbox, context)],
    ended: () => [`${mailbox.email}: ${end}`, ...explained(mailbox, context)],
    numbers: () => ({ ...numbersOf(mailbox), bounces_until_breach: verdict?.bouncesUntilBreach ?? null }),
  });
}

function nearLimitActive(verdict: Verdict | undefined, context: MailboxContext): Condition['active'] {
  if (!verdict) return 'unknown';
  if (isIdle(verdict.reason)) return false;
  if (verdict.reason !== 'ok' || verdict.limitPpm === null) return 'unknown';
  const from = verdict.limitPpm * context.policy.nearLimitPpm;
  const share = verdict.bounced * 1e12;
  if (share < from * nearLimitClearShare * verdict.sent || verdict.bounced === 0) return false;
  return share >= from * verdict.sent && verdict.bounced >= context.policy.minBounces ? true : 'unknown';
}

/** Bounces of the newest days that the whole window still hides. */
export function bounceBurst(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const burst = verdict?.burst ?? null;
  return condition(subjectOf('bounce_burst', mailbox), {
    active: burstActive(verdict),
    firing: () => [
      `${mailbox.email}: a burst of bounces`,
      ...(verdict && burst ? burstSentences(verdict, burst) : []),
      countsRead(mailbox, context),
      ...bounceKinds(mailbox),
      burst && `Check what the mailbox has sent since ${datesText(burst.from, burst.from)}.`,
    ],
    ended: () => [`${mailbox.email}: the burst of bounces is over`, ...explained(mailbox, context)],
    numbers: () => ({
      ...numbersOf(mailbox),
      burst_bounced: burst?.bounced ?? null,
      burst_sent: burst?.sent ?? null,
      burst_from: burst?.from ?? null,
    }),
  });
}

function burstActive(verdict: Verdict | undefined): Condition['active'] {
  if (!verdict) return 'unknown';
  if (isIdle(verdict.reason)) return false;
  return isUnjudged(verdict) || wantsAction(verdict) ? 'unknown' : Boolean(verdict.burst);
}

function burstSentences(verdict: Verdict, burst: NonNullable<Verdict['burst']>): readonly string[] {
  const { sent, bounced, from } = burst;
  return [
    `${bouncesText(burst)} since ${datesText(from, from)}: ${percentText((bounced * 1e6) / sent)}, over the limit of ${percentText(verdict.limitPpm ?? 0)}.`,
    `Counting all days, it is not a breach, so Warmwarden does not act. ${explainVerdict(verdict)}`,
  ];
}

function explained(mailbox: MailboxState, context: MailboxContext): readonly string[] {
  const verdict = mailbox.verdict?.answer;
  return verdict ? [explainVerdict(verdict), countsRead(mailbox, context)] : [];
}

function countsRead({ verdict }: MailboxState, { rules }: MailboxContext): string {
  return verdict ? countsReadText(verdict.answer, verdict.at, rules.timeZone) : '';
}

function numbersOf({ verdict }: MailboxState): Condition['facts']['numbers'] {
  return verdict ? verdictNumbers(verdict.answer) : {};
}
