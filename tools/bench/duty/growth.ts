// By how much a day of calm mailboxes makes the store grow: the whole daemon and the simulator on a clock that is moved by hand.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { loadConfig } from '../../../src/config/load.ts';
import { pathOf } from '../../../src/core/store-failure.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import { worldOn } from '../../../src/world/world.ts';
import { demoKey } from '../../simulator/keys.ts';
import { movedClock } from '../../simulator/moved-clock.ts';
import type { Scenario } from '../../simulator/scenario.ts';
import { startSimulator } from '../../simulator/simulator.ts';

const dayMs = 86_400_000;
/** A Monday, so that every day is a sending day. */
const startAt = Date.UTC(2026, 2, 9);
const warmDays = 1;
const measuredDays = 2;
const mailboxes = 10;

/** They send all day long, at the height of balanced mode: 40 emails a day, none of which bounces. */
const calmFleet: Scenario = {
  name: 'calm',
  summary: 'Mailboxes that send and do not bounce.',
  fleet: Array.from({ length: mailboxes }, (_, index) => ({
    email: `ada.moss.${index}@outreach-${index}.example`,
    provider: 'google',
    mode: 'balanced',
    startedDaysAgo: 60,
    weekdaysOnly: false,
    sendWindow: [8, 18],
  })),
  incidents: [],
};

/** Statistics every five minutes, as extra polls read them; one list a quarter of an hour costs the moved clock less. */
const poll = { health: '*/15 * * * *', mailboxes: '*/15 * * * *', stats: '*/5 * * * *', stats_interval_min: '0s' };

/** Bytes in use: pages without what is free in them. */
function usedBytes(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  return Number(database.prepare('SELECT sum(pgsize - unused) AS used FROM dbstat').get()?.['used']);
}

/** Bytes a mailbox and day. */
export async function growthBytes(): Promise<number> {
  const clock = movedClock(startAt);
  const world = { ...worldOn(clock, { level: 'silent', format: 'json' }), random: () => 0.5 };
  // What is counted is bytes, not commits: in memory these cost no sync.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warmwarden-growth-'));
  const simulator = await startSimulator({ world, scenario: calmFleet });
  const file = join(folder, 'config.yaml');
  const accounts = [{ name: 'agency', base_url: simulator.url, api_key: demoKey }];
  writeFileSync(file, JSON.stringify({ accounts, poll, server: { listen: '127.0.0.1:0' } }));
  const load = () => loadConfig(file, {});
  const started = load();
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  const daemon = await startDaemon({ file, started, load }, world);
  try {
    await clock.advance(warmDays * dayMs);
    const before = usedBytes(pathOf(started.config.store));
    await clock.advance(measuredDays * dayMs);
    return (usedBytes(pathOf(started.config.store)) - before) / (mailboxes * measuredDays);
  } finally {
    let stopped = false;
    const stopping = daemon.stop().then(() => {
      stopped = true;
    });
    // Its last steps may wait on the clock.
    while (!stopped) await clock.advance(1_000);
    await stopping;
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
