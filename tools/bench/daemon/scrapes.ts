// Prometheus, as far as a daemon can tell: it scrapes every 15 s and asks for gzip.
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { BenchDaemon } from './daemon.ts';

const scrapeEveryMs = 15_000;

/** Reads what the daemon serves, compressed. */
export async function read(daemon: BenchDaemon, path: string): Promise<void> {
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip' };
  const { body, statusCode } = await request(new URL(path, daemon.url), { headers });
  await body.arrayBuffer();
  if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`);
}

/** One scrape. */
export const scrape = (daemon: BenchDaemon): Promise<void> => read(daemon, '/metrics');

/** The daemon is scraped for that long. */
export async function scraped(daemon: BenchDaemon, forMs: number): Promise<void> {
  const began = performance.now();
  for (let left = forMs; left > 0; left = began + forMs - performance.now()) {
    await sleep(Math.min(left, scrapeEveryMs));
    await scrape(daemon);
  }
}
