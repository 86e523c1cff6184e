// `npm run bench -- blocks`: how long the daemon's event loop computes in one go, duty by duty, and what a reload and the page cost.
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Looked, LookOrder } from './blocks/look.ts';
import { BenchApi, since } from './daemon/api.ts';
import type { Incident } from './daemon/bodies.ts';
import { fillStore, storeOf } from './daemon/clone.ts';
import { BenchDaemon, configure, Workplace } from './daemon/daemon.ts';
import { startReceiver } from './daemon/receiver.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { heldAgainst, type Target, tableOf, targets } from './targets.ts';

const bench = 'blocks';
const asker = 'daemon';
const changedShare = 0.3;
const look = new URL('./blocks/look.ts', import.meta.url).href;
/** All accounts read their lists at once, as they do each minute by default; oftener, so that nobody has to wait. */
const listEverySeconds = 5;
const poll = { mailboxes: `*/${listEverySeconds} * * * * *` };
/** An absence and a lost connection count from the second list on. */
const listsPerIncident = 3;
const calmMs = 15_000;
/** Reads of the page; the median counts. */
const pageReads = 5;
/** What the daemon takes without the page is measured for so long, right before it. */
const restMs = 2_000;
const waitLimitMs = 300_000;
const lookEveryMs = 200;
/** Mailboxes for which the CPU time of a reload has a target. */
const reloadTargetUpTo = 10_000;
const countEveryMs = 1_000;

interface Size {
  readonly accounts: number;
  readonly mailboxesPerAccount: number;
  readonly blockTarget: Target;
}

const large: Size = { accounts: 200, mailboxesPerAccount: 500, blockTarget: targets.longestBlockOf100k };
const middle: Size = { accounts: 50, mailboxesPerAccount: 200, blockTarget: targets.longestBlockOf10k };
const small: Size = { ...middle, accounts: 10 };

interface WatchedParts {
  readonly size: Size;
  readonly place: Workplace;
  readonly api: BenchApi;
  readonly daemon: BenchDaemon;
  /** Its file. */
  readonly config: string;
  /** What is measured is added to them. */
  readonly figures: Figure[];
}

/** A daemon on a filled store that is looked at from inside while duties come upon it. */
class Watched {
  readonly #size: Size;
  readonly #place: Workplace;
  readonly #api: BenchApi;
  readonly #daemon: BenchDaemon;
  readonly #config: string;
  readonly #figures: Figure[];

  constructor({ size, place, api, daemon, config, figures }: WatchedParts) {
    this.#figures = figures;
    this.#size = size;
    this.#place = place;
    this.#api = api;
    this.#daemon = daemon;
    this.#config = config;
  }

  get #mailboxes(): number {
    return this.#size.accounts * this.#size.mailboxesPerAccount;
  }

  figure(measure: string, target: Target, ours: number): void {
    const figure = `${this.#mailboxes}_mailboxes/${measure}`;
    this.#figures.push(heldAgainst(target, { bench, figure, ours, peer: null }));
  }

  async during(work: () => Promise<unknown>): Promise<Looked> {
    await this.#daemon.ask('reset' satisfies LookOrder);
    await work();
    return (await this.#daemon.ask('tell' satisfies LookOrder)) as Looked;
  }

  async duty(name: string, work: () => Promise<unknown>): Promise<Looked> {
    const looked = await this.during(work);
    this.#block(name, looked);
    return looked;
  }

  /** How long others had to wait, and of it what the daemon computes and what V8's garbage collector takes. */
  #block(name: string, { blockMs, ownMs, pauseMs }: Looked): void {
    this.figure(`${name}/longest_block_ms`, this.#size.blockTarget, blockMs);
    this.figure(`${name}/longest_own_block_ms`, this.#size.blockTarget, ownMs);
    this.figure(`${name}/longest_collector_pause_ms`, targets.said, pauseMs);
  }

  /** Until each account has read so many lists. */
  async lists(count: number, incident: Incident): Promise<void> {
    const before = await this.#api.notified(asker, incident);
    const isRead = async () => {
      const { mailboxes = 0 } = since(before, await this.#api.notified(asker)).polls;
      return mailboxes >= count * this.#size.accounts;
    };
    await this.#daemon.until(`${count} lists of each account are read`, isRead, waitLimitMs);
    await sleep(listEverySeconds * 1_000);
  }

  /** Statistics and warm-up of each mailbox are read again after a start; a daemon that needs longer is watched while it does so. */
  async swept(): Promise<void> {
    const until = performance.now() + waitLimitMs;
    const read = async () => (await this.#api.notified(asker)).polls.warmup ?? 0;
    while ((await read()) < this.#mailboxes && performance.now() < until) await sleep(lookEveryMs);
  }

  async reload(): Promise<void> {
    const done = '"msg":"configuration reloaded"';
    this.#daemon.listenFor(done);
    const changed = readFileSync(this.#config, 'utf8').replace(/^guard:\n.*\n/m, '');
    writeFileSync(this.#config, `${changed}guard:\n  near_limit: ${this.#nearLimit}%\n`);
    this.#nearLimit += 1;
    this.#daemon.signal('SIGHUP');
    await this.#daemon.until('the configuration is reloaded', () => this.#daemon.said(done) > 0, waitLimitMs);
  }

  #nearLimit = 70;

  /** Every mailbox loses its connection, and its alert fires. A storm that takes too long is measured as far as it went. */
  async storm(): Promise<void> {
    const began = performance.now();
    await this.lists(listsPerIncident, 'storm');
    using database = new DatabaseSync(storeOf(this.#place), { readOnly: true });
    const firing = database.prepare("SELECT count(*) AS count FROM alerts WHERE status = 'firing'");
    const count = () => Number(firing.get()?.['count']);
    const isOver = async () => {
      // To count is work too, in a process beside the daemon.
      await sleep(countEveryMs);
      return count() >= this.#mailboxes || performance.now() - began >= waitLimitMs;
    };
    await this.#daemon.until('the alerts of all mailboxes fire', isOver, 2 * waitLimitMs);
    this.figure('storm_of_alerts/seconds', targets.said, (performance.now() - began) / 1_000);
    this.figure('storm_of_alerts/percent_firing', targets.stormFires, (100 * count()) / this.#mailboxes);
  }

  async read(path: string, encoding: 'gzip' | 'identity' = 'gzip'): Promise<number> {
    const { body } = await request(new URL(path, this.#daemon.url), { headers: { 'accept-encoding': encoding } });
    return (await body.arrayBuffer()).byteLength;
  }

  /** The page's bytes, and the CPU time that it takes beyond that of the polls meanwhile. */
  async page(): Promise<void> {
    const { threadMs: restingMs } = await this.during(() => sleep(restMs));
    const looks: (Looked & { readonly bytes: number; readonly cpuMs: number })[] = [];
    for (let n = 0; n < pageReads; n += 1) {
      let [bytes, tookMs] = [0, 0];
      const looked = await this.during(async () => {
        const asked = performance.now();
        bytes = await this.read('/', 'identity');
        tookMs = performance.now() - asked;
      });
      looks.push({ ...looked, bytes, cpuMs: looked.threadMs - (restingMs / restMs) * tookMs });
    }
    const median = looks.sort((a, b) => a.cpuMs - b.cpuMs)[Math.floor(pageReads / 2)];
    if (!median) return;
    this.#block('page_of_a_storm', median);
    this.figure('page_of_a_storm/cpu_ms', targets.stormPageCpu, median.cpuMs);
    this.figure('page_of_a_storm/kilobytes', targets.stormPageSize, median.bytes / 1_000);
  }
}

async function measure(size: Size, figures: Figure[]): Promise<void> {
  const { accounts, mailboxesPerAccount } = size;
  const shape = { accounts, mailboxesPerAccount, changedShare };
  using place = new Workplace();
  await fillStore(place, shape);
  await using api = await BenchApi.start(shape);
  using receiver = await startReceiver();
  const config = await configure(place, api, { alerts: receiver.alerts, poll });
  await using daemon = await BenchDaemon.start(config, ['--import', look]);
  const watched = new Watched({ size, place, api, daemon, config, figures });
  await watched.lists(1, 'none');
  await watched.swept();
  await watched.duty('polls_and_lists', () => sleep(calmMs));
  await watched.duty('first_scrape', () => watched.read('/metrics'));
  await watched.duty('scrape', () => watched.read('/metrics'));
  const { threadMs } = await watched.duty('reload_of_a_guard_key', () => watched.reload());
  // The target is for a fleet of that size; a larger one polls meanwhile, too.
  const target = accounts * mailboxesPerAccount > reloadTargetUpTo ? targets.said : targets.reload;
  watched.figure('reload_of_a_guard_key/cpu_seconds', target, threadMs / 1_000);
  await watched.duty('departure_of_a_tenth', () => watched.lists(listsPerIncident, 'departure'));
  await watched.duty('return_of_a_tenth', () => watched.lists(listsPerIncident, 'none'));
  await watched.duty('storm_of_alerts', () => watched.storm());
  await watched.page();
  await watched.duty('scrape_of_a_storm', () => watched.read('/metrics'));
  await watched.duty('end_of_a_storm', () => watched.lists(listsPerIncident, 'none'));
}

/** The benchmark. Takes about ten minutes; small: about three. */
export async function blocksBenchmark(options: BenchOptions): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  try {
    for (const size of options.small ? [small] : [middle, large]) {
      process.stderr.write(`${bench}: ${size.accounts * size.mailboxesPerAccount} mailboxes\n`);
      await measure(size, figures);
    }
  } finally {
    // A duty that does not end in time ends the benchmark; what was measured before is printed all the same.
    process.stderr.write(`${tableOf(figures, 'peer')}\n`);
  }
  return figures;
}
