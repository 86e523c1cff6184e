// Numbers, dates and durations in sentences: every time with its zone, no misleading rounding.
import type { Observed, WarmupAnswer } from '../answers.ts';
import type { GuardedElsewhere } from '../mailbox.ts';
import { onePercentPpm, type Ppm, percent } from '../policy.ts';
import { dayMs, type EpochMs, hourMs, type IsoDate, minuteMs, secondMs } from '../time.ts';

const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Digits behind the point that a percentage gets at most. */
const maxPercentDigits = 4;

/** Made when the first number needs it: making it loads what Node knows of languages. */
let withSeparators: Intl.NumberFormat | undefined;

/** `12,345`, `98.5`. Most numbers need no separator, and asking for one is most of what a sentence costs. */
export function numberText(value: number): string {
  if (Number.isInteger(value * 10) && Math.abs(value) < 1_000) return String(value);
  withSeparators ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
  return withSeparators.format(value);
}

/** `1 bounce`, `2 bounces`, `no bounces`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  if (count === 0) return `no ${many}`;
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** `2 of 3 mailboxes`; of all of them `3 mailboxes`. */
export function countedOf(part: number, all: number, one: string, many = `${one}s`): string {
  return part === all ? counted(all, one, many) : `${numberText(part)} of ${counted(all, one, many)}`;
}

/** Parts per million as `1.54 %`. Two digits, or as many as it takes not to look like `unlike`, a limit beside it. */
export function percentText(ppm: Ppm, unlike: Ppm | null = null): string {
  const percent = ppm / onePercentPpm;
  for (let digits = 2; digits < maxPercentDigits; digits += 1) {
    const shown = Number(percent.toFixed(digits));
    const misleads = unlike !== null && ppm !== unlike && shown === unlike / onePercentPpm;
    if (!misleads) return `${shown} %`;
  }
  return `${Number(percent.toFixed(maxPercentDigits))} %`;
}

/** `20 March`. */
function dayText(date: IsoDate): string {
  return `${Number(date.slice(8, 10))} ${monthNames[Number(date.slice(5, 7)) - 1] ?? date}`;
}

/** `14 to 20 March`, `28 February to 6 March`, `20 March`. The year is written only when the two differ in it. */
export function datesText(from: IsoDate, to: IsoDate): string {
  if (from === to) return dayText(to);
  if (from.slice(0, 4) !== to.slice(0, 4)) {
    return `${dayText(from)} ${from.slice(0, 4)} to ${dayText(to)} ${to.slice(0, 4)}`;
  }
  if (from.slice(0, 7) === to.slice(0, 7)) return `${Number(from.slice(8, 10))} to ${dayText(to)}`;
  return `${dayText(from)} to ${dayText(to)}`;
}

/** `from 14 to 20 March`, `on 20 March`. */
export function onDatesText(from: IsoDate, to: IsoDate): string {
  const dates = datesText(from, to);
  return from === to ? `on ${dates}` : `from ${dates}`;
}

/** `10:02 UTC`, `11:02 Europe/Berlin`. For a moment that is at most a day from what surrounds it. `zone`: an IANA name. */
export function timeText(at: EpochMs, zone: string): string {
  return `${wallClock(at, zone).time} ${zone}`;
}

/** `20 March 10:02 UTC`, `20 March 11:02 Europe/Berlin`. */
export function momentText(at: EpochMs, zone: string): string {
  return `${dayText(wallClock(at, zone).date)} ${timeText(at, zone)}`;
}

/** `20 March 10:02 UTC to 11:30 UTC`; with both dates where they differ. */
export function betweenText(from: EpochMs, to: EpochMs, zone: string): string {
  const isSameDay = wallClock(from, zone).date === wallClock(to, zone).date;
  return `${momentText(from, zone)} to ${isSameDay ? timeText(to, zone) : momentText(to, zone)}`;
}

/** Date and time that clocks of a zone show. */
function wallClock(at: EpochMs, zone: string): { readonly date: IsoDate; readonly time: string } {
  if (zone === 'UTC') {
    const written = new Date(at).toISOString();
    return { date: written.slice(0, 10), time: written.slice(11, 16) };
  }
  // Sweden writes dates and times as ISO 8601 does.
  const [date = '', time = ''] = formatOf(zone).format(at).split(' ');
  return { date, time };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Kept, because making one takes long. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(timeZone, format);
  return format;
}

/** `0.4 s`, `12 s`, `4 min`, `2 h 5 min`, `3 days`. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 10 * secondMs) return `${Number((span / secondMs).toFixed(1))} s`;
  if (span < 2 * minuteMs) return `${Math.round(span / secondMs)} s`;
  if (span < 2 * hourMs) return `${Math.round(span / minuteMs)} min`;
  if (span < 2 * dayMs) {
    const minutes = Math.round((span % hourMs) / minuteMs) % 60;
    return minutes === 0 ? `${Math.round(span / hourMs)} h` : `${Math.floor(span / hourMs)} h ${minutes} min`;
  }
  return `${Math.floor(span / dayMs)} days`;
}

/** A span in one unit, for a column or an estimate: `40 s`, `7 min`, `3 h`, `12 days`. */
export function roughSpanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < minuteMs) return `${Math.round(span / secondMs)} s`;
  if (span < 2 * hourMs) return `${Math.round(span / minuteMs)} min`;
  if (span < 2 * dayMs) return `${Math.round(span / hourMs)} h`;
  return `${Math.round(span / dayMs)} days`;
}

/** `spf`, `spf and dkim`, `spf, dkim and dmarc`. */
export function listText(words: readonly string[]): string {
  const last = words.at(-1);
  if (last === undefined) return '';
  return words.length === 1 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** The first `most` words, and how many more there are: `a, b and 3 more`; where there are no more: `a, b`. */
export function firstText(words: readonly string[], most: number): string {
  const more = words.length - most;
  return words.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Number of bounces that a limit allows: `5.8`, `0.25`. `ppmMails` is the limit times the emails. */
export function allowedText(ppmMails: number): string {
  const bounces = ppmMails / 1e6;
  return String(Number(bounces.toFixed(bounces < 1 ? 2 : 1)));
}

// Shares and spans of time as words that stay on one line, the same on every page.

let hundredths: Intl.NumberFormat | undefined;

/** 1.54 %, with a space that does not break. */
export function share(ppm: Ppm): string {
  hundredths ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
  return `${hundredths.format(percent(ppm))}\u00a0%`;
}

/** `7 min`, with a space that does not break. */
export function duration(ms: number): string {
  return roughSpanText(ms).replace(' ', '\u00a0');
}

// Makes what other people wrote safe to look at: control and direction characters become visible.

/**
 * C0 and C1 controls, soft hyphen, zero-width and direction marks, separators, tags and lone surrogates:
 * what hides, reorders or breaks text. Zero-width joiners are left alone: scripts and emoji need them.
 */
const deceptive =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e007f}]/gu;

/** Printable ASCII, which needs no escaping. */
const plain = /^[\x20-\x7e]*$/;

/** The text with every such character written as [U+202E]. Markup is not escaped: that is the place's own matter. */
export function visibleText(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(deceptive, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

// A sentence about files, for people who may not learn where they are.

/** Names each file by its last part. An address, such as `postgres://host/name`, stays whole. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(?<![\w:/.])\/(?:[^\s/"'`]+\/)+/g, '');
}

// Mailboxes that the keys of two accounts see, in a sentence: which account guards them.

/** Phrase without a full stop. */
export function overlapText(elsewhere: readonly Pick<GuardedElsewhere, 'account'>[]): string {
  const accounts = [...new Set(elsewhere.map(({ account }) => account))];
  const by = accounts.length === 1 ? `account ${accounts[0]}` : `the accounts ${listText(accounts)}`;
  const [are, them] = elsewhere.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${counted(elsewhere.length, 'mailbox', 'mailboxes')} of its list ${are} guarded by ${by}, whose key sees ${them}, too`;
}

// Sentences about the recent emails of a mailbox besides bounces, for the page and `explain`. Never an alert.

/** An email so long over its time, and none sent since, is more than the jitter of a queue. */
const stillForMs = 2 * hourMs;

/** Empty when there is nothing to see, or nothing known. */
export function recentEmailSentences(warmup: Observed<WarmupAnswer> | null, zone: string): readonly string[] {
  const recent = warmup?.answer.recentEmails;
  if (!warmup || !recent) return [];
  const { placed, inSpam, waitingSince, lastSentAt } = recent;
  return [
    inSpam > 0 ? `Of the last ${counted(placed, 'email')} whose folder is known, ${inSpam} landed in spam.` : '',
    standsStill(warmup.at, waitingSince, lastSentAt)
      ? `Its queue does not move: an email was scheduled for ${momentText(waitingSince, zone)}, and none has been sent since.`
      : '',
  ].filter((sentence) => sentence !== '');
}

function standsStill(readAt: EpochMs, since: EpochMs | null, lastSentAt: EpochMs | null): since is EpochMs {
  return since !== null && readAt - since > stillForMs && (lastSentAt === null || lastSentAt < since);
}
