// Verdicts and actions in sentences, for alerts, the page and `decide`.
import { type Action, settingsText } from '../action.ts';
import type { Acknowledgement, AlertFacts } from '../alert.ts';
import { typedName } from '../mailbox.ts';
import { isWarmupMode, percent, ratePpm } from '../policy.ts';
import { type EpochMs, utcDate } from '../time.ts';
import type { Reason, Verdict, VerdictAction } from '../verdict.ts';
import {
  bouncesText,
  capital,
  counted,
  datesText,
  momentText,
  onDatesText,
  percentText,
  spanText,
  timeText,
} from './phrases.ts';

/** Plain text in English; times in UTC. */
export function explainVerdict(verdict: Verdict): string {
  const { reason, warnings } = verdict;
  const text = reasonTexts[reason];
  const said = typeof text === 'string' ? text : text(verdict);
  const isUnusual = warnings.length > 0 && reason !== 'contradicting_counts';
  return isUnusual ? `${said} Unusual data: ${warnings.join('; ')}.` : said;
}

export const firstVerdictText =
  'Warmwarden judges this mailbox for the first time, so it acts only when the next fresh answer shows the breach again.';

const withRate = (text: string) => (verdict: Verdict) => `${rateText(verdict)} ${text}`;

const reasonTexts: Readonly<Record<Reason, string | ((verdict: Verdict) => string)>> = {
  ok: okText,
  insufficient_evidence: insufficientText,
  already_paused: 'The warm-up is already paused, so there is nothing to decide.',
  not_running: 'The warm-up is not running, so there is nothing to decide.',
  no_warmup:
    'The mailbox is listed, but the API knows neither a warm-up nor statistics of it (404), so there is nothing to guard.',
  no_data: 'The API shows no daily statistics of this mailbox, so the bounce rate is unknown.',
  bad_payload:
    'Warmwarden cannot read the statistics that the API sent, so it decides nothing until a readable answer arrives.',
  stale_data: ({ windowTo }) => {
    const newest = windowTo ? ` (they end on ${datesText(windowTo, windowTo)})` : '';
    return `The newest statistics are too old${newest}, so they say nothing about the present.`;
  },
  emergency: (verdict) => `${rateText(verdict)} This is an emergency in any mode.`,
  unknown_mode: ({ mode }) =>
    `The warm-up mode ${mode === null ? '(none)' : `"${mode}"`} is unknown, so there is no limit to compare the bounce rate with.`,
  unknown_status: unknownStatusText,
  invalid_row:
    'A row has no readable date, or a day of the window no readable count, so the bounce rate cannot be trusted.',
  implausible_counts: (verdict) =>
    `${countsText(verdict)}. More emails bounced than were sent, so the counts cannot be trusted.`,
  contradicting_counts: contradictionText,
  missing_counts: missingText,
  no_evidence:
    'The mailbox has sent on two days or more, but none of these emails count, so its bounces cannot be judged.',
  word_against_counts: (verdict) =>
    `${rateText(verdict)} The status says that the warm-up is ${verdict.run === 'paused' ? 'paused' : 'not running'}, but it sends and bounces.`,
  bounce_rate_over_limit: rateText,
  repeat_offender: withRate('Warmwarden has acted on this mailbox before, and it breached again.'),
  first_sight: withRate(firstVerdictText),
  circuit_breaker: withRate(
    'Too many mailboxes exceeded their bounce limits at once, so the circuit breaker is holding the action.',
  ),
  contested: withRate(
    "Somebody reversed Warmwarden's changes twice within a day, so Warmwarden does not act on this mailbox for now.",
  ),
  clean_volume: cleanText,
};

/** `4 bounces in 260 emails from 14 to 20 March: 1.54%, over the balanced limit of 1%.` */
export function rateText(verdict: Verdict): string {
  if (verdict.emergency) return emergencyText(verdict.emergency);
  const rate = ratePpm(verdict);
  const { limitPpm, mode } = verdict;
  if (rate === null || limitPpm === null) return `${countsText(verdict)}.`;
  const side = rate > limitPpm ? 'over' : 'within';
  const limit = `${isWarmupMode(mode) ? `${mode} ` : ''}limit of ${percentText(limitPpm)}`;
  return `${countsText(verdict)}: ${percentText(rate, limitPpm)}, ${side} the ${limit}.`;
}

function countsText(verdict: Verdict): string {
  const { windowFrom, windowTo } = verdict;
  return capital(bouncesText(verdict) + (windowFrom && windowTo ? ` ${onDatesText(windowFrom, windowTo)}` : ''));
}

/** `8 bounces in 26 emails: 30.77%`, for lists. Empty without counts. */
export function countsAndRate(verdict: Verdict | undefined): string {
  const counts = verdict?.emergency ?? verdict;
  const rate = counts && ratePpm(counts);
  if (!counts || rate === null || rate === undefined) return '';
  return `${bouncesText(counts)}: ${percentText(rate, verdict?.limitPpm)}`;
}

function okText(verdict: Verdict): string {
  const progress = progressText(verdict);
  const back = progress && ` ${progress}`;
  if (verdict.windowDays === 0)
    return `${verdict.restore ? 'Warmwarden switched it to recovery mode' : 'The mode was changed or the warm-up was resumed'}, so its bounce rate starts from zero the day after that (UTC). Until then, Warmwarden acts only if new bounces are an emergency.${back}`;
  if (verdict.sent === 0) return `No emails have been sent yet on the days that count toward the bounce limit.${back}`;
  const left = verdict.bouncesUntilBreach;
  return left === null || left === 0
    ? `${rateText(verdict)}${back}`
    : `${rateText(verdict)} ${counted(left, 'more bounce')} would breach it.${back}`;
}

/** Empty unless Warmwarden will restore the mode. */
export function progressText({ restore }: Verdict): string {
  if (!restore) return '';
  const { mode, cleanDays, neededDays, cleanMails, neededMails } = restore;
  const days = Math.max(0, neededDays - cleanDays);
  const more = days === 0 ? '' : ` and ${counted(days, 'more clean day')}`;
  return `The mailbox goes back to ${mode} after ${counted(neededMails, 'clean email')} (${cleanMails} so far)${more}.`;
}

export function cleanText({ restore }: Verdict): string {
  if (!restore) return 'The mailbox is clean again.';
  const { mode, cleanDays, cleanMails } = restore;
  return `${capital(counted(cleanMails, 'email'))} in ${counted(cleanDays, 'day')} without a bounce, so the mailbox goes back to ${mode}.`;
}

function insufficientText(verdict: Verdict): string {
  const left = Math.max(1, verdict.bouncesUntilBreach ?? 1);
  if (verdict.foundUntil) {
    const date = utcDate(verdict.foundUntil);
    return `${rateText(verdict)} When Warmwarden found the mailbox, it was already in recovery mode and over its bounce limit, so earlier bounces do not count. Until ${datesText(date, date)}, ${counted(left, 'more bounce')} would be a breach.`;
  }
  return `${rateText(verdict)} That is too few bounces to act on: ${counted(left, 'more bounce')} would be a breach.`;
}

function unknownStatusText(verdict: Verdict): string {
  const lead = verdict.sent > 0 && verdict.limitPpm !== null ? `${rateText(verdict)} ` : '';
  const rest = 'the status of the warm-up is neither running nor paused, so Warmwarden changes nothing.';
  return lead + capital(wouldTexts[verdict.wanted] + rest);
}

const wouldTexts: Readonly<Record<VerdictAction, string>> = {
  recovery: 'Warmwarden would switch it to recovery mode, but ',
  pause: 'Warmwarden would pause the warm-up, but ',
  restore: 'Warmwarden would restore the earlier mode, but ',
  none: '',
  hold: '',
};

const readings = {
  second_row: 'with the second row of a day',
  bounce_rate: "by the API's own bounce rates",
  delivered: 'by the emails that were delivered',
} as const;

function contradictionText(verdict: Verdict): string {
  const { doubt } = verdict;
  if (!doubt || doubt.by === 'earlier_answer') return `${countsText(verdict)}.`;
  return `${countsText(verdict)}, but ${readings[doubt.by]} it would be ${bouncesText(doubt)}. One of the two is wrong.`;
}

function missingText({ doubt, windowTo, sent }: Verdict): string {
  if (doubt?.by === 'earlier_answer')
    return `The API counted ${counted(doubt.sent, 'email')} ${onDatesText(doubt.from, doubt.to)}, and now it shows ${sent === 0 ? 'none' : `only ${sent}`} of them, so the bounces are unknown.`;
  return windowTo === null
    ? 'The warm-up runs, but the API shows no daily statistics, so the bounce rate is unknown.'
    : 'The warm-up runs, but the API counts no email on any day, so the bounce rate is unknown.';
}

function emergencyText(counts: NonNullable<Verdict['emergency']>): string {
  const share = ratePpm(counts);
  const tail = share === null ? '' : `: ${percentText(share)}`;
  const again = counts.again ? 'counting started again on ' : '';
  return `${capital(bouncesText(counts))} since ${again}${datesText(counts.from, counts.from)}${tail}.`;
}

/** Gives a time of day, because an age would be wrong when the sentence is read hours later. */
export function countsReadText(verdict: Verdict, judgedAt: EpochMs, zone: string): string {
  return `Based on counts read on ${momentText(judgedAt - verdict.dataAgeMs, zone)}.`;
}

/** Numbers for machines: shares in percent, ages in seconds. */
export function verdictNumbers(verdict: Verdict): AlertFacts['numbers'] {
  const counts = verdict.emergency ?? verdict;
  const rate = ratePpm(counts);
  return {
    sent: counts.sent,
    bounced: counts.bounced,
    rate_percent: rate === null ? null : Number(percent(rate).toFixed(maxRateDigits)),
    limit_percent: verdict.limitPpm === null ? null : percent(verdict.limitPpm),
    window_from: verdict.emergency?.from ?? verdict.windowFrom,
    window_to: verdict.windowTo,
    mode: verdict.mode,
    reason: verdict.reason,
    data_age_seconds: Math.round(verdict.dataAgeMs / 1_000),
  };
}

const maxRateDigits = 4;

/** `Warmwarden paused the warm-up at 10:02 UTC, confirmed after 0.4 s.` */
export function actionText(action: Action, now: EpochMs, zone: string): string {
  const openedAt = action.openedAt ?? action.plannedAt;
  const span = spanText((action.settledAt ?? now) - openedAt);
  const { done, noun } = namesOf(action);
  const tries = action.attempts > 1 ? ` (${action.attempts} tries)` : '';
  const detail = action.detail ? ` ${sentence(action.detail)}` : '';
  switch (action.state) {
    case 'confirmed':
      return `${done} at ${timeText(openedAt, zone)}, confirmed ${span === '0 s' ? 'at once' : `after ${span}`}${tries}.`;
    case 'refused':
      return `NO ACTION TAKEN: the API refused ${noun} at ${timeText(action.settledAt ?? now, zone)}${tries}.${detail}`;
    case 'unconfirmed':
      return `Warmwarden sent ${noun} at ${timeText(openedAt, zone)}, but could not read it back within ${span}${tries}.${detail}`;
    case 'dropped':
      return `Warmwarden dropped ${noun} at ${timeText(action.settledAt ?? now, zone)}.${detail}`;
    default:
      return `${capital(noun)} has been in progress since ${timeText(openedAt, zone)}.`;
  }
}

export function actionNoun(action: Action): string {
  return namesOf(action).noun;
}

function namesOf({ kind, targetMode, targetLimit, targetSettings, by }: Action): {
  readonly done: string;
  readonly noun: string;
} {
  if (targetSettings !== undefined) {
    const settings = settingsText(targetSettings);
    const who = by?.name ?? 'Warmwarden';
    return { done: `${who} set ${settings}`, noun: `the change to ${settings} that ${who} requested` };
  }
  if (targetLimit !== undefined) {
    const limit = `limit of ${counted(targetLimit, 'email')} a day`;
    const who = by?.name ?? 'Warmwarden';
    return { done: `${capital(limit)} set by ${who}`, noun: `the ${limit} that ${who} requested` };
  }
  const mode = targetMode === null ? '' : ` to ${targetMode} mode`;
  const [noun, done] = mode ? ['switch', 'switched'] : kind === 'pause' ? ['pause', 'paused'] : ['resume', 'resumed'];
  if (by)
    return { done: `${capital(done)}${mode} by ${by.name}`, noun: `the ${noun}${mode} that ${by.name} requested` };
  if (mode) return { done: `Warmwarden ${done} it${mode}`, noun: `the ${noun}${mode}` };
  return { done: `Warmwarden ${done} the warm-up`, noun: `the ${noun} of the warm-up` };
}

export function undoText(action: Action): string {
  if (action.state === 'refused') return '';
  const { account, email, mailboxId, before } = action;
  const name = typedName({ account, id: mailboxId, email });
  if (action.kind === 'pause') {
    return `Once its campaigns have clean recipient lists, resume the warm-up: \`warmwarden resume ${name}\`, or in the warm-up service.`;
  }
  return `To undo this: \`warmwarden mode ${name} ${before.mode ?? 'MODE'}\`, or in the warm-up service.`;
}

export const undoEarlier =
  'Wrong data, also: `warmwarden undo --since 2h` undoes the last 2 hours of actions on ALL accounts.';

/** A pause stops only the warm-up: a person must stop the campaign emails. */
export const campaignsUntouched = 'Campaigns still send from a paused mailbox: take it out of them yourself, now.';

/** Adds a full stop and a capital. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return capital(/[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`);
}

/** `Acknowledged by anna on 20 March 11:02 UTC: the provider knows.` `zone`: an IANA name. */
export function acknowledgedText({ by, reason, at }: Acknowledgement, zone: string): string {
  return sentence(`Acknowledged by ${by} on ${momentText(at, zone)}${reason === '' ? '' : `: ${reason}`}`);
}
