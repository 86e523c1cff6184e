// A fleet for many simulated days, with another process each day, under faults, failing receivers, reloads, jumps of the clock
// and people: each change is made once, each message arrives once; handles, listeners and the store stay flat. Memory is the other
// part's: here hundreds of daemons live in one process, one after the other.
// WARMWARDEN_SOAK_DAYS: how many, 36 by default; WARMWARDEN_SEED plays it again.

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import { routes } from '../../src/core/answers.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { connectReadOnly } from '../../src/store/file/connection.ts';
import { loadGuardActions } from '../../src/store/history.ts';
import type { Clock } from '../../src/world/world.ts';
import { agencyFleet } from '../../tools/simulator/agency-fleet.ts';
import type { MovedClock } from '../../tools/simulator/moved-clock.ts';
import type { Incident, Scenario } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type MovedDaemon, startMovedDaemon } from '../scenario/moved-daemon.ts';
import { type Chance, chanceFrom, failures, readFaults } from './chance.ts';
import { ChangeBook, flatnessOf, MessageBook, type UnsaidChange } from './checkers.ts';

const days = Number(process.env['WARMWARDEN_SOAK_DAYS'] ?? 36);
const seed = Number(process.env['WARMWARDEN_SEED'] ?? 1);
/** Something goes wrong with another mailbox so often. */
const everyDays = 3;
/** Asked for at the start of a process only. */
const never = '0 3 1 1 *';
const poll = Object.fromEntries(routes.map((route) => [route, never]));
/** What history takes is flat only when it has an end. */
const retention = { history: '7d', messages: '7d' };

const madeFaults = ['applied-but-500', 'applied-but-lost'];

const incidents: readonly Incident[] = Array.from({ length: Math.floor(days / everyDays) }, (_, index): Incident => {
  const mailbox = agencyFleet[index % agencyFleet.length]?.email ?? '';
  const day = everyDays * index + 1;
  const when = { mailbox, from: day * dayMs + hourMs, until: day * dayMs + 9 * hourMs };
  const kinds: readonly Incident[] = [
    { kind: 'bounce', rate: 0.3, ...when },
    { kind: 'dns', records: ['spf'], ...when },
    { kind: 'bounce', rate: 0.3, ...when },
    { kind: 'listing', lists: ['zen.spamhaus.org'], ...when },
    { kind: 'disconnect', error: 'IMAP login failed', ...when },
  ];
  return kinds[index % kinds.length] ?? { kind: 'block', ...when };
});
const scenario: Scenario = { name: 'soak', summary: 'Troubles every few days.', fleet: agencyFleet, incidents };

/** The daemon's clock may jump: its wall time only, as that of a machine does. */
function jumpingClock(moved: MovedClock, jump: { ms: number }): Clock {
  return { now: () => moved.now() + jump.ms, monotonic: moved.monotonic, sleep: moved.sleep, busy: moved.busy };
}

interface Held {
  readonly resources: number[];
  readonly listeners: number[];
  readonly store: number[];
}

function sample(held: Held, stage: MovedDaemon): void {
  held.resources.push(process.getActiveResourcesInfo().length);
  held.listeners.push(process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0));
  const files = ['', '-wal']
    .map((end) => join(stage.folder, `data/warmwarden.db${end}`))
    .filter((file) => existsSync(file));
  held.store.push(files.reduce((sum, file) => sum + statSync(file).size, 0));
}

/** What befalls one day; how the API treats changes that it does not answer with 200. */
async function disturb(stage: MovedDaemon, jump: { ms: number }, chance: Chance): Promise<UnsaidChange> {
  const { faults } = stage.simulator;
  const isMade = chance.below(2) < 1;
  if (chance.below(3) < 1)
    faults.add({ fault: chance.pick(readFaults), method: 'GET', times: 1 + Math.floor(chance.below(6)) });
  if (chance.below(3) < 1) faults.add({ fault: isMade ? chance.pick(madeFaults) : 'reset', method: 'POST', times: 1 });
  if (chance.below(4) < 1) {
    const failure = chance.pick(failures);
    stage.receiver.answer = () => failure;
  }
  if (chance.below(5) < 1) jump.ms = (chance.below(40) - 20) * minuteMs;
  if (chance.below(6) < 1) {
    await stage.reload((config) => {
      config['guard'] = { near_limit: `${70 + Math.floor(chance.below(20))}%` };
    });
  }
  return isMade ? 'made' : 'not_made';
}

/** A person lets paused mailboxes warm up again, now and then. */
async function resumePaused(stage: MovedDaemon): Promise<void> {
  const paused = stage.simulator.fleet.mailboxes().filter(({ running }) => !running);
  for (const { email } of paused) await stage.command('resume', { mailbox: email });
}

test(`for ${days} simulated days`, { timeout: days * 10_000 + 5 * minuteMs }, async () => {
  const jump = { ms: 0 };
  await using stage = await startMovedDaemon({
    scenario,
    poll,
    file: { retention },
    clock: (moved) => jumpingClock(moved, jump),
    expectErrors: ['the API'],
  });
  const chance = chanceFrom(seed);
  const messages = new MessageBook();
  const changes = new ChangeBook(stage.simulator.fleet.mailboxes(), stage.clock.now());
  const held: Held = { resources: [], listeners: [], store: [] };
  await stage.restart((config) => {
    Object.assign(config.alerts, {
      routes: [{ match: {}, channels: ['hook'] }],
      group_wait: '5s',
      group_interval: '30s',
    });
  });

  const settle = (unsaid: UnsaidChange) => {
    messages.take(stage.receiver.notified);
    changes.take(stage.simulator.requests, unsaid);
    stage.posts.length = 0;
  };
  for (let day = 0; day < days; day += 1) {
    await stage.awayUntil(scenarioStart + day * dayMs + (2 + chance.below(8)) * hourMs);
    const unsaid = await disturb(stage, jump, chance);
    await stage.run((2 + chance.below(2)) * minuteMs);
    jump.ms = 0;
    stage.simulator.faults.clear();
    stage.receiver.answer = () => 200;
    await stage.run(2 * minuteMs);
    if (day % 7 === 6) await resumePaused(stage);
    settle(unsaid);
    sample(held, stage);
  }
  await stage.run(hourMs);
  settle('not_made');
  await checkEnd(stage, { messages, changes, held });
});

interface Books {
  readonly messages: MessageBook;
  readonly changes: ChangeBook;
  readonly held: Held;
}

async function checkEnd(stage: MovedDaemon, { messages, changes, held }: Books): Promise<void> {
  const db = connectReadOnly(join(stage.folder, 'data/warmwarden.db'));
  const every = { since: 0, mailbox: null, limit: 100_000 };
  const actions = await loadGuardActions(db, every).finally(() => db.destroy());
  const confirmed = actions.filter(({ state }) => state === 'confirmed').map(changeOf);
  const made = changes.made.filter((change) => !change.endsWith(' resume'));
  const report = {
    ...{ days, seed, changes: made.length, resumed: changes.made.length - made.length },
    ...{ messages: messages.messages, attempts: messages.attempts },
    resources: flatnessOf(held.resources, { share: 0, plus: 4 }),
    listeners: flatnessOf(held.listeners, { share: 0, plus: 0 }),
    store: flatnessOf(held.store, { share: 0.25, plus: 512 * 1024 }),
    alerts: Object.fromEntries([...messages.counts].sort()),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect([changes.repeated, made.toSorted()]).toEqual([[], confirmed.toSorted()]);
  expect(made.length).toBeGreaterThan(0);
  expect([messages.doubled(), messages.lost(), messages.reworded(), messages.disorder]).toEqual([[], [], [], []]);
  // What is confirmed only later is first reported as unconfirmed: one event for each outcome.
  const reported = messages.events.filter((event) => /^(guard_acted|restored) .*:confirmed$/.test(event));
  const done = actions.filter(({ state }) => state === 'confirmed');
  expect(reported.toSorted()).toEqual(
    done.map(({ id, kind }) => `${kind === 'restore' ? 'restored' : 'guard_acted'} ${id}:confirmed`).toSorted(),
  );
  const { resources, listeners, store } = report;
  expect({ resources: resources.flat, listeners: listeners.flat, store: store.flat }).toEqual({
    ...{ resources: true, listeners: true, store: true },
  });
}

function changeOf({ mailboxId, kind, targetMode }: Action): string {
  return `${mailboxId} ${kind === 'pause' ? 'pause' : (targetMode ?? 'recovery')}`;
}
