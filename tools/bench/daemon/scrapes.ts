// Prometheus, as far as a daemon can tell: it scrapes every 15 s and asks for gzip.
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { BenchDaemon } from './daemon.ts';

const scrapeEveryMs = 15_000;

/** One scrape. */
export async function scrape(daemon: BenchDaemon): Promise<void> {
  const { body } = await request(new URL('/metrics', daemon.url), { headers: { 'accept-encoding': 'gzip' } });
  await body.arrayBuffer();
}

/** The daemon is scraped for that long. */
export async function scraped(daemon: BenchDaemon, forMs: number): Promise<void> {
  const began = performance.now();
  for (let left = forMs; left > 0; left = began + forMs - performance.now()) {
    await sleep(Math.min(left, scrapeEveryMs));
    await scrape(daemon);
  }
}
