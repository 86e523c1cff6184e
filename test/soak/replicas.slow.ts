// Replicas that come and go for real minutes on one PostgreSQL, while mailboxes breach and a person commands: nothing happens
// twice, nothing is lost, and what the one replica holds whose process never ends stays flat, as does the database.
// WARMWARDEN_SOAK_MINUTES: how long, 0.5 by default; WARMWARDEN_SEED draws the same again (not the machine's moments).
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { mallocSettings, nodeFlags } from '../../tools/bench/daemon/package.ts';
import { Play } from '../scenario/replica-play.ts';
import { TestPostgres } from '../support/postgres.ts';
import { ReplicaCrew, type Slot } from '../support/replica-crew.ts';
import { Scrape } from '../support/scrape.ts';
import { flatnessOf } from './flatness.ts';
import { ProcessFigures } from './process-figures.ts';

const minutes = Number(process.env['WARMWARDEN_SOAK_MINUTES'] ?? 0.5);
const seed = Number(process.env['WARMWARDEN_SEED'] ?? 1);
const sampleEveryMs = 2 * secondMs;
/** A short run has fewer files and connections while an outage lasts: below this nothing is said about what is flat. */
const tellingMinutes = 4;
/** Of the image: left to itself, glibc keeps what was given back, and that looks like a leak. */
const settings = { ...mallocSettings, NODE_OPTIONS: nodeFlags.join(' ') };
/** A frozen process answers no scrape. */
const scrapeMs = secondMs;

/** Of the database, sample by sample. */
class DatabaseFigures {
  readonly #bytes: number[] = [];
  readonly #connections: number[] = [];

  async take(crew: ReplicaCrew): Promise<void> {
    const [row] = await crew.query<{ bytes: string; connections: string }>(
      `SELECT pg_database_size(current_database()) AS bytes,
        (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections`,
    );
    this.#bytes.push(Number(row?.bytes));
    this.#connections.push(Number(row?.connections));
  }

  report() {
    return {
      store: flatnessOf(this.#bytes, { share: 0.5, plus: 4e6 }),
      connections: flatnessOf(this.#connections, { share: 0, plus: 8 }),
    };
  }
}

async function scraped(slot: Slot): Promise<Scrape | null> {
  try {
    const answer = await fetch(`${await slot.url}/metrics`, { signal: AbortSignal.timeout(scrapeMs) });
    return new Scrape(await answer.text());
  } catch {
    return null;
  }
}

test(`replicas come and go for ${minutes} minutes of real time`, { timeout: (minutes + 9) * minuteMs }, async () => {
  await using postgres = await TestPostgres.start();
  await using crew = await ReplicaCrew.start(postgres, 3, ['a', 'b', 'c', 'd'], { envOf: () => settings });
  const [spared] = crew.slots;
  if (!spared) throw new Error('three replicas');
  const pid = spared.daemon.pid;
  const play = new Play(crew, seed, spared);
  const figures = new ProcessFigures();
  const database = new DatabaseFigures();
  const over = new AbortController();
  const sampling = (async () => {
    while (!over.signal.aborted) {
      const scrape = await scraped(spared);
      if (scrape) figures.take(scrape);
      await database.take(crew);
      await sleep(sampleEveryMs);
    }
  })();

  const begun = performance.now();
  do await play.round();
  while (performance.now() - begun < minutes * minuteMs);
  const played = await play.end();
  over.abort();
  await sampling;

  const report = { minutes, seed, ...played, ...figures.report(), ...database.report() };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect([spared.daemon.pid, spared.daemon.over]).toEqual([pid, false]);
  // Of those that were killed nothing is left.
  const left = await crew.query<{ replicas: string; fences: string }>(
    'SELECT (SELECT count(*) FROM warmwarden.replicas) AS replicas, (SELECT count(*) FROM warmwarden.fences) AS fences',
  );
  expect(left).toEqual([{ replicas: '3', fences: '3' }]);
  const { rss, heap, files, resources, store, connections } = report;
  if (minutes >= tellingMinutes)
    for (const [what, { flat }] of Object.entries({ rss, heap, files, resources, store, connections }))
      expect([what, flat]).toEqual([what, true]);
});
