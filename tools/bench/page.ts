// `npm run bench -- page`: what a large fleet's page costs the daemon: 100 live pages while mailboxes change, and each view.
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { Looked, LookOrder } from './blocks/look.ts';
import { BenchApi, total } from './daemon/api.ts';
import { fillStore } from './daemon/clone.ts';
import { BenchDaemon, configure, Workplace } from './daemon/daemon.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { heldAgainst, type Target, tableOf, targets } from './targets.ts';

const bench = 'page';
const asker = 'daemon';
const look = new URL('./blocks/look.ts', import.meta.url).href;
const readers = 100;
/** 3,500 polls a minute, of which three in ten bring something new. */
const changedShare = 0.3;
const pollsAMinute = 3_500;
const settleMs = 20_000;
/** Reads of each view; the median counts. */
const viewReads = 5;
const views = [
  ...['/', '/?page=9', '/?sort=rate', '/?q=agency-3', '/groups?by=domain', '/alerts', '/activity', '/silences'],
  ...['/budget', '/recipes', '/configuration', '/runbooks'],
];

/** Fetches of a live page: not all at once, and not more often than this. */
const jitterMs = { least: 1_000, most: 3_000 };
const fetchEveryMs = 5_000;
const hasPicture = ({ heard }: ReturnType<typeof listen>) => heard.views > 0;

/** A live page: fetches its view when something changed, as the script of the page does. */
function listen(url: string, view: string) {
  const heard = { views: 0, ended: false };
  let waiting: NodeJS.Timeout | null = null;
  let fetchedAt = 0;
  const refresh = async () => {
    waiting = null;
    fetchedAt = performance.now();
    const { body } = await request(url + view, { headers: { accept: 'text/html' } });
    await body.dump();
    heard.views += 1;
  };
  const changed = () => {
    const jitter = jitterMs.least + Math.random() * (jitterMs.most - jitterMs.least);
    waiting ??= setTimeout(
      () => void refresh().catch(() => {}),
      Math.max(jitter, fetchedAt + fetchEveryMs - performance.now()),
    );
  };
  const asked = get(`${url}/events`, (response) => {
    response.on('data', changed);
    response.on('close', () => {
      heard.ended = true;
    });
  });
  asked.on('error', () => {});
  const end = () => {
    if (waiting) clearTimeout(waiting);
    asked.destroy();
  };
  return { heard, end };
}

interface Stage {
  readonly daemon: BenchDaemon;
  readonly figures: Figure[];
  readonly mailboxes: number;
}

function figure(
  { figures, mailboxes }: Stage,
  measure: string,
  target: Target,
  ours: number,
  peer: number | null = null,
) {
  figures.push(heldAgainst(target, { bench, figure: `${mailboxes}_mailboxes/${measure}`, ours, peer }));
}

async function during({ daemon }: Stage, work: () => Promise<unknown>): Promise<Looked> {
  await daemon.ask('reset' satisfies LookOrder);
  await work();
  return (await daemon.ask('tell' satisfies LookOrder)) as Looked;
}

async function measureViews(stage: Stage, url: string): Promise<void> {
  for (const view of views) {
    const [times, blocks, own]: [number[], number[], number[]] = [[], [], []];
    let bytes = 0;
    for (let n = 0; n < viewReads; n += 1) {
      const { blockMs, ownMs } = await during(stage, async () => {
        const from = performance.now();
        const { body } = await request(url + view, { headers: { accept: 'text/html', 'accept-encoding': 'identity' } });
        bytes = (await body.arrayBuffer()).byteLength;
        times.push(performance.now() - from);
      });
      blocks.push(blockMs);
      own.push(ownMs);
    }
    const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(viewReads / 2)] ?? 0;
    figure(stage, `${view}/ms`, targets.viewTime, median(times));
    figure(stage, `${view}/kilobytes`, targets.stormPageSize, bytes / 1_000);
    figure(stage, `${view}/longest_block_ms`, targets.longestBlockOf10k, median(blocks));
    figure(stage, `${view}/longest_own_block_ms`, targets.longestBlockOf10k, median(own));
  }
}

/** Heap after a collection. */
const heapOf = async ({ daemon }: Stage) => ((await daemon.ask('heap' satisfies LookOrder)) as Looked).heapBytes;

async function measureLive(stage: Stage, halfMs: number): Promise<void> {
  const { daemon } = stage;
  const alone = await during(stage, () => sleep(halfMs));
  let all: readonly ReturnType<typeof listen>[] = [];
  const opening = await during(stage, async () => {
    all = Array.from({ length: readers }, (_, index) => listen(daemon.url, views[index % 8] ?? '/'));
    await daemon.until('every page has its first picture', () => all.every(hasPicture), settleMs);
  });
  figure(stage, `live_${readers}/opening/longest_block_ms`, targets.longestBlockOf10k, opening.blockMs);
  figure(stage, `live_${readers}/opening/longest_own_block_ms`, targets.longestBlockOf10k, opening.ownMs);
  const first = await during(stage, () => sleep(halfMs));
  const before = await heapOf(stage);
  const second = await during(stage, () => sleep(halfMs));
  const after = await heapOf(stage);
  const live = Math.max(first.blockMs, second.blockMs);
  figure(stage, `live_${readers}/longest_block_ms`, targets.longestBlockOf10k, live, alone.blockMs);
  const own = Math.max(first.ownMs, second.ownMs);
  figure(stage, `live_${readers}/longest_own_block_ms`, targets.longestBlockOf10k, own, alone.ownMs);
  const pause = Math.max(first.pauseMs, second.pauseMs);
  figure(stage, `live_${readers}/longest_collector_pause_ms`, targets.said, pause, alone.pauseMs);
  const share = (looked: Looked) => (100 * looked.longMs) / looked.threadMs;
  figure(stage, `live_${readers}/percent_of_cpu_in_blocks_over_10_ms`, targets.longBlocks, share(second), share(alone));
  figure(
    stage,
    `live_${readers}/cpu_percent`,
    targets.liveCpu,
    (100 * second.threadMs) / halfMs,
    (100 * alone.threadMs) / halfMs,
  );
  figure(stage, `live_${readers}/heap_megabytes`, targets.flatHeap, after / 1e6, before / 1e6);
  figure(stage, `live_${readers}/ended`, targets.none, all.filter(({ heard }) => heard.ended).length);
  for (const { end } of all) end();
}

/** The benchmark. Takes about six minutes; small: about two. */
export async function pageBenchmark({ small }: BenchOptions): Promise<readonly Figure[]> {
  const shape = { accounts: small ? 10 : 50, mailboxesPerAccount: 200, changedShare };
  const figures: Figure[] = [];
  using place = new Workplace();
  await fillStore(place, shape);
  await using api = await BenchApi.start(shape);
  const accounts = { requests_per_minute: Math.round(pollsAMinute / shape.accounts), headroom: '0%' };
  const config = await configure(place, api, { accounts });
  await using daemon = await BenchDaemon.start(config, ['--expose-gc', '--import', look]);
  const stage = { daemon, figures, mailboxes: shape.accounts * shape.mailboxesPerAccount };
  await sleep(settleMs);
  await measureViews(stage, daemon.url);
  const [from, pollsBefore] = [performance.now(), total((await api.notified(asker)).polls)];
  await measureLive(stage, small ? 20_000 : 60_000);
  const polls = total((await api.notified(asker)).polls) - pollsBefore;
  figure(stage, 'changes_a_minute', targets.changes, (changedShare * polls * 60_000) / (performance.now() - from));
  process.stderr.write(`${tableOf(figures, 'peer')}\n`);
  return figures;
}
