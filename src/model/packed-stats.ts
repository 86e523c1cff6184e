// The rows of statistics as one short text. A fleet of ten thousand has three hundred thousand rows, each looked at now and then.
import type { StatsAnswer, StatsRow } from './answers.ts';
import { type Packable, Packer, packedValue, Unpacker } from './packed.ts';
import { dateOf, dayOf, isIsoDate } from './time.ts';

/** Decimals of a rate and of a score. */
const hundredths = 100;
const valuesARow = 10;
/** Of dates with four digits for the year. */
const lastDay = dayOf('9999-12-31');
const noRows = 'null';
const packedText = new RegExp(`^(?:${noRows}|"(?:${packedValue}{${valuesARow}})*")$`);

/** Statistics in little room. The rows are made of the text when somebody asks for them. */
export class PackedStats implements StatsAnswer {
  /** A string of JSON, or its null. */
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** These statistics; themselves where they are packed. */
  static of(stats: StatsAnswer): PackedStats {
    if (stats instanceof PackedStats) return stats;
    const packed = new PackedStats(textOf(stats.rows));
    // Who packs them is about to judge by them.
    newest = { of: packed, rows: stats.rows };
    return packed;
  }

  /** Those that had this text; null when it is none. */
  static fromText(text: string): PackedStats | null {
    return packedText.test(text) && isSound(text) ? new PackedStats(text) : null;
  }

  /** The same array until somebody asks for the rows of others: a judgement asks a dozen times. */
  get rows(): StatsAnswer['rows'] {
    if (newest?.of !== this) newest = { of: this, rows: rowsOf(this.text) };
    return newest.rows;
  }

  toJSON(): StatsAnswer {
    return { rows: this.rows };
  }
}

let newest: { readonly of: PackedStats; readonly rows: StatsAnswer['rows'] } | null = null;

function textOf(rows: StatsAnswer['rows']): string {
  if (rows === null) return noRows;
  const packer = new Packer();
  let before = 0;
  for (const row of rows) {
    const day = row.date !== null && isIsoDate(row.date) ? dayOf(row.date) : null;
    packer.add(day === null ? null : day - before);
    before = day ?? before;
    packer.add(row.sent).add(row.bounced).add(row.delivered).add(row.opened).add(row.replied).add(row.spamLanded);
    for (const rate of [row.inboxRatePercent, row.bounceRatePercent, row.healthScore]) packer.add(rate, hundredths);
  }
  return packer.packed();
}

/** Whether every number is one, and every day has a date. */
function isSound(text: string): boolean {
  if (text === noRows) return true;
  const unpacker = new Unpacker(text);
  let day = 0;
  for (let at = 0; !unpacker.isAtEnd; at += 1) {
    const value = known(unpacker.next()) ?? 0;
    if (!Number.isFinite(value)) return false;
    if (at % valuesARow !== 0) continue;
    day += value;
    if (!Number.isInteger(day) || day < 0 || day > lastDay) return false;
  }
  return true;
}

function rowsOf(text: string): StatsAnswer['rows'] {
  if (text === noRows) return null;
  const unpacker = new Unpacker(text);
  const rows: StatsRow[] = [];
  let before = 0;
  while (!unpacker.isAtEnd) {
    const later = known(unpacker.next());
    before += later ?? 0;
    rows.push(rowOn(later === null ? null : dateOf(before), unpacker));
  }
  return rows;
}

function rowOn(date: StatsRow['date'], unpacker: Unpacker): StatsRow {
  const count = () => known(unpacker.next());
  const rate = () => known(unpacker.next(hundredths));
  const [sent, bounced, delivered, opened, replied, spamLanded] = [
    count(),
    count(),
    count(),
    count(),
    count(),
    count(),
  ];
  const [inboxRatePercent, bounceRatePercent, healthScore] = [rate(), rate(), unpacker.next(hundredths)];
  const row = { date, sent, bounced, delivered, opened, replied, spamLanded, inboxRatePercent, bounceRatePercent };
  return healthScore === undefined ? row : { ...row, healthScore };
}

const known = (value: Packable): number | null => value ?? null;
