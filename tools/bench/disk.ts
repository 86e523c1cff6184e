// `npm run bench -- disk`: how long /healthz waits while the disk takes 20 ms more for each sync, and a storm comes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { asker, GuardedFleet } from './daemon/fleet.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { measured, tableOf } from './targets.ts';

const bench = 'disk';
const source = fileURLToPath(new URL('./disk/slow-sync.c', import.meta.url));
const shape = { accounts: 4, mailboxesPerAccount: 500 };
const addedMs = 20;
const askEveryMs = 50;
const whole = { settleMs: 20_000, calmMs: 60_000, stormMs: 180_000 };
const shortened = { settleMs: 10_000, calmMs: 20_000, stormMs: 40_000 };

/** Asks /healthz at an even pace, whether or not the answers before have come; milliseconds of each answer. */
async function waitsOf(url: string, forMs: number): Promise<readonly number[]> {
  const agent = new Agent({ connections: 100 });
  const waits: number[] = [];
  const ask = async () => {
    const began = performance.now();
    const { body } = await request(new URL('/healthz', url), { dispatcher: agent });
    await body.dump();
    waits.push(performance.now() - began);
  };
  const began = performance.now();
  const asked: Promise<void>[] = [];
  while (performance.now() - began < forMs) {
    asked.push(ask());
    await sleep(Math.max(0, began + asked.length * askEveryMs - performance.now()));
  }
  await Promise.all(asked);
  await agent.close();
  return waits.sort((a, b) => a - b);
}

async function healthz(name: string, library: string, slowMs: number, times: typeof whole): Promise<readonly Figure[]> {
  await using fleet = await GuardedFleet.filled(shape);
  const count = `${library}.${name}`;
  const env = { LD_PRELOAD: library, SLOW_SYNC_MS: String(slowMs), SLOW_SYNC_COUNT: count };
  const daemon = await fleet.launch({}, env);
  await daemon.isOnDuty();
  await sleep(times.settleMs);
  const stormComes = sleep(times.calmMs).then(() => fleet.api.notified(asker, 'storm'));
  const waits = await waitsOf(daemon.url, times.calmMs + times.stormMs);
  await stormComes;
  const syncs = statSync(count, { throwIfNoEntry: false })?.size ?? 0;
  if (syncs === 0) throw new Error('the preloaded library saw no sync');
  const figure = (measure: string, ours: number) => measured({ bench, figure: `${name}/${measure}`, ours, peer: null });
  return [
    figure('healthz_ms_p99', waits[Math.floor(waits.length * 0.99)] ?? Number.NaN),
    figure('healthz_ms_max', waits.at(-1) ?? Number.NaN),
    figure('syncs', syncs),
  ];
}

/** The benchmark. Takes ten minutes; small: three. Without a C compiler it says so, and has no figures. */
export async function diskBenchmark({ small }: BenchOptions): Promise<readonly Figure[]> {
  const times = small ? shortened : whole;
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-disk-'));
  const library = join(folder, 'slow-sync.so');
  try {
    if (!isBuilt(library)) return [];
    const figures = [
      ...(await healthz('slow', library, addedMs, times)),
      ...(await healthz('as_it_is', library, 0, times)),
    ];
    process.stderr.write(`${tableOf(figures, 'peer')}\n`);
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isBuilt(library: string): boolean {
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl']);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    process.stderr.write(`${bench}: skipped, because there is no C compiler (cc)\n`);
    return false;
  }
}
