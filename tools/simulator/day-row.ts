// What happened on one day of one mailbox, and the figures that follow from it.

/** Counts of one UTC day. A late bounce counts on the day on which it arrives. */
export interface DayRow {
  /** Days since the Unix epoch. */
  readonly day: number;
  sent: number;
  delivered: number;
  opened: number;
  replied: number;
  bounced: number;
  spamLanded: number;
}

export const dayMs = 86_400_000;

/** How many days the statistics reach back (document: days, maximum 90). */
export const maxStatsDays = 90;

const healthDays = 7;

export function emptyRow(day: number): DayRow {
  return { day, sent: 0, delivered: 0, opened: 0, replied: 0, bounced: 0, spamLanded: 0 };
}

/** A percentage with two decimals, '0.00' of nothing. */
export function percent(part: number, whole: number): string {
  return (whole === 0 ? 0 : (part / whole) * 100).toFixed(2);
}

/** 0 to 100 with two decimals, out of the bounces and the spam placement of the seven rows that end at `index`. */
export function healthScore(rows: readonly DayRow[], index: number): number {
  let [sent, delivered, bounced, spam] = [0, 0, 0, 0];
  for (const row of rows.slice(Math.max(0, index - healthDays + 1), index + 1)) {
    sent += row.sent;
    delivered += row.delivered;
    bounced += row.bounced;
    spam += row.spamLanded;
  }
  const bounceLoss = sent === 0 ? 0 : (bounced / sent) * 500;
  const spamLoss = delivered === 0 ? 0 : (spam / delivered) * 60;
  return Number(Math.max(0, 100 - bounceLoss - spamLoss).toFixed(2));
}
