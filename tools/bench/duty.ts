// `npm run bench -- duty`: what a poll costs the whole daemon, beside its floor in the same run, and beside Debian's blackbox_exporter.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answered, BenchApi, since, total } from './daemon/api.ts';
import { type FleetShape, idOf } from './daemon/bodies.ts';
import { fillStore } from './daemon/clone.ts';
import { bytesAPoll, type Cost, cpuMsAPoll, pollsASecond } from './daemon/cost.ts';
import { BenchDaemon, configure, type Settings, Workplace } from './daemon/daemon.ts';
import { syncsASecond } from './daemon/disk.ts';
import { floorCost } from './daemon/floor.ts';
import { counted } from './daemon/process.ts';
import { startReceiver } from './daemon/receiver.ts';
import { scraped } from './daemon/scrapes.ts';
import { resting, saturating } from './daemon/settings.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { type Blackbox, startBlackbox } from './poll/blackbox.ts';
import { heldAgainst, tableOf, targets } from './targets.ts';

const bench = 'duty';
const asker = 'daemon';
const changedShare = 0.3;
/** After the first sweep: what still goes on does not belong to what is measured. */
const settleMs = 3_000;
/** At the shipped defaults nothing is read again within a minute of the sweep: before that there is next to nothing to measure. */
const readAgainMs = 62_000;
const sweepLimitMs = 400_000;
/** A daemon that is bound by its disk is measured while it still sweeps. */
const saturatedSweepMs = 20_000;
const lookEveryMs = 200;
/** A mailbox is read again after a minute: in a shorter time there may be no poll, or the polls of a minute. */
const paceMs = 60_000;
/** The daemon has been at work for longer when it is measured. */
const floorWarmMs = 8_000;

interface Size {
  /** Accounts of the large fleet, and mailboxes of each. */
  readonly accounts: number;
  readonly ofEach: number;
  /** Mailboxes of the fleet with one account. */
  readonly ofOne: number;
  readonly saturatedMs: number;
  readonly stillMs: number;
  readonly floorMs: number;
  readonly pacedMs: number;
}

const full: Size = {
  accounts: 50,
  ofEach: 200,
  ofOne: 500,
  saturatedMs: 20_000,
  stillMs: 10_000,
  floorMs: 8_000,
  pacedMs: 60_000,
};
const small: Size = {
  accounts: 10,
  ofEach: 100,
  ofOne: 100,
  saturatedMs: 8_000,
  stillMs: 4_000,
  floorMs: 4_000,
  pacedMs: 40_000,
};

interface Measured {
  readonly cost: Cost;
  readonly answered: Answered;
}

/** What the daemon spends while it is scraped as Prometheus does. */
async function costOf(daemon: BenchDaemon, api: BenchApi, forMs: number): Promise<Measured> {
  const [asked, before, began] = [await api.notified(asker), counted(daemon.pid), performance.now()];
  await scraped(daemon, forMs);
  const [answered, after] = [since(asked, await api.notified(asker)), counted(daemon.pid)];
  const cost = {
    polls: total(answered.polls),
    seconds: (performance.now() - began) / 1_000,
    cpuMs: after.cpuMs - before.cpuMs,
    writtenBytes: after.writtenBytes - before.writtenBytes,
    rssMegabytes: after.rssMegabytes,
  };
  return { cost, answered };
}

/** Between two polls of an account. */
const everyMsOf = ({ polls, seconds }: Pick<Cost, 'polls' | 'seconds'>, { accounts }: FleetShape) =>
  (accounts * seconds * 1_000) / polls;

/** A fleet, its API, and the daemon that guards it; stopped and started again on the same store. */
class Duty implements AsyncDisposable {
  readonly #api: BenchApi;
  readonly #place = new Workplace();
  readonly #receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly name: string;
  #daemon: BenchDaemon | null = null;
  /** Between two polls of an account at the shipped defaults. */
  #everyMs = 0;
  #askedAtStart: Answered = { polls: {}, bytes: {}, unread: 0 };

  private constructor(api: BenchApi, receiver: Awaited<ReturnType<typeof startReceiver>>) {
    this.#api = api;
    this.#receiver = receiver;
    this.name = api.shape.accounts === 1 ? '1_account' : `${api.shape.accounts}_accounts`;
  }

  static async of(accounts: number, mailboxesPerAccount: number): Promise<Duty> {
    const api = await BenchApi.start({ accounts, mailboxesPerAccount, changedShare });
    const duty = new Duty(api, await startReceiver());
    await fillStore(duty.#place, api.shape);
    return duty;
  }

  async #start(settings: Settings): Promise<BenchDaemon> {
    await this.#daemon?.stop();
    const config = await configure(this.#place, this.#api, { alerts: this.#receiver.alerts, ...settings });
    this.#askedAtStart = await this.#api.notified(asker);
    this.#daemon = await BenchDaemon.start(config);
    return this.#daemon;
  }

  /** As many polls as it can make, and the floor with the same questions. */
  async saturated({ saturatedMs, stillMs, floorMs }: Size): Promise<readonly Figure[]> {
    say(`this disk takes ${Math.round(syncsASecond(this.#place.folder))} synced pages a second`);
    const daemon = await this.#start(saturating);
    await this.#sweepEnds(saturatedSweepMs);
    await sleep(settleMs);
    const { cost, answered } = await costOf(daemon, this.#api, saturatedMs);
    await this.#api.notified(asker, 'stillness');
    const { cost: still } = await costOf(daemon, this.#api, stillMs);
    await this.#api.notified(asker, 'none');
    await daemon.stop();
    const floor = await this.#floor(answered, floorMs, 0);
    const { name } = this;
    const figure = (measure: string) => `saturated/${name}/${measure}`;
    const ours = cpuMsAPoll(cost);
    const atItsPace = () => this.#floor(answered, floorMs, everyMsOf(cost, this.#api.shape));
    return [
      heldAgainst(targets.saturatedCpu, { bench, figure: figure('cpu_ms_a_poll'), ours, peer: cpuMsAPoll(floor) }),
      heldAgainst(targets.said, {
        ...{ bench, figure: figure('cpu_ms_a_poll_where_no_answer_changes'), ours: cpuMsAPoll(still) },
        peer: cpuMsAPoll(floor),
      }),
      ...(name === '1_account'
        ? [
            // Its polls are spaced evenly, so the machine sleeps between them, as it does for a floor that asks as seldom.
            heldAgainst(targets.said, {
              ...{ bench, figure: figure('cpu_ms_a_poll_beside_a_floor_of_its_pace'), ours },
              peer: cpuMsAPoll(await atItsPace()),
            }),
          ]
        : [
            heldAgainst(targets.pollsASecond, {
              ...{ bench, figure: figure('polls_a_second'), ours: pollsASecond(cost), peer: pollsASecond(floor) },
            }),
          ]),
      heldAgainst(targets.diskBytesAPoll, {
        ...{ bench, figure: figure('disk_bytes_a_poll'), ours: bytesAPoll(cost), peer: bytesAPoll(floor) },
      }),
    ];
  }

  /** What it takes while it has nothing to ask, scraped as always, on the store that is there. */
  async resting(forMs: number): Promise<readonly Figure[]> {
    const daemon = await this.#start(resting);
    await this.#swept();
    await sleep(readAgainMs);
    const { cost } = await costOf(daemon, this.#api, forMs);
    const ours = cost.cpuMs / cost.seconds;
    return [heldAgainst(targets.said, { bench, figure: `resting/${this.name}/cpu_ms_a_second`, ours, peer: null })];
  }

  /** At the shipped defaults, on the store that is there; returns when it is known how often it asks. */
  async startPaced(): Promise<void> {
    await this.#start({});
    await this.#swept();
    await sleep(readAgainMs);
    const asked = await this.#api.notified(asker);
    await sleep(paceMs);
    const polls = total(since(asked, await this.#api.notified(asker)).polls);
    this.#everyMs = everyMsOf({ polls, seconds: paceMs / 1_000 }, this.#api.shape);
  }

  async #swept(): Promise<void> {
    if (!(await this.#sweepEnds(sweepLimitMs))) throw new Error('the sweep after the start does not end');
  }

  /** Statistics and warm-up of each mailbox are read again after a start. False when that takes longer. */
  async #sweepEnds(limitMs: number): Promise<boolean> {
    const before = this.#askedAtStart;
    const { accounts, mailboxesPerAccount } = this.#api.shape;
    const until = performance.now() + limitMs;
    for (;;) {
      const { stats = 0, warmup = 0 } = since(before, await this.#api.notified(asker)).polls;
      if (stats + warmup >= 2 * accounts * mailboxesPerAccount) return true;
      if (performance.now() > until) return false;
      await sleep(lookEveryMs);
    }
  }

  /** The daemon, its floor and the exporter side by side, so that all meet the same neighbours on the machine. */
  async paced(forMs: number, blackbox: Blackbox | null): Promise<readonly Figure[]> {
    if (!this.#daemon) throw new Error('startPaced comes first');
    const { accounts } = this.#api.shape;
    const mix = await this.#api.notified(asker);
    const target = `${this.#api.url('exporter')}/v1/stats?mailbox_id=${idOf(0)}&days=30`;
    const [{ cost, answered }, floor, exporter] = await Promise.all([
      costOf(this.#daemon, this.#api, forMs),
      this.#floor(mix, forMs, this.#everyMs),
      blackbox?.probe({ target, forMs, concurrency: accounts, everyMs: this.#everyMs }),
    ]);
    await this.#daemon.stop();
    const figure = (measure: string) => `paced/${this.name}/${measure}`;
    const { mailboxes: listed = 0 } = answered.bytes;
    const figures = [
      heldAgainst(targets.pacedCpu, {
        ...{ bench, figure: figure('cpu_ms_a_poll'), ours: cpuMsAPoll(cost), peer: cpuMsAPoll(floor) },
      }),
      heldAgainst(targets.diskBytesAPoll, {
        ...{ bench, figure: figure('disk_bytes_a_poll'), ours: bytesAPoll(cost), peer: bytesAPoll(floor) },
      }),
      heldAgainst(targets.listBytes, {
        ...{ bench, figure: figure('list_bytes_beside_other_bytes'), ours: listed },
        peer: total(answered.bytes) - listed,
      }),
    ];
    if (!exporter) return figures;
    const ofExporter = { cpu: (exporter.cpuSeconds * 1_000) / exporter.polls, rss: exporter.rssBytes / 1e6 };
    return [
      ...figures,
      heldAgainst(targets.exporterCpu, {
        ...{ bench, figure: figure('blackbox/cpu_ms_a_poll'), ours: cpuMsAPoll(cost), peer: ofExporter.cpu },
      }),
      // We lose this one: a Node process against a Go binary.
      heldAgainst(targets.exporterMemory, {
        ...{ bench, figure: figure('blackbox/rss_megabytes'), ours: cost.rssMegabytes, peer: ofExporter.rss },
      }),
    ];
  }

  #floor({ polls }: Pick<Answered, 'polls'>, forMs: number, everyMs: number): Promise<Cost> {
    const { folder } = this.#place;
    const url = this.#api.url('floor');
    const { shape } = this.#api;
    return floorCost({ url, folder, shape, mix: polls, warmMs: floorWarmMs, forMs, everyMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
    await this.#api[Symbol.asyncDispose]();
    this.#receiver[Symbol.dispose]();
    this.#place[Symbol.dispose]();
  }
}

const say = (text: string) => process.stderr.write(`${bench}: ${text}\n`);

/** The benchmark. Takes about fifteen minutes; small: about five. */
export async function dutyBenchmark(options: BenchOptions): Promise<readonly Figure[]> {
  const size = options.small ? small : full;
  await using blackbox = await startBlackbox(bench);
  await using one = await Duty.of(1, size.ofOne);
  await using many = await Duty.of(size.accounts, size.ofEach);
  say(`one account, ${size.ofOne} mailboxes, saturated`);
  const saturatedOne = await one.saturated(size);
  // Its sweep at the real rate takes minutes, and next to nothing of the machine: the large fleet goes on meanwhile.
  const swept = one.startPaced();
  swept.catch(() => {});
  say(`${size.accounts} accounts, ${size.accounts * size.ofEach} mailboxes, saturated`);
  const saturatedMany = await many.saturated(size);
  say('at the shipped defaults: the sweeps after a start, and a minute');
  await Promise.all([swept, many.startPaced()]);
  say('one account at the shipped pace');
  const pacedOne = await one.paced(size.pacedMs, blackbox);
  say(`${size.accounts} accounts at the shipped pace`);
  const pacedMany = await many.paced(size.pacedMs, blackbox);
  // It has no target, and takes minutes.
  if (!options.small) say('one account without polls');
  const rested = options.small ? [] : await one.resting(size.pacedMs);
  const figures = [...saturatedOne, ...saturatedMany, ...pacedOne, ...pacedMany, ...rested];
  process.stderr.write(`${tableOf(figures, 'floor or peer')}\n`);
  return figures;
}
