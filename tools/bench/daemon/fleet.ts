// A fleet behind its API, and the daemon that guards it: stopped, and started again on the same store.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchApi, total } from './api.ts';
import type { FleetShape } from './bodies.ts';
import { BenchDaemon, configure, type Environment, type Settings, Workplace } from './daemon.ts';
import { type Counted, counted } from './process.ts';
import { startReceiver } from './receiver.ts';

export const asker = 'daemon';
const never = '0 0 1 1 *';
/** Reads everything once, as fast as the process can, and nothing again. */
const readsOnce: Settings = {
  accounts: { requests_per_minute: 100_000, headroom: '0%' },
  poll: {
    ...{ health: never, mailboxes: never, stats: never, warmup: never, mailbox: never, dns: never, blacklist: never },
    stats_interval_min: '0s',
  },
};
const fillLimitMs = 1_800_000;
/** The least time between two reads of a mailbox at the shipped cadences: before that, a restarted daemon has next to nothing to ask. */
const readAgainMs = 62_000;
const settleMs = 2_000;
const lookEveryMs = 200;

/** What the daemon has spent and asked so far. */
export interface Spent extends Counted {
  readonly polls: number;
}

export class GuardedFleet implements AsyncDisposable {
  readonly api: BenchApi;
  readonly #place = new Workplace();
  readonly #receiver: Awaited<ReturnType<typeof startReceiver>>;
  #daemon: BenchDaemon | null = null;

  private constructor(api: BenchApi, receiver: Awaited<ReturnType<typeof startReceiver>>) {
    this.api = api;
    this.#receiver = receiver;
  }

  /** A fleet whose store has every answer, a minute old; no daemon runs. */
  static async filled(shape: Omit<FleetShape, 'changedShare'>): Promise<GuardedFleet> {
    const api = await BenchApi.start({ ...shape, changedShare: 0.3 });
    const fleet = new GuardedFleet(api, await startReceiver());
    const daemon = await fleet.launch(readsOnce);
    await daemon.isOnDuty();
    const began = performance.now();
    const isFilled = async () => {
      await sleep(lookEveryMs);
      return (await api.notified(asker)).unread === 0;
    };
    await daemon.until('every question was asked', isFilled, fillLimitMs);
    const pace = Math.round((1_000 * (await fleet.polls())) / (performance.now() - began));
    process.stderr.write(`bench: a store of ${fleet.mailboxes} mailboxes was filled at ${pace} polls a second\n`);
    await sleep(settleMs);
    await daemon.stop();
    await sleep(readAgainMs);
    return fleet;
  }

  get mailboxes(): number {
    return this.api.shape.accounts * this.api.shape.mailboxesPerAccount;
  }

  /** The file of the store. */
  get store(): string {
    return join(this.#place.folder, 'data', 'warmwarden.db');
  }

  /** Starts the daemon's process on the store, by default with the shipped cadences, and does not wait for it. */
  async launch(settings: Settings = {}, env: Environment = {}): Promise<BenchDaemon> {
    await this.#daemon?.stop();
    const config = await configure(this.#place, this.api, { alerts: this.#receiver.alerts, ...settings });
    this.#daemon = BenchDaemon.launch(config, env);
    return this.#daemon;
  }

  /** Starts the daemon and returns its CPU time up to its first request, milliseconds. */
  async cpuToFirstPoll(): Promise<{ readonly daemon: BenchDaemon; readonly cpuMs: number }> {
    const before = await this.polls();
    const daemon = await this.launch();
    await daemon.until('its first request', async () => (await this.polls()) > before, fillLimitMs);
    return { daemon, cpuMs: counted(daemon.pid).cpuMs };
  }

  async spent(daemon: BenchDaemon): Promise<Spent> {
    return { ...counted(daemon.pid), polls: await this.polls() };
  }

  /** Requests that the API answered so far. */
  async polls(): Promise<number> {
    return total((await this.api.notified(asker)).polls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
    this.#receiver[Symbol.dispose]();
    this.#place[Symbol.dispose]();
  }
}
