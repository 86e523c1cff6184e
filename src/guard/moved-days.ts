// What becomes of the days of a mailbox when an answer says otherwise: the difference that it makes to every sum they are in.
import { productOf } from '../model/exact.ts';
import type { PooledSum } from '../model/pooled.ts';
import type { IsoDate } from '../model/time.ts';
import type { CountedDay, LimitedDays } from './limited-days.ts';

/** What is to be added to the sums of a date. */
export interface DayChange extends PooledSum {
  readonly date: IsoDate;
  /** Mailboxes with a row of that date. */
  readonly rows: 1 | -1;
}

export interface MovedDate {
  readonly before: IsoDate | null;
  readonly after: IsoDate | null;
}

export interface MovedDays {
  /** For the days that are no longer as they were; most often that is the newest one alone. */
  readonly changes: readonly DayChange[];
  /** The newest day with a bounce. */
  readonly bouncedOn: MovedDate;
  /** The newest day with an email. */
  readonly sentOn: MovedDate;
}

const none: LimitedDays = { days: [], limitOn: () => 0 };

/** The days of one mailbox become others; null: it has none that count. */
export function movedDays(before: LimitedDays | null, after: LimitedDays | null): MovedDays {
  const [was, is] = [before ?? none, after ?? none];
  const changes: DayChange[] = [];
  let [old, fresh] = [0, 0];
  while (old < was.days.length || fresh < is.days.length) {
    const from = was.days[old];
    const to = is.days[fresh];
    const goes = from && (!to || from.date <= to.date) ? from : null;
    const comes = to && (!from || to.date <= from.date) ? to : null;
    if (goes) old += 1;
    if (comes) fresh += 1;
    if (goes && comes && hasSameCounts(goes, comes) && was.limitOn(goes.date) === is.limitOn(comes.date)) continue;
    if (goes) changes.push(changeBy(goes, was, -1));
    if (comes) changes.push(changeBy(comes, is, 1));
  }
  return {
    changes,
    bouncedOn: { before: lastWith(was, 'bounced'), after: lastWith(is, 'bounced') },
    sentOn: { before: lastWith(was, 'sent'), after: lastWith(is, 'sent') },
  };
}

function hasSameCounts(one: CountedDay, other: CountedDay): boolean {
  return one === other || (one.sent === other.sent && one.bounced === other.bounced);
}

function changeBy({ date, sent, bounced }: CountedDay, { limitOn }: LimitedDays, rows: 1 | -1): DayChange {
  return { date, sent: rows * sent, bounced: rows * bounced, allowed: productOf(limitOn(date), rows * sent), rows };
}

function lastWith({ days }: LimitedDays, field: 'sent' | 'bounced'): IsoDate | null {
  return days.findLast((day) => day[field] > 0)?.date ?? null;
}
