// Rules that read the verdict: over the limit and not acted on, near the limit, and unable to judge.
import type { Alert, Severity } from '../../core/alert.ts';
import type { Route } from '../../core/answers.ts';
import { type MailboxState, typedName } from '../../core/mailbox.ts';
import { hourMs } from '../../core/time.ts';
import { isBlind, isIdle, lacksCounts, type Reason, type Verdict } from '../../core/verdict.ts';
import { bounceKinds, causeSentences } from '../../core/wording/causes.ts';
import { countsReadText, explainVerdict, rateText, verdictNumbers } from '../../core/wording/explain.ts';
import { allowedText, counted, countedOf, datesText, percentText } from '../../core/wording/phrases.ts';
import { writesAreOff } from '../../core/write-scope.ts';
import {
  atOnce,
  type Condition,
  gradedBy,
  type MailboxContext,
  missingCountsSubject,
  pageLink,
  subjectOf,
  wordedLater,
} from '../condition.ts';
import { isTooFew as isAlertOfTooFew } from '../quiet-ends.ts';

/** Time without a judgement before people are notified. */
const blindForMs = hourMs;
/** Share of its threshold below which a near-limit alert ends: 80 % becomes 70 %. */
const nearLimitClearShare = 7 / 8;

/** Reasons of verdicts that end before the guard learns whether it could have judged. */
const silentReasons: readonly Reason[] = ['stale_data', 'no_data'];

/** Returns true if the verdict does not say whether the bounces are over the limit. */
function isUnjudged(verdict: Verdict | undefined): verdict is Verdict {
  return verdict !== undefined && (isBlind(verdict.reason) || silentReasons.includes(verdict.reason));
}

/** Minimum share and number of an account's running mailboxes for one alert that replaces theirs. */
const wideFrom = { share: 1 / 2, mailboxes: 2 };
/** Share at which the alert of the account ends. */
const wideUntilShare = 1 / 10;

/** guard_blind of an account: the counts of half of its running mailboxes are missing or contradicted. */
export function countsMissing(account: string, mailboxes: Iterable<MailboxState>, fires: boolean): Condition {
  let [running, lacking] = [0, 0];
  for (const mailbox of mailboxes) {
    if (mailbox.verdict?.answer.run !== 'running') continue;
    running += 1;
    if (lacksCounts(mailbox.verdict.answer.reason)) lacking += 1;
  }
  const begins = lacking >= wideFrom.mailboxes && lacking >= running * wideFrom.share;
  const active = begins || (fires && lacking > running * wideUntilShare);
  const shown = countedOf(lacking, running, 'running mailbox', 'running mailboxes');
  return {
    subject: missingCountsSubject(account),
    severity: 'warning',
    active,
    ...atOnce,
    facts: {
      title: active ? `${account}: the counts of ${shown} cannot be judged` : `${account}: bounces can be judged again`,
      sentences: active
        ? [
            `The counts of ${shown} are missing, or contradict themselves or what the API showed before.`,
            'Until the API shows them again, these mailboxes are not guarded: Warmwarden does not act on their bounces.',
            'Look at the statistics in the mailbox app, and ask the provider of the API about them.',
          ]
        : [],
      numbers: { mailboxes: lacking, running },
    },
  };
}

/** guard_blind of a mailbox. An emergency in an unknown mode does not show whether the guard can judge. */
export function guardBlind(answered: Route | 'time', mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const blind = verdict !== undefined && isBlind(verdict.reason);
  // Late bounces of earlier emails can outnumber the emails after the evidence restarted.
  const late = verdict?.reason === 'implausible_counts' && verdict.windowDays < context.policy.windowDays;
  // A single such answer may be a mistake. The second one fires the alert, however soon it comes.
  const atSecond = verdict !== undefined && lacksCounts(verdict.reason);
  const isOldNews = atSecond && answered !== 'stats';
  const isSilent = verdict !== undefined && (silentReasons.includes(verdict.reason) || verdict.reason === 'emergency');
  const unknown = !verdict || late || isOldNews || isSilent;
  return wordedLater(
    {
      subject: subjectOf('guard_blind', mailbox),
      severity: 'warning',
      active: unknown ? 'unknown' : blind,
      stillShown: isUnjudged(verdict),
      forMs: atSecond ? 0 : blindForMs,
      observations: atSecond ? 2 : 1,
      clearObservations: 1,
    },
    () => ({
      title: `${mailbox.email}: ${isUnjudged(verdict) ? 'bounces cannot be judged' : 'bounces can be judged again'}`,
      sentences: isUnjudged(verdict) ? blindSentences(verdict, mailbox) : sentencesOf(mailbox, context),
      numbers: numbersOf(mailbox, context),
    }),
  );
}

function blindSentences(verdict: Verdict, { warmup }: MailboxState): readonly string[] {
  if (verdict.reason === 'word_against_counts')
    return [
      `The status says ${warmup?.answer.status}, but it sends and bounces.`,
      rateText(verdict),
      'Warmwarden does not act on these bounces.',
      'If the warm-up runs, pause it in the mailbox app, or correct api.status_words.',
    ];
  return [
    explainVerdict(verdict),
    'Until its bounces can be judged, the mailbox is not guarded: Warmwarden does not act on them.',
    blindAdvice(verdict, warmup?.answer.status ?? null),
  ];
}

function blindAdvice({ reason }: Verdict, word: string | null): string {
  switch (reason) {
    case 'unknown_status':
      return unknownWordAdvice(word);
    case 'unknown_mode':
      return 'Set one of the modes slow, balanced, aggressive or recovery in the mailbox app.';
    case 'no_evidence':
      return 'Find out what keeps changing the mode or the status of the mailbox.';
    default:
      return 'Check the mailbox in the mailbox app. Warmwarden continues by itself when the data is valid again.';
  }
}

/**
 * bounce_over_limit: a breach without an action, because Warmwarden may not act or the configuration says not to; and,
 * less severe, a rate over the limit with too few bounces to act on. Ends at the limit or below, or when Warmwarden
 * acts. Reasons that other rules report (a hold, data that cannot be judged) begin no alert here, but a firing alert
 * names the current reason.
 */
export function bounceOverLimit(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const hindrance = verdict ? hindranceOf(verdict, mailbox, context) : null;
  const waits = verdict !== undefined && (elsewhere.includes(verdict.reason) || isUnjudged(verdict));
  return wordedLater(
    {
      subject: subjectOf('bounce_over_limit', mailbox),
      severity: gradedBy(mailbox, context.policy, overLimitSeverity(verdict)),
      active: overLimitActive(verdict, hindrance, context),
      // An alert of too few bounces keeps its words: the rule about the wait notifies people when there is more to
      // know.
      stillShown: waits && isNotAlertOfTooFew,
      ...atOnce,
    },
    () => {
      const told = hindrance ?? (waits ? waitingOf(verdict, mailbox, context) : null);
      return {
        title: `${mailbox.email}: ${told ? told.title : overLimitTitle(verdict)}`,
        sentences:
          verdict && told
            ? [
                ...(wantsAction(verdict) ? [rateText(verdict)] : []),
                `NO ACTION TAKEN: ${told.why}`,
                ...causeSentences(mailbox, verdict, context.others(mailbox), context.rules.timeZone),
                ...countsRead(mailbox, context),
                told.todo,
              ]
            : [
                ...sentencesOf(mailbox, context),
                ...(verdict && isTooFew(verdict) ? [...bounceKinds(mailbox), endsQuietly] : []),
              ],
        numbers: numbersOf(mailbox, context),
      };
    },
  );
}

const isNotAlertOfTooFew = (alert: Alert) => !isAlertOfTooFew(alert);

const endsQuietly =
  'You get another message when Warmwarden acts or when this gets worse, and none when it ends by itself.';

/**
 * Returns the severity. Warmwarden later acts on every second mailbox with too few bounces in recovery mode, and on one
 * in ten elsewhere.
 */
function overLimitSeverity(verdict: Verdict | undefined): Severity {
  if (!verdict || !isTooFew(verdict)) return 'critical';
  return verdict.mode === 'recovery' ? 'warning' : 'info';
}

/** Returns true if the rate is over the limit with too few bounces to act on. */
function isTooFew({ reason }: Verdict): boolean {
  return reason === 'insufficient_evidence';
}

function overLimitActive(
  verdict: Verdict | undefined,
  hindrance: NotActed | null,
  context: MailboxContext,
): Condition['active'] {
  if (!verdict) return 'unknown';
  if (hindrance || isTooFew(verdict)) return true;
  if (elsewhere.includes(verdict.reason)) return 'unknown';
  // Another rule reports the action itself. This rule only reports that Warmwarden may act again.
  if (wantsAction(verdict)) return context.mayWrite ? false : 'unknown';
  return isUnjudged(verdict) ? 'unknown' : false;
}

/** Reasons of a wanted action that waits and that other rules report. */
const elsewhere: readonly Reason[] = ['first_sight', 'circuit_breaker', 'contested', 'word_against_counts'];

function wantsAction(verdict: Verdict): boolean {
  return verdict.wanted === 'recovery' || verdict.wanted === 'pause';
}

/** Sentence about why no action is taken, and advice for a person. */
interface NotActed {
  readonly title: string;
  readonly why: string;
  readonly todo: string;
}

const notActed = 'bounces over the limit, NO ACTION TAKEN';

/** Returns advice about an unlisted status word. */
function unknownWordAdvice(word: string | null): string {
  return word === null
    ? 'The API shows no status. Check the warm-up in the mailbox app, and pause it there if the bounces are real.'
    : `The status is "${word}". Say in api.status_words whether that word means running or paused, or pause the warm-up in the mailbox app.`;
}

/**
 * Returns the reason why a wanted action is not taken, or null if it is taken, waits (see waitingOf), or none is
 * wanted.
 */
function hindranceOf(verdict: Verdict, { warmup }: MailboxState, context: MailboxContext): NotActed | null {
  // Held and contested actions have rules of their own.
  if (!wantsAction(verdict) || elsewhere.includes(verdict.reason)) return null;
  const why = hindranceText(verdict, context);
  if (why === null) return null;
  const isUnknown = verdict.reason === 'unknown_status';
  const todo = isUnknown ? unknownWordAdvice(warmup?.answer.status ?? null) : adviceText(verdict);
  return { title: notActed, why, todo };
}

function hindranceText(verdict: Verdict, context: MailboxContext): string | null {
  if (verdict.reason === 'unknown_status') return 'the status of the warm-up is neither running nor paused.';
  if (!context.policy.enforce) return 'enforcement is off (guard.enforce).';
  if (context.writesOff) return writesAreOff(context.writesOff, context.command);
  if (!context.mayWrite) return 'the API key may not write.';
  return verdict.action === 'none' ? 'the configuration asks for an alert only (on_breach).' : null;
}

/**
 * Returns the reason why Warmwarden waits although it may act. The verdict's reason is one of `elsewhere`, which other
 * rules report, or unjudged.
 */
function waitingOf(verdict: Verdict, mailbox: MailboxState, { command }: MailboxContext): NotActed {
  switch (verdict.reason) {
    case 'circuit_breaker':
      return {
        title: notActed,
        why: 'too many mailboxes exceeded their bounce limits at once, so the circuit breaker is holding the action.',
        todo: `Look at the whole fleet. If the bounces are real, carry out the held actions: \`${command} breaker release\`.`,
      };
    case 'contested':
      return {
        title: notActed,
        why: "somebody reversed Warmwarden's changes twice within a day, so it does not act on this mailbox for now.",
        todo: `Find out which person or tool changes it. Then let Warmwarden act again: \`${command} contest release ${typedName(mailbox)}\`.`,
      };
    case 'first_sight':
      return {
        title: notActed,
        why: 'Warmwarden had not seen this mailbox before, so it acts only when the next fresh answer shows the breach again.',
        todo: adviceText(verdict),
      };
    default:
      return {
        title: 'bounces were over the limit, and cannot be judged now',
        why: explainVerdict(verdict),
        todo: 'Check the mailbox in the mailbox app. This alert ends when Warmwarden acts, or reads that the bounces are under the limit.',
      };
  }
}

function adviceText(verdict: Verdict): string {
  return verdict.wanted === 'pause'
    ? 'Pause the warm-up in the mailbox app, or allow Warmwarden to act.'
    : 'Set the mode to recovery in the mailbox app, or allow Warmwarden to act.';
}

/** Returns the title if nothing hinders Warmwarden. */
function overLimitTitle(verdict: Verdict | undefined): string {
  if (verdict?.foundUntil) return 'found in recovery mode with bounces over the limit';
  if (verdict && isTooFew(verdict)) return 'bounces over the limit, too few to act on';
  if (verdict && isIdle(verdict.reason)) return 'the warm-up is no longer running';
  return verdict && wantsAction(verdict) ? 'Warmwarden acts on its bounces again' : 'bounces are under the limit again';
}

/** bounce_near_limit, with hysteresis. Other rules report a breach. */
export function bounceNearLimit(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const active = nearLimitActive(verdict, context);
  return wordedLater(
    {
      subject: subjectOf('bounce_near_limit', mailbox),
      severity: 'info',
      active,
      ...atOnce,
    },
    () => ({
      title:
        active === true
          ? `${mailbox.email}: bounces near the limit`
          : `${mailbox.email}: ${farTitle(verdict, context)}`,
      sentences: sentencesOf(mailbox, context),
      numbers: { ...numbersOf(mailbox, context), bounces_until_breach: verdict?.bouncesUntilBreach ?? null },
    }),
  );
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

function farTitle(verdict: Verdict | undefined, context: MailboxContext): string {
  if (verdict?.reason !== 'ok') return 'the warm-up is no longer running';
  return `bounce rate below ${percentText(context.policy.nearLimitPpm * nearLimitClearShare)} of the limit again`;
}

/** bounce_burst: bounces of the newest days that the whole window still hides. Other rules report a breach. */
export function bounceBurst(mailbox: MailboxState, context: MailboxContext): Condition {
  const verdict = mailbox.verdict?.answer;
  const burst = verdict?.burst ?? null;
  return wordedLater(
    {
      subject: subjectOf('bounce_burst', mailbox),
      severity: gradedBy(mailbox, context.policy, context.rules.of.bounce_burst.severity),
      active: burstActive(verdict),
      ...atOnce,
    },
    () => ({
      title: `${mailbox.email}: ${burst ? 'a burst of bounces' : 'the burst of bounces is over'}`,
      sentences:
        verdict && burst
          ? burstSentences(verdict, burst, [...countsRead(mailbox, context), ...bounceKinds(mailbox)])
          : sentencesOf(mailbox, context),
      numbers: {
        ...numbersOf(mailbox, context),
        burst_bounced: burst?.bounced ?? null,
        burst_sent: burst?.sent ?? null,
        burst_from: burst?.from ?? null,
      },
    }),
  );
}

function burstActive(verdict: Verdict | undefined): Condition['active'] {
  if (!verdict) return 'unknown';
  if (isIdle(verdict.reason)) return false;
  const unjudged = isBlind(verdict.reason) || silentReasons.includes(verdict.reason);
  if (unjudged || wantsAction(verdict)) return 'unknown';
  return Boolean(verdict.burst);
}

function burstSentences(
  verdict: Verdict,
  { sent, bounced, from }: NonNullable<Verdict['burst']>,
  read: readonly string[],
): readonly string[] {
  const counts = `${counted(bounced, 'bounce')} in ${counted(sent, 'email')} since ${datesText(from, from)}`;
  const allowed = allowedText((verdict.limitPpm ?? 0) * sent);
  return [
    `${counts}; the bounce limit allows ${allowed}.`,
    `The whole window is not a breach: ${explainVerdict(verdict)}`,
    ...read,
    'Check what the mailbox has sent since then. To have Warmwarden act on bursts, set `guard: {burst: act}`.',
  ];
}

function sentencesOf(mailbox: MailboxState, context: MailboxContext): readonly string[] {
  const verdict = mailbox.verdict?.answer;
  return verdict ? [explainVerdict(verdict), ...countsRead(mailbox, context)] : [];
}

function countsRead({ verdict }: MailboxState, { rules }: MailboxContext): readonly string[] {
  return verdict ? [countsReadText(verdict.answer, verdict.at, rules.timeZone)] : [];
}

/** Returns the numbers of a mailbox's verdict, with the link to its page. */
function numbersOf(mailbox: MailboxState, context: MailboxContext): Condition['facts']['numbers'] {
  const verdict = mailbox.verdict?.answer;
  const link = pageLink(context.pageUrl, mailbox.account, mailbox.id);
  return { ...(verdict ? verdictNumbers(verdict) : {}), ...link };
}
