// Numbers, dates and durations in sentences.
import type { Silence } from '../alert.ts';
import type { MailboxName } from '../mailbox.ts';
import { type Counts, onePercentPpm, type Ppm } from '../policy.ts';
import { dayMs, type EpochMs, hourMs, type IsoDate, minuteMs, secondMs, wallClock } from '../time.ts';

const monthNames = 'January February March April May June July August September October November December'.split(' ');

const maxPercentDigits = 4;

/** Created lazily: it loads Node's language data. */
let withSeparators: Intl.NumberFormat | undefined;

/** `12,345`, `98.5`. The formatter is slow, and most numbers need no separator. */
export function numberText(value: number): string {
  if (Number.isInteger(value * 10) && Math.abs(value) < 1_000) return String(value);
  withSeparators ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
  return withSeparators.format(value);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  if (count === 0) return `no ${many}`;
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** `4 bounces in 260 emails` */
export function bouncesText({ sent, bounced }: Counts): string {
  return `${counted(bounced, 'bounce')} in ${counted(sent, 'email')}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `2 of 3 mailboxes`, `3 mailboxes` */
export function countedOf(part: number, all: number, one: string, many = `${one}s`): string {
  return part === all ? counted(all, one, many) : `${numberText(part)} of ${counted(all, one, many)}`;
}

/** `1.54%`, with as many digits as it takes to differ from `unlike`. */
export function percentText(ppm: Ppm, unlike: Ppm | null = null): string {
  const percent = ppm / onePercentPpm;
  for (let digits = 2; digits < maxPercentDigits; digits += 1) {
    const shown = Number(percent.toFixed(digits));
    const misleads = unlike !== null && ppm !== unlike && shown === unlike / onePercentPpm;
    if (!misleads) return `${shown}%`;
  }
  return `${Number(percent.toFixed(maxPercentDigits))}%`;
}

function dayText(date: IsoDate): string {
  return `${Number(date.slice(8, 10))} ${monthNames[Number(date.slice(5, 7)) - 1] ?? date}`;
}

/** `14 to 20 March`, `20 March`. Different years are written out. */
export function datesText(from: IsoDate, to: IsoDate): string {
  if (from === to) return dayText(to);
  if (from.slice(0, 4) !== to.slice(0, 4)) {
    return `${dayText(from)} ${from.slice(0, 4)} to ${dayText(to)} ${to.slice(0, 4)}`;
  }
  if (from.slice(0, 7) === to.slice(0, 7)) return `${Number(from.slice(8, 10))} to ${dayText(to)}`;
  return `${dayText(from)} to ${dayText(to)}`;
}

export function onDatesText(from: IsoDate, to: IsoDate): string {
  const dates = datesText(from, to);
  return from === to ? `on ${dates}` : `from ${dates}`;
}

/** `10:02 UTC`, `11:02 Europe/Berlin`. `zone`: an IANA name. */
export function timeText(at: EpochMs, zone: string): string {
  return `${wallClock(at, zone).time} ${zone}`;
}

/** `20 March 11:02 Europe/Berlin` */
export function momentText(at: EpochMs, zone: string): string {
  return `${dayText(wallClock(at, zone).date)} ${timeText(at, zone)}`;
}

/** `until 5 December 23:00 UTC, every week`, with the beginning of a silence that has not begun. */
export function silenceTimesText({ from, until, repeats }: Silence, now: EpochMs, zone: string): string {
  const begins = from > now ? `from ${momentText(from, zone)} ` : '';
  const ends = repeats && repeats.ends !== null ? ` until ${momentText(repeats.ends, zone)}` : '';
  return `${begins}until ${momentText(until, zone)}${repeats ? `, every ${repeats.every}${ends}` : ''}`;
}

/** `between 20 March 04:45 and 04:46 UTC`, with the second day only if it is another one. */
export function betweenText(from: EpochMs, to: EpochMs, zone: string): string {
  const [first, last] = [wallClock(from, zone), wallClock(to, zone)];
  return first.date === last.date
    ? `between ${dayText(first.date)} ${first.time} and ${timeText(to, zone)}`
    : `between ${momentText(from, zone)} and ${momentText(to, zone)}`;
}

/** `0.4 s`, `4 min`, `2 h 5 min`, `3 days` */
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

/** `40 s`, `7 min`, `3 h`, `12 days` */
export function roughSpanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < minuteMs) return `${Math.round(span / secondMs)} s`;
  if (span < 2 * hourMs) return `${Math.round(span / minuteMs)} min`;
  if (span < 2 * dayMs) return `${Math.round(span / hourMs)} h`;
  return `${Math.round(span / dayMs)} days`;
}

/** `spf, dkim and dmarc` */
export function listText(words: readonly string[]): string {
  const last = words.at(-1);
  if (last === undefined) return '';
  return words.length === 1 ? last : `${words.slice(0, -1).join(', ')} and ${last}`;
}

/** `a, b and 3 more`, or `a, b` */
export function firstText(words: readonly string[], most: number): string {
  const more = words.length - most;
  return words.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `5.8`, or `less than 1`. `ppmMails` is the limit times the emails. */
export function allowedText(ppmMails: number): string {
  const bounces = ppmMails / 1e6;
  return bounces < 1 ? 'less than 1' : String(Number(bounces.toFixed(1)));
}

export function duration(ms: number): string {
  return roughSpanText(ms).replace(' ', '\u00a0');
}

// Makes untrusted text safe to look at.

/** Characters that hide, reorder or break text. Zero-width joiners are left alone: scripts and emoji need them. */
const deceptive =
  /[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\p{Cs}\u{e0000}-\u{e007f}]/gu;

const plain = /^[\x20-\x7e]*$/;

/** Writes each such character as [U+202E]. Markup is not escaped. */
export function visibleText(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(deceptive, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}

/** Shortens paths to file names. An address, such as `postgres://host/name`, stays whole. */
export function withoutFolders(text: string): string {
  return text.replaceAll(/(?<![\w:/.])\/(?:[^\s/"'`]+\/)+/g, '');
}

/** Phrase without a full stop. */
export function overlapText(elsewhere: readonly Pick<MailboxName, 'account'>[]): string {
  const accounts = [...new Set(elsewhere.map(({ account }) => account))];
  const by = accounts.length === 1 ? `account ${accounts[0]}` : `the accounts ${listText(accounts)}`;
  const [are, them] = elsewhere.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${counted(elsewhere.length, 'mailbox', 'mailboxes')} of its list ${are} guarded by ${by}, whose key sees ${them}, too`;
}
