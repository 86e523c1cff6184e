// A month of the simulated agency in seconds: the whole daemon over real HTTP, on a clock that is moved by hand.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { type MovedClock, movedClock, worldOn } from '../../src/world/world.ts';
import type { LoggedRequest } from '../../tools/simulator/http.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type Simulator, startSimulator } from '../../tools/simulator/simulator.ts';
import { type ReceivedAlert, Receiver } from '../support/receiver.ts';

const breaching = 'amelia.ward@northbeam.example';
const emergency = 'jonas.keller@brightpath.example';
const days = 30;

interface Month {
  readonly clock: MovedClock;
  readonly simulator: Simulator;
  readonly receiver: Receiver;
  readonly daemon: Daemon;
  readonly folder: string;
}

async function begin(): Promise<Month> {
  const clock = movedClock(scenarioStart);
  const world = { ...worldOn(clock, { level: 'silent', format: 'json' }), random: () => 0.5 };
  // A month has thousands of commits; in memory they cost no fsync. Durability has tests of its own.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'warmwarden-month-'));
  const simulator = await startSimulator({ world, scenario: 'bounce-storm' });
  const receiver = await Receiver.start();
  const file = join(folder, 'config.yaml');
  writeFileSync(
    file,
    `
accounts: [{name: agency, base_url: "${simulator.url}", api_key: ${demoKey}}]
poll: {health: "0 * * * *", mailboxes: "0 * * * *", stats: "*/30 9-12,14-16/2 * * *", warmup: "10 */8 * * *",
       mailbox: "20 15 * * *", dns: "25 7,19 * * *", blacklist: "35 15 * * *", stats_interval_min: 0s}
alerts:
  channels:
    - {name: ops, type: slack, url: "${receiver.slackUrl}"}
    - {name: hook, type: webhook, url: "${receiver.hookUrl}", secret: "${receiver.secret}"}
server: {listen: "127.0.0.1:0"}
`,
  );
  const load = () => loadConfig(file, {});
  const started = load();
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  return { clock, simulator, receiver, daemon: await startDaemon({ file, started, load }, world), folder };
}

/** Stops the daemon while its clock goes on: its last steps may wait on it. */
async function end({ clock, simulator, receiver, daemon, folder }: Month): Promise<void> {
  let stopped = false;
  const stopping = daemon.stop().then(() => {
    stopped = true;
  });
  while (!stopped) await clock.advance(1_000);
  await stopping;
  await simulator.close();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}

describe('a month at an agency', () => {
  let month: Month;
  const alerts = (): readonly ReceivedAlert[] => month.receiver.alerts();
  const requests: LoggedRequest[] = [];

  beforeAll(async () => {
    month = await begin();
    for (let day = 0; day < days; day += 1) {
      // The simulator keeps the newest requests only.
      const since = month.clock.now();
      await month.clock.advance(dayMs);
      requests.push(...month.simulator.requests.filter((request) => request.at > since));
    }
  });
  afterAll(() => end(month));

  it('writes three times: a switch to recovery, a pause, and the way back after clean weeks, each by one POST', () => {
    const id = (email: string) => month.simulator.fleet.find(email)?.id;
    const posts = requests.filter((request) => request.method === 'POST');
    expect(posts.map((request) => request.body)).toEqual([
      { mailbox_id: id(breaching), action: 'update_config', config: { warmup_mode: 'recovery' } },
      { mailbox_id: id(emergency), action: 'pause' },
      { mailbox_id: id(breaching), action: 'update_config', config: { warmup_mode: 'balanced' } },
    ]);
  });

  it('acts on the morning of the incidents, never on old bounces, and restores on clean volume', () => {
    const [back, ...actions] = month.daemon.fleet.recentActions();
    expect(back).toMatchObject({ email: breaching, kind: 'restore', state: 'confirmed' });
    expect(back?.verdict.restore?.cleanMails).toBeGreaterThanOrEqual(100);
    expect(back?.verdict.restore?.cleanDays).toBeGreaterThanOrEqual(7);
    expect(actions.map(({ email, kind, state, verdict }) => ({ email, kind, state, reason: verdict.reason }))).toEqual([
      { email: emergency, kind: 'pause', state: 'confirmed', reason: 'emergency' },
      { email: breaching, kind: 'recovery', state: 'confirmed', reason: 'bounce_rate_over_limit' },
    ]);
    for (const action of actions) expect(action.plannedAt - scenarioStart).toBeLessThan(5 * hourMs);
  });

  it('tells each thing once, reminds of what lasts, and tells what ended as ended', () => {
    const counts = new Map<string, number>();
    for (const { rule, status } of alerts().filter((alert) => alert.status !== 'reminder'))
      counts.set(`${rule} ${status}`, (counts.get(`${rule} ${status}`) ?? 0) + 1);
    expect(Object.fromEntries([...counts].sort())).toEqual({
      'blacklisted firing': 1,
      'blacklisted resolved': 1,
      'dns_failing firing': 1,
      'dns_failing resolved': 1,
      'guard_acted event': 2,
      'reputation_low firing': 2,
      'reputation_low resolved': 2,
      'mailbox_unwell firing': 1,
      'mailbox_unwell resolved': 1,
    });
    // What lasts is brought to mind, but neither a symptom nor what has ended.
    const lasting = alerts().filter(({ status }) => status === 'reminder');
    expect(new Set(lasting.map(({ rule }) => rule))).toEqual(new Set(['blacklisted', 'dns_failing', 'mailbox_unwell']));
    expect(
      alerts()
        .filter(({ rule }) => rule === 'guard_acted')
        .map(({ mailbox }) => mailbox),
    ).toEqual([breaching, emergency]);
  });

  it('keeps the paused mailbox paused, and claims the other one no longer', () => {
    const state = (email: string) => [...month.daemon.fleet.mailboxes()].find((mailbox) => mailbox.email === email);
    expect(state(emergency)?.verdict?.answer.reason).toBe('already_paused');
    expect(state(breaching)?.memory).toMatchObject({ mode: 'balanced', claim: null });
    expect(state(breaching)?.verdict?.answer.reason).toBe('ok');
  });

  it('never earned a 429', () => {
    expect(requests.length).toBeGreaterThan(5_000);
    expect(requests.filter((request) => request.status === 429)).toEqual([]);
  });
});
