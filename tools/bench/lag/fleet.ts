// A simulated fleet over one working week, as the API would show it at any moment. docs/performance.md says what is not in it.
import { seededChance, seedOf } from '../guard/chance.ts';

/** Only 8:30 to 18:00 of each day is simulated, one day behind the other; emails leave from 9:00 to 17:00. */
const dayMs = 9.5 * 3_600_000;
const firstSendMs = 0.5 * 3_600_000;
const sendingMs = 8 * 3_600_000;
const days = 5;
/** Days before the week that count in its first windows: the working days of the last seven. */
const daysBefore = 4;
const windowDays = 5;

export const weekMs = days * dayMs;

/** What a limit is held against: a window of seven calendar days, which holds five working days, and today. */
export interface Counts {
  readonly sent: number;
  readonly bounced: number;
  readonly sentToday: number;
  readonly bouncedToday: number;
}

export interface FleetMailbox {
  readonly dailyLimit: number;
  /** When each email of the week left, ascending. */
  readonly sends: Float64Array;
  /** When each bounce of the week became visible, ascending. */
  readonly bounces: Float64Array;
  /** Emails and bounces of the days before the week, oldest first. */
  readonly before: readonly { readonly sent: number; readonly bounced: number }[];
  /** When the API first showed an excess; Infinity when it never does. */
  readonly crossedAt: number;
}

/** Over 5% with at least 20 emails in the window, or over 10% with at least 10 today. */
export function isOver({ sent, bounced, sentToday, bouncedToday }: Counts): boolean {
  return (sent >= 20 && bounced > 0.05 * sent) || (sentToday >= 10 && bouncedToday > 0.1 * sentToday);
}

/** The fewest further bounces that cross one of the two; 0 when only the sample is missing. */
export function bouncesLeft({ sent, bounced, sentToday, bouncedToday }: Counts): number {
  const inWindow = Math.floor(0.05 * Math.max(sent, 20)) + 1 - bounced;
  const today = Math.floor(0.1 * Math.max(sentToday, 10)) + 1 - bouncedToday;
  return Math.max(0, Math.min(inWindow, today));
}

/** What the API shows at a moment. */
export function countsAt(mailbox: FleetMailbox, at: number): Counts {
  const today = Math.min(days - 1, Math.floor(at / dayMs));
  const [sent, bounced] = [countUpTo(mailbox.sends, at), countUpTo(mailbox.bounces, at)];
  const [sentBefore, bouncedBefore] = [
    countUpTo(mailbox.sends, today * dayMs),
    countUpTo(mailbox.bounces, today * dayMs),
  ];
  // The window of Friday is the week; Monday's reaches back to Tuesday.
  const old = mailbox.before.slice(Math.max(0, daysBefore + 1 + today - windowDays));
  return {
    sent: sent + old.reduce((sum, day) => sum + day.sent, 0),
    bounced: bounced + old.reduce((sum, day) => sum + day.bounced, 0),
    sentToday: sent - sentBefore,
    bouncedToday: bounced - bouncedBefore,
  };
}

/** health_score where it moves: 100 less five points for each percent of bounces. */
export function healthScore({ sent, bounced }: Counts): number {
  return sent === 0 ? 100 : Math.round(100 - (500 * bounced) / sent);
}

/** How many of the ascending moments have come by then. */
function countUpTo(moments: Float64Array, at: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((moments[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Daily limits of 2 to 80, bounces of 0.3 to 1.5%; one mailbox in twenty turns bad (15 to 50%) at a random moment. */
export function createFleet(size: number, seed: number): readonly FleetMailbox[] {
  return Array.from({ length: size }, (_, index) => createMailbox(seedOf(seed, index)));
}

function createMailbox(seed: number): FleetMailbox {
  const random = seededChance(seed);
  const dailyLimit = 2 + Math.floor(random() * 79);
  const base = 0.003 + random() * 0.012;
  const badFrom = random() < 0.05 ? random() * weekMs : Number.POSITIVE_INFINITY;
  const badRate = 0.15 + random() * 0.35;
  const before = Array.from({ length: daysBefore }, () => {
    let bounced = 0;
    for (let mail = 0; mail < dailyLimit; mail += 1) if (random() < base) bounced += 1;
    return { sent: dailyLimit, bounced };
  });
  const [sends, bounces]: [number[], number[]] = [[], []];
  for (let day = 0; day < days; day += 1) {
    for (let mail = 0; mail < dailyLimit; mail += 1) {
      const at = day * dayMs + firstSendMs + random() * sendingMs;
      sends.push(at);
      if (random() >= (at >= badFrom ? badRate : base)) continue;
      const delay = random() < 0.8 ? random() * 60_000 : -Math.log(1 - random()) * 30 * 60_000;
      // What would show at night shows in the morning.
      bounces.push(at + delay);
    }
  }
  const mailbox = {
    dailyLimit,
    before,
    sends: Float64Array.from(sends).sort(),
    bounces: Float64Array.from(bounces).sort(),
  };
  return { ...mailbox, crossedAt: firstCrossing({ ...mailbox, crossedAt: 0 }) };
}

/** Only an email or a bounce can cross the limit. */
function firstCrossing(mailbox: FleetMailbox): number {
  const moments = Float64Array.from([...mailbox.sends, ...mailbox.bounces]).sort();
  return moments.find((at) => at < weekMs && isOver(countsAt(mailbox, at))) ?? Number.POSITIVE_INFINITY;
}
