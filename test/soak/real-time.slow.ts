// A real process for real minutes, under faults, failing receivers, troubles, scrapes and reloads: what it holds stays flat,
// and every message arrives once. WARMWARDEN_SOAK_MINUTES: how long, 0.5 by default; WARMWARDEN_SEED plays it again.

import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { routes } from '../../src/core/answers.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { systemClock } from '../../src/world/world.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { startSimulator } from '../../tools/simulator/simulator.ts';
import { runDaemon, Workplace } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { type Scrape, scrape } from '../support/scrape.ts';
import { silentWorld } from '../support/silent-world.ts';
import { until } from '../support/until.ts';
import { chanceFrom, failures, readFaults } from './chance.ts';
import { type Flatness, flatnessOf, MessageBook } from './checkers.ts';

const minutes = Number(process.env['WARMWARDEN_SOAK_MINUTES'] ?? 0.5);
const seed = Number(process.env['WARMWARDEN_SEED'] ?? 1);
const stepMs = secondMs;
const sampleEverySteps = 2;
/** The start fills pools, pages and caches: below this nothing is said about memory. */
const tellingMinutes = 4;

const troubles = ['breach', 'dns-failure', 'disconnect', 'repair', 'repair', 'repair'];

const memorySlack = { rss: { share: 0.1, plus: 16e6 }, heap: { share: 0.25, plus: 16e6 } };

/** What the process holds, sample by sample, from its own metrics. */
class ProcessFigures {
  readonly #rss: number[] = [];
  readonly #heap: number[] = [];
  readonly #files: number[] = [];
  readonly #resources: number[] = [];

  take({ samples }: Scrape): void {
    const of = (name: string) => samples.find((one) => one.name === name)?.value ?? Number.NaN;
    this.#rss.push(of('process_resident_memory_bytes'));
    this.#heap.push(of('nodejs_heap_size_used_bytes'));
    this.#files.push(of('process_open_fds'));
    const active = samples.filter(({ name }) => name === 'nodejs_active_resources' || name === 'nodejs_active_handles');
    this.#resources.push(active.reduce((sum, { value }) => sum + value, 0));
  }

  /** Memory tells something once pools, pages and caches are full: after some minutes. */
  report(): Record<'rss' | 'heap' | 'files' | 'resources', Flatness> {
    return {
      rss: flatnessOf(this.#rss, memorySlack.rss),
      heap: flatnessOf(this.#heap, memorySlack.heap),
      files: flatnessOf(this.#files, { share: 0, plus: 8 }),
      resources: flatnessOf(this.#resources, { share: 0, plus: 8 }),
    };
  }
}

/** The simulator refuses what makes no sense, as a breach of a mailbox that sends nothing. */
async function befall(url: string, kind: string, target: string): Promise<void> {
  const { status } = await fetch(`${url}/admin/troubles`, { method: 'POST', body: JSON.stringify({ kind, target }) });
  expect([201, 400, 409]).toContain(status);
}

test(`for ${minutes} minutes of real time`, { timeout: (minutes + 5) * minuteMs }, async () => {
  using place = new Workplace();
  const clock = systemClock();
  const keys = [{ key: demoKey, permissions: ['read', 'write'], plan: 'enterprise' }] as const;
  const world = silentWorld(clock);
  await using simulator = await startSimulator({ world, scenario: 'calm', keys, seed });
  await using receiver = await Receiver.start();
  const written = {
    accounts: [{ name: 'agency', base_url: simulator.url, api_key: demoKey, plan: 'enterprise' }],
    poll: Object.fromEntries(routes.map((route) => [route, '*/5 * * * * *'])),
    guard: { near_limit: '80%' },
    alerts: {
      channels: [{ name: 'hook', type: 'webhook', url: receiver.hookUrl, secret: receiver.secret }],
      routes: [{ match: {}, channels: ['hook'] }],
      group_wait: '1s',
      group_interval: '5s',
    },
    server: { listen: '127.0.0.1:0' },
  };
  const config = place.configure(written);
  await using daemon = runDaemon(config);
  const url = await daemon.onDuty();
  const chance = chanceFrom(seed);
  const book = new MessageBook();
  const figures = new ProcessFigures();
  const storeBytes: number[] = [];
  const emails = simulator.fleet.mailboxes().map(({ email }) => email);
  const begun = clock.monotonic();

  const disturb = async () => {
    const what = chance.below(10);
    if (what < 1) simulator.faults.add({ fault: chance.pick(readFaults), times: 1 + Math.floor(chance.below(3)) });
    else if (what < 4) await befall(simulator.url, chance.pick(troubles), chance.pick(emails));
    else if (what < 5) {
      const failure = chance.pick(failures);
      receiver.answer = () => failure;
    } else if (what < 8) receiver.answer = () => 200;
    else if (what < 8.3) {
      place.configure({ ...written, guard: { near_limit: `${70 + Math.floor(chance.below(20))}%` } });
      daemon.kill('SIGHUP');
    }
  };
  const sample = async () => {
    figures.take(await scrape(url));
    const sizes = ['', '-wal'].map((end) => statSync(place.path(`data/warmwarden.db${end}`)).size);
    storeBytes.push(sizes.reduce((sum, size) => sum + size));
  };

  for (let step = 0; clock.monotonic() - begun < minutes * minuteMs; step += 1) {
    await disturb();
    if (step % sampleEverySteps === 0) await sample();
    book.take(receiver.notified);
    await clock.sleep(stepMs);
  }

  simulator.faults.clear();
  receiver.answer = () => 200;
  const waiting = async () => {
    return (await scrape(url)).value('outbox_pending', { channel: 'hook' }) === 0;
  };
  await until('nothing waits to be sent', waiting);
  book.take(receiver.notified);
  const report = {
    minutes,
    seed,
    requests: simulator.requests.length,
    messages: book.messages,
    attempts: book.attempts,
    ...figures.report(),
    store: flatnessOf(storeBytes, { share: 1, plus: 4e6 }),
    alerts: Object.fromEntries(book.counts),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect([book.doubled(), book.lost(), book.reworded()]).toEqual([[], [], []]);
  expect(book.messages).toBeGreaterThan(0);
  expect([report.files.flat, report.resources.flat]).toEqual([true, true]);
  if (minutes >= tellingMinutes)
    expect([report.rss.flat, report.heap.flat, report.store.flat]).toEqual([true, true, true]);
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toEqual({ code: 0, signal: null });
});
