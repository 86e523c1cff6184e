// The guard's verdicts and actions in sentences with numbers: for alerts, the page and `decide`.
import type { Action } from '../model/action.ts';
import type { AlertFacts } from '../model/alert.ts';
import { isWarmupMode, onePercentPpm } from '../model/policy.ts';
import { ratePpm } from '../model/rate.ts';
import { type EpochMs, secondMs } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';
import { counted, datesText, percentText, spanText, timeText } from './phrases.ts';

/** A verdict in sentences, for every reason. Plain text in English; dates and times in UTC. */
export function explainVerdict(verdict: Verdict): string {
  const parts = [reasonText(verdict)];
  if (verdict.warnings.length > 0) parts.push(`Odd in the data: ${verdict.warnings.join('; ')}.`);
  return parts.join(' ');
}

function reasonText(verdict: Verdict): string {
  switch (verdict.reason) {
    case 'ok':
      return withinLimitText(verdict);
    case 'insufficient_evidence':
      return insufficientText(verdict);
    case 'already_paused':
      return 'The warm-up is paused already, so there is nothing to decide.';
    case 'not_running':
      return 'The warm-up does not run, so there is nothing to decide.';
    case 'no_data':
      return 'The statistics hold no day yet, so nothing can be said about bounces.';
    case 'bad_payload':
      return 'The statistics came in a form that cannot be read, so nothing is decided until a readable answer comes.';
    case 'stale_data':
      return staleText(verdict);
    case 'emergency':
      return `${emergencyText(verdict)} This is an emergency, whatever the mode.`;
    case 'unknown_mode':
      return `The warm-up mode ${quoted(verdict.mode)} is unknown, so there is no limit to hold the bounces against.`;
    case 'unknown_status':
      return unknownStatusText(verdict);
    case 'invalid_row':
      return 'A day of the last week has a missing, negative or broken count, so its bounce rate cannot be trusted.';
    case 'implausible_counts':
      return `${countsText(verdict)} More bounced than was sent, so the counts cannot be trusted.`;
    case 'bounce_rate_over_limit':
      return rateText(verdict);
    case 'repeat_offender':
      return `${rateText(verdict)} The mailbox was stepped in for before, and breached again.`;
    case 'first_sight':
      return `${rateText(verdict)} It was seen for the first time: the next fresh answer decides.`;
    case 'circuit_breaker':
      return `${rateText(verdict)} Too many mailboxes want action at once, so the breaker holds: look at the whole before anything is changed.`;
    case 'contested':
      return `${rateText(verdict)} What the guard changed was taken back twice within a day, so it does not act again.`;
    case 'clean_volume':
      return cleanText(verdict);
  }
}

/** `4 bounces in 260 mails of 14 to 20 March are 1.54 %, over balanced's limit of 1 %.` For an emergency, its own counts. */
export function rateText(verdict: Verdict): string {
  if (verdict.emergency) return emergencyText(verdict);
  const rate = ratePpm(verdict);
  if (rate === null || verdict.limitPpm === null) return countsText(verdict);
  const side = rate > verdict.limitPpm ? 'over' : 'within';
  const share = percentText(rate, verdict.limitPpm);
  return `${countsPhrase(verdict)} ${verdict.bounced === 1 ? 'is' : 'are'} ${share}, ${side} ${limitText(verdict)}.`;
}

function countsPhrase(verdict: Verdict): string {
  const { windowFrom, windowTo } = verdict;
  const when = windowFrom && windowTo ? ` of ${datesText(windowFrom, windowTo)}` : '';
  return capital(`${counted(verdict.bounced, 'bounce')} in ${counted(verdict.sent, 'mail')}${when}`);
}

function countsText(verdict: Verdict): string {
  return `${countsPhrase(verdict)}.`;
}

function limitText(verdict: Verdict): string {
  const limit = percentText(verdict.limitPpm ?? 0);
  return isWarmupMode(verdict.mode) ? `${verdict.mode}'s limit of ${limit}` : `the limit of ${limit}`;
}

function withinLimitText(verdict: Verdict): string {
  const back = progressText(verdict);
  if (verdict.sent === 0) return `No mails in the evidence window yet, so no bounces either.${back}`;
  const left = verdict.bouncesUntilBreach;
  return left === null || left === 0
    ? `${rateText(verdict)}${back}`
    : `${rateText(verdict)} ${counted(left, 'more bounce')} would breach it.${back}`;
}

/** How far the way back from a recovery of ours is; empty when there is none. */
function progressText({ restore }: Verdict): string {
  if (!restore) return '';
  const { mode, cleanDays, neededDays, cleanMails, neededMails } = restore;
  const days = Math.max(0, neededDays - cleanDays);
  const when = days === 0 ? '' : ` in ${counted(days, 'day')} at the earliest,`;
  return ` Back to ${mode}${when} after ${counted(neededMails, 'clean mail')} (${cleanMails} so far).`;
}

/** Why a mailbox goes back from recovery. */
export function cleanText({ restore }: Verdict): string {
  if (!restore) return 'Clean again.';
  const { mode, cleanDays, cleanMails } = restore;
  return `${capital(counted(cleanMails, 'mail'))} in ${counted(cleanDays, 'day')} without a bounce: back to ${mode}.`;
}

function insufficientText(verdict: Verdict): string {
  const left = Math.max(1, verdict.bouncesUntilBreach ?? 1);
  return `${rateText(verdict)} That is too few bounces to act on; ${counted(left, 'more', 'more')} would breach it.`;
}

function staleText(verdict: Verdict): string {
  const newest = verdict.windowTo ? ` (the newest is ${datesText(verdict.windowTo, verdict.windowTo)})` : '';
  return `The statistics end too long ago${newest}, so they say nothing about the present.`;
}

function unknownStatusText(verdict: Verdict): string {
  const lead = verdict.sent > 0 && verdict.limitPpm !== null ? `${rateText(verdict)} ` : '';
  const wanted = {
    recovery: 'Wanted is recovery mode, but ',
    pause: 'Wanted is a pause, but ',
    restore: 'Wanted is the way back from recovery, but ',
    none: '',
    hold: '',
  };
  const rest = `${wanted[verdict.wanted]}the warm-up's status says neither running nor paused, so nothing is written.`;
  return lead + capital(rest);
}

function emergencyText(verdict: Verdict): string {
  const counts = verdict.emergency;
  if (!counts) return rateText({ ...verdict, emergency: null });
  const share = ratePpm(counts);
  const tail = share === null ? '' : `: ${percentText(share)}`;
  return `${capital(counted(counts.bounced, 'bounce'))} in ${counted(counts.sent, 'mail')} since ${datesText(counts.from, counts.from)}${tail}.`;
}

/** How old the counts were when they were judged. */
export function dataAgeText(verdict: Verdict): string {
  return verdict.dataAgeMs < secondMs
    ? 'The counts were just read when judged.'
    : `The counts were ${spanText(verdict.dataAgeMs)} old when judged.`;
}

/** A verdict's numbers for machines. Shares in percent, dates as YYYY-MM-DD, ages in seconds. */
export function verdictNumbers(verdict: Verdict): AlertFacts['numbers'] {
  const counts = verdict.emergency ?? verdict;
  const rate = ratePpm(counts);
  return {
    sent: counts.sent,
    bounced: counts.bounced,
    rate_percent: rate === null ? null : Number((rate / onePercentPpm).toFixed(maxRateDigits)),
    limit_percent: verdict.limitPpm === null ? null : verdict.limitPpm / onePercentPpm,
    window_from: verdict.emergency?.from ?? verdict.windowFrom,
    window_to: verdict.windowTo,
    mode: verdict.mode,
    reason: verdict.reason,
    data_age_seconds: Math.round(verdict.dataAgeMs / 1_000),
  };
}

const maxRateDigits = 4;

/** What an action did, in a sentence: `Switched to recovery mode at 10:02 UTC, confirmed after 0.4 s.` */
export function actionText(action: Action, now: EpochMs): string {
  const openedAt = action.openedAt ?? action.plannedAt;
  const since = spanText((action.settledAt ?? now) - openedAt);
  const { what, wanted } = namesOf(action);
  const tries = action.attempts > 1 ? ` (${action.attempts} tries)` : '';
  const detail = action.detail ? ` ${sentence(action.detail)}` : '';
  switch (action.state) {
    case 'confirmed':
      return `${what} at ${timeText(openedAt)}, confirmed ${since === '0 s' ? 'at once' : `after ${since}`}${tries}.`;
    case 'refused':
      return `NOT ACTED: ${wanted.charAt(0).toLowerCase()}${wanted.slice(1)} was refused at ${timeText(action.settledAt ?? now)}${tries}.${detail}`;
    case 'unconfirmed':
      return `${wanted} was sent at ${timeText(openedAt)}, but could not be read back within ${since}${tries}.${detail}`;
    case 'dropped':
      return `${wanted} was dropped at ${timeText(action.settledAt ?? now)}.${detail}`;
    default:
      return `${wanted} is under way since ${timeText(openedAt)}.`;
  }
}

/** What was done, and what was wanted; with the person who asked for it. */
function namesOf({ kind, targetMode, by }: Action): { readonly what: string; readonly wanted: string } {
  const mode = targetMode === null ? '' : ` to ${targetMode} mode`;
  const pause = kind === 'pause';
  if (by) {
    const done = mode ? `Switched${mode}` : pause ? 'Paused' : 'Resumed';
    const noun = mode ? `switch${mode}` : pause ? 'pause' : 'resume';
    return { what: `${done} by ${by.name}`, wanted: `The ${noun} that ${by.name} requested` };
  }
  if (mode) return { what: `Switched${mode}`, wanted: `Switching${mode}` };
  return pause
    ? { what: 'Paused the warm-up', wanted: 'Pausing the warm-up' }
    : { what: 'Resumed the warm-up', wanted: 'Resuming the warm-up' };
}

/** How a person takes an action back; `command` starts this program. */
export function undoText(action: Action, command: string): string {
  if (action.state === 'refused') return '';
  const { email, mailboxId, before } = action;
  // People copy this into a shell: an address of other characters is left to its id.
  const name = /^[\w.+@-]+$/.test(email) ? email : mailboxId;
  if (action.kind === 'pause') {
    return `To take it back: \`${command} resume ${name}\`, or resume the warm-up in the mailbox app.`;
  }
  if (action.kind === 'recovery') {
    const mode = before.mode ?? 'MODE';
    return `To take it back: \`${command} mode ${name} ${mode}\`, or set the mode in the mailbox app.`;
  }
  return `To take it back, set the mode ${before.mode ? `to ${before.mode}` : 'back'} in the mailbox app.`;
}

/** A pause stops the warm-up only; a person woken at night must know. */
export const campaignsUntouched = 'Campaign sending is not touched: stop it yourself if it should stop.';

function quoted(word: string | null): string {
  return word === null ? '(none)' : `"${word}"`;
}

/** A text that ends in a full stop and begins with a capital. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return capital(/[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
