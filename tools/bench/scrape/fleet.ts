// A fleet of any size for the scrape benchmark, and an eighth of it that changes as a round of stats polls would change it.
import { Fleet } from '../../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { minuteMs } from '../../../src/core/time.ts';
import { account, mailbox, now, rows, verdict } from '../../../test/web/example-fleet.ts';
import { seededChance, seedOf } from '../guard/chance.ts';

/** One key at 500 requests a minute polls an eighth of 1,000 mailboxes in 15 seconds. */
const mailboxesPerAccount = 1_000;
const changedShare = 1 / 8;
const daysOfStats = 30;

/** Shared between mailboxes: this measures scrapes, not the memory of statistics. */
const histories = Array.from({ length: 64 }, (_, seed) => ({
  rows: rows(daysOfStats, [seed % 13 === 0 ? 1 : 0, 0, 0], 20 + (seed % 17)),
}));
const nothing = { rows: null };

/** The mailbox as its `poll`-th stats poll leaves it. Everything of it is known. */
function mailboxOf(index: number, poll: number): MailboxState {
  const at = now + (index % minuteMs) + poll * 15 * minuteMs;
  const bounced = (index + poll) % 13 === 0 ? 1 : 0;
  const counts = { sent: 150 + ((index + poll) % 97), bounced, bouncesUntilBreach: 2 - bounced };
  return mailbox(`mbx_${index.toString(36)}`, `ada.moss.${index}@outreach-${index % 997}.example`, {
    account: accountOf(index),
    stats: { at, answer: histories[(index + poll) % histories.length] ?? nothing },
    verdict: { at, answer: verdict(counts) },
  });
}

function accountOf(index: number): string {
  return `agency-${Math.floor(index / mailboxesPerAccount)}`;
}

export interface BenchFleet {
  readonly fleet: Fleet;
  /** What the next polls bring: an eighth of the fleet, the one behind the last. Not yet in the fleet. */
  nextChange(): readonly MailboxState[];
  /** As many, at random places: risk decides whom a daemon polls next, not the place in the fleet. */
  nextScattered(): readonly MailboxState[];
}

export function benchFleet(size: number): BenchFleet {
  const fleet = new Fleet();
  for (let index = 0; index < size; index += 1) {
    if (index % mailboxesPerAccount === 0) fleet.putAccount(account(accountOf(index)));
    fleet.putMailbox(mailboxOf(index, 0));
  }
  const changed = Math.floor(size * changedShare);
  let polls = 0;
  const random = seededChance(seedOf(size));
  return {
    fleet,
    nextChange() {
      const from = polls * changed;
      polls += 1;
      return Array.from({ length: changed }, (_, n) => mailboxOf((from + n) % size, polls));
    },
    nextScattered() {
      polls += 1;
      const places = new Set<number>();
      while (places.size < changed) places.add(Math.floor(random() * size));
      return [...places].map((index) => mailboxOf(index, polls));
    },
  };
}
