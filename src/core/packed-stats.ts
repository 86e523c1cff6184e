// The rows of statistics as one short text. A fleet of ten thousand has three hundred thousand rows, each looked at now and then.
import type { StatsAnswer, StatsRow } from './answers.ts';
import { type Packable, Packer, Unpacker } from './packed.ts';
import { dateOf, dayOf, type IsoDate, isIsoDate } from './time.ts';

/** Decimals of a rate and of a score. */
const hundredths = 100;
const valuesARow = 10;
/** Of dates with four digits for the year. */
const lastDay = dayOf('9999-12-31');
const noRows = 'null';

/** Statistics in little room. The rows are made of the text when somebody asks for them. */
export class PackedStats implements StatsAnswer {
  /** A string of JSON, or its null. */
  readonly text: string;
  #since: IsoDate | null = null;
  #mostSent = 0;

  private constructor(text: string) {
    this.text = text;
  }

  /** These statistics; themselves where they are packed. */
  static of(stats: StatsAnswer): PackedStats {
    if (stats instanceof PackedStats) return stats;
    const { text, ends, isExact } = packedRows(stats.rows);
    const packed = new PackedStats(text);
    // Who packs them is about to judge by them.
    if (stats.rows && isExact) {
      askedFor({ of: packed, rows: stats.rows, ends });
      const { date = null } = stats.rows.at(-1) ?? {};
      if (date !== null) packed.mostSentSince(date);
    }
    return packed;
  }

  /** Those that had this text; null when it is none. */
  static fromText(text: string): PackedStats | null {
    return isSound(text) ? new PackedStats(text) : null;
  }

  /** The same array until somebody asks for the rows of many others: a judgement asks a dozen times. */
  get rows(): StatsAnswer['rows'] {
    if (this.text === noRows) return null;
    const [newest] = lately;
    if (newest?.of === this) return newest.rows;
    const known = lately.find(({ of }) => of === this) ?? { of: this, ...rowsOf(this.text, newest) };
    askedFor(known);
    return known.rows;
  }

  /** The most emails of one day since that date. Remembered for the date that was asked for last, which is today. */
  mostSentSince(date: IsoDate): number {
    if (this.#since !== date) {
      this.#mostSent = mostSentSince(this.rows, date);
      this.#since = date;
    }
    return this.#mostSent;
  }

  toJSON(): StatsAnswer {
    return { rows: this.rows };
  }
}

/** The most emails of one day since that date; 0 without any. */
export function mostSentSince(rows: StatsAnswer['rows'], date: IsoDate): number {
  return (rows ?? []).reduce(
    (most, row) => (row.date !== null && row.date >= date ? Math.max(most, row.sent ?? 0) : most),
    0,
  );
}

/** Rows, and where each ends in their text. */
interface Rows {
  readonly rows: readonly StatsRow[];
  readonly ends: readonly number[];
}

interface RowsOf extends Rows {
  readonly of: PackedStats;
}

/** The ones that were asked for lately, the newest first: between the moment when an answer is read and the one when it is judged others are. */
const lately: RowsOf[] = [];
const maxLately = 16;

function askedFor(one: RowsOf): void {
  const at = lately.indexOf(one);
  if (at !== -1) lately.splice(at, 1);
  else if (lately.length === maxLately) lately.pop();
  lately.unshift(one);
}

interface PackedRows {
  readonly text: string;
  readonly ends: Rows['ends'];
  /** False: a date is none, which the text does not keep. */
  readonly isExact: boolean;
}

function packedRows(rows: StatsAnswer['rows']): PackedRows {
  if (rows === null) return { text: noRows, ends: [], isExact: true };
  const packer = new Packer();
  const ends: number[] = [];
  let [before, isExact] = [0, true];
  for (const row of rows) {
    const day = row.date !== null && isIsoDate(row.date) ? dayOf(row.date) : null;
    if (day === null && row.date !== null) isExact = false;
    packer.add(day === null ? null : day - before);
    before = day ?? before;
    packer.add(row.sent).add(row.bounced).add(row.delivered).add(row.opened).add(row.replied).add(row.spamLanded);
    packer.add(row.inboxRatePercent, hundredths).add(row.bounceRatePercent, hundredths);
    packer.add(row.healthScore, hundredths);
    ends.push(packer.length);
  }
  return { text: packer.packed(), ends, isExact };
}

/** Whether these are whole rows, every number is one, and every day has a date. */
function isSound(text: string): boolean {
  if (text === noRows) return true;
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return false;
  const unpacker = new Unpacker(text);
  let day = 0;
  let values = 0;
  for (; !unpacker.isAtEnd; values += 1) {
    const value = orNull(unpacker.next()) ?? 0;
    if (!Number.isFinite(value)) return false;
    if (values % valuesARow !== 0) continue;
    day += value;
    if (!Number.isInteger(day) || day < 0 || day > lastDay) return false;
  }
  return values % valuesARow === 0;
}

/** The rows of a text that begins as another one does: the newest answers of a mailbox differ in the newest day alone. */
function rowsOf(text: string, like: RowsOf | undefined): Rows {
  const shared = like ? sharedLetters(text, like.of.text) : 0;
  const known = like ? like.ends.findLastIndex((end) => end <= shared) + 1 : 0;
  const [rows, ends] = [like?.rows.slice(0, known) ?? [], like?.ends.slice(0, known) ?? []];
  const dated = rows.findLast(({ date }) => date !== null)?.date;
  let before = dated ? dayOf(dated) : 0;
  const unpacker = new Unpacker(text, ends.at(-1));
  while (!unpacker.isAtEnd) {
    const later = orNull(unpacker.next());
    before += later ?? 0;
    rows.push(rowOn(later === null ? null : dateOf(before), unpacker));
    ends.push(unpacker.at);
  }
  return { rows, ends };
}

function sharedLetters(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let at = 0;
  while (at < length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

function rowOn(date: StatsRow['date'], unpacker: Unpacker): StatsRow {
  // In the order in which they were packed. Rows are made by the thousand: each in one go, not as a copy with one more field.
  const sent = orNull(unpacker.next());
  const bounced = orNull(unpacker.next());
  const delivered = orNull(unpacker.next());
  const opened = orNull(unpacker.next());
  const replied = orNull(unpacker.next());
  const spamLanded = orNull(unpacker.next());
  const inboxRatePercent = orNull(unpacker.next(hundredths));
  const bounceRatePercent = orNull(unpacker.next(hundredths));
  const healthScore = unpacker.next(hundredths);
  return healthScore === undefined
    ? { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent }
    : { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent, healthScore };
}

const orNull = (value: Packable): number | null => value ?? null;
