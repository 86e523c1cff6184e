// What a scrape costs the installed daemon while it polls 10,000 mailboxes at the shipped cadences.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDaemon } from '../daemon/daemon.ts';
import { GuardedFleet } from '../daemon/fleet.ts';
import { scrape } from '../daemon/scrapes.ts';

const shape = { accounts: 20, mailboxesPerAccount: 500 };
const scrapeEveryMs = 15_000;
/** The collector and the compressor finish their work after the answer. */
const afterMs = 2_000;
const scrapes = 9;

/**
 * CPU milliseconds of the process for a scrape, the median, less what the polls meanwhile take as they do without one. The
 * first scrape is not counted.
 */
export async function liveScrapeMs(): Promise<number> {
  await using fleet = await GuardedFleet.filled(shape);
  const daemon = await fleet.launch();
  await daemon.isOnDuty();
  await scrape(daemon);
  const costs: number[] = [];
  for (let n = 0; n < scrapes; n += 1) {
    const polling = await costOf(fleet, daemon, () => sleep(scrapeEveryMs - afterMs));
    const scraping = await costOf(fleet, daemon, () => scrape(daemon).then(() => sleep(afterMs)));
    costs.push(scraping.cpuMs - (polling.cpuMs * scraping.polls) / polling.polls);
  }
  return costs.sort((a, b) => a - b)[Math.floor(scrapes / 2)] ?? Number.NaN;
}

async function costOf(fleet: GuardedFleet, daemon: BenchDaemon, work: () => Promise<unknown>) {
  const before = await fleet.spent(daemon);
  await work();
  const after = await fleet.spent(daemon);
  return { cpuMs: after.cpuMs - before.cpuMs, polls: after.polls - before.polls };
}
