// What an agency's people would get: the recorder, the alerts, the incidents and the collector of the daemon, on a moved
// clock and a store of their own, with channels that count what they were to send.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GroupCommit, Turns } from '../../../src/account/commit/group-commit.ts';
import { Recorder } from '../../../src/account/record/recorder.ts';
import type { GroupMessage } from '../../../src/alerts/grouping.ts';
import type { Channel } from '../../../src/channels/channel.ts';
import { type ChannelSettings, createChannel } from '../../../src/channels/channels.ts';
import { alertsWithProxy } from '../../../src/config/config.ts';
import type { Transition } from '../../../src/core/alert.ts';
import { defaultRuleSettings } from '../../../src/core/alert-rules.ts';
import { Fleet } from '../../../src/core/fleet/fleet.ts';
import { domainOf } from '../../../src/core/mailbox.ts';
import { defaultPolicy } from '../../../src/core/policy.ts';
import { noTally } from '../../../src/core/records.ts';
import type { EpochMs } from '../../../src/core/time.ts';
import { Collector } from '../../../src/outbox/collector.ts';
import type { OutboxStore } from '../../../src/outbox/outbox-store.ts';
import { StoreHealth, StoreWatch } from '../../../src/outbox/store-watch.ts';
import { Store } from '../../../src/store/store.ts';
import { Loops } from '../../../src/world/loop.ts';
import { type World, worldOn } from '../../../src/world/world.ts';
import { type MovedClock, movedClock } from '../../simulator/moved-clock.ts';
import { seededChance } from '../guard/chance.ts';

export const account = 'agency';
export const api = 'https://api.example';
const page = { pageUrl: 'http://127.0.0.1:7025', publicUrl: null };
const nowhere = 'http://127.0.0.1:1/';
/** Channels of a file that writes no routes: the configuration adds the default ones. */
const writtenChannels = [
  { type: 'slack', name: 'slack', url: nowhere },
  { type: 'pagerduty', name: 'pagerduty', url: nowhere, routing_key: 'k'.repeat(32) },
];

/** A message that a channel was given. */
export interface Heard {
  readonly channel: string;
  readonly at: EpochMs;
  /** The rules of its alerts; of an incident its id. */
  readonly rules: readonly string[];
  readonly incident: string | null;
  /** The domains that its alerts, or its incident, are about. */
  readonly domains: readonly string[];
  readonly title: string;
}

export interface Desk extends Disposable {
  readonly clock: MovedClock;
  readonly fleet: Fleet;
  readonly recorder: Recorder;
  readonly heard: readonly Heard[];
  /** Until then polls were due and brought nothing. */
  missedSince: EpochMs | null;
  /** The store takes nothing. */
  storeIsFull: boolean;
  collect(): Promise<void>;
  watchStore(): Promise<void>;
  /** What one message an alert would be: every step that is critical or a warning. */
  transitions(): readonly Transition[];
  close(): Promise<void>;
}

export async function openDesk(at: EpochMs, seed: number): Promise<Desk> {
  const clock = movedClock(at);
  const chance = seededChance(seed);
  const world = { ...worldOn(clock, { level: 'silent', format: 'json' }), random: chance };
  const folder = mkdtempSync(join(memoryFolder(), 'warmwarden-noise-'));
  const file = join(folder, 'warmwarden.db');
  const store = await Store.open(file, at);
  const fleet = new Fleet();
  const heard: Heard[] = [];
  const { alerts } = alertsWithProxy.parse({ alerts: { channels: writtenChannels } });
  const channels = countingChannels(world, heard, alerts.channels);
  const settings = () => alerts;
  const parts = { world, fleet, channels: () => channels, settings, recorded: () => {} };
  const apiOf = () => api;
  const collector = new Collector({ ...parts, store, pageUrl: page.pageUrl, apiOf });
  const turns = new Turns(clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  const rooms = { world, store, fleet, tally: noTally, turns, group, onTransitions: () => collector.noticed() };
  const recorder = new Recorder(rooms, {
    account,
    policyFor: () => defaultPolicy,
    selects: () => true,
    expects: () => [],
    patterns: () => ({ ofAccount: [], ofRoutes: [], accounts: [] }),
    words: { paused: ['paused'], running: ['active'], notRunning: [] },
    rules: () => defaultRuleSettings,
    api,
    accountsOfApi: () => [account],
    others: { tookFrom: () => {}, askLists: () => {} },
    ended: () => false,
    keyWrites: () => null,
    staleBefore: () => desk.missedSince ?? Number.NEGATIVE_INFINITY,
    staleMeasurement: () => ({ olderThanMs: Number.POSITIVE_INFINITY, unreadSince: Number.NEGATIVE_INFINITY }),
    isFirstLook: () => false,
    seenAgain: () => true,
  });
  const desk: Desk = {
    clock,
    fleet,
    recorder,
    heard,
    missedSince: null,
    storeIsFull: false,
    collect: async () => void (await collector.step()),
    watchStore: async () => void (await storeWatch.step()),
    transitions: () => storedTransitions(file),
    close: async () => {
      await group.stop();
      await store.close();
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
  const watched = { ...parts, store: failing(store, () => desk.storeIsFull) };
  const storeWatch = new StoreWatch({ ...watched, loops: new Loops(world), health: new StoreHealth(watched) });
  return desk;
}

/** Nothing that is counted here depends on the disk, which would be most of the time. */
function memoryFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

/** Real channels, which render what they would send; nothing leaves the machine. */
function countingChannels(world: World, heard: Heard[], written: readonly ChannelSettings[]): readonly Channel[] {
  const parts = { world, ...page, timeZone: () => 'UTC' };
  const made = written.map((settings) => createChannel(settings, parts));
  return made.map((channel) => ({
    ...channel,
    render: (message: GroupMessage) => {
      const rendered = channel.render(message);
      if (rendered) heard.push(heardOf(channel.name, message, rendered.title));
      return rendered;
    },
    send: async () => ({ kind: 'sent' }),
  }));
}

function heardOf(channel: string, { at, transitions, incident }: GroupMessage, title: string): Heard {
  const rules = [...new Set(transitions.map(({ alert }) => alert.rule))];
  const named = transitions.map(({ alert }) => (alert.email === null ? alert.object : domainOf(alert.email)));
  const domains = [...new Set([...named, incident?.cause.value ?? null])].filter((name) => name !== null);
  return { channel, at, rules, incident: incident?.id ?? null, domains, title };
}

/** The store as a full disk makes it, while it is. */
function failing(store: Store, isFull: () => boolean): OutboxStore {
  let failures = 0;
  let failed = () => {};
  const newest = { said: 'database or disk is full', remedy: 'Free space on the disk.', lasting: false };
  return {
    outbox: store.outbox,
    recordAlerts: (changes) => (isFull() ? Promise.reject(new Error(newest.said)) : store.recordAlerts(changes)),
    keepOutage: (outage) => store.keepOutage(outage),
    keepStops: (stops) => store.keepStops(stops),
    outage: () => store.outage(),
    endOutage: (changes, begunAt) => store.endOutage(changes, begunAt),
    get trouble() {
      return { failures, newest: failures === 0 ? null : newest, isOver: !isFull() };
    },
    forgetTrouble: () => {},
    onTrouble: (listener) => {
      failed = listener;
    },
    proveWritable: async (now) => {
      if (!isFull()) return store.proveWritable(now);
      failures += 1;
      failed();
      throw new Error(newest.said);
    },
  };
}

function storedTransitions(file: string): readonly Transition[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare('SELECT transition FROM transitions').all();
  db.close();
  return rows.map(({ transition }) => JSON.parse(String(transition)));
}
