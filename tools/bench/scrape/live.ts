// What a scrape costs the whole daemon while it polls, at the shipped defaults.
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchApi, total } from '../daemon/api.ts';
import { fillStore } from '../daemon/clone.ts';
import { BenchDaemon, configure, Workplace } from '../daemon/daemon.ts';
import { counted } from '../daemon/process.ts';
import { scrape } from '../daemon/scrapes.ts';

const mailboxesPerAccount = 200;
const scrapeEveryMs = 15_000;
const scrapes = 9;

/**
 * CPU milliseconds of the process during a scrape, the median, less what the polls meanwhile take as they do without one. The
 * first scrape is not counted.
 */
export async function liveScrapeMs(mailboxes: number): Promise<number> {
  const shape = { accounts: mailboxes / mailboxesPerAccount, mailboxesPerAccount, changedShare: 0.3 };
  using place = new Workplace();
  await fillStore(place, shape);
  await using api = await BenchApi.start(shape);
  await using daemon = await BenchDaemon.start(await configure(place, api));
  await scrape(daemon);
  const costs: number[] = [];
  for (let n = 0; n < scrapes; n += 1) {
    const polling = await costOf(daemon, api, () => sleep(scrapeEveryMs));
    const scraping = await costOf(daemon, api, () => scrape(daemon));
    costs.push(scraping.cpuMs - (polling.cpuMs * scraping.polls) / polling.polls);
  }
  return costs.sort((a, b) => a - b)[Math.floor(scrapes / 2)] ?? Number.NaN;
}

async function costOf(daemon: BenchDaemon, api: BenchApi, work: () => Promise<unknown>) {
  const pollsSoFar = async () => total((await api.notified('daemon')).polls);
  const [before, polls] = [counted(daemon.pid).cpuMs, await pollsSoFar()];
  await work();
  return { cpuMs: counted(daemon.pid).cpuMs - before, polls: (await pollsSoFar()) - polls };
}
