// `npm run bench -- duty [ROW...]`: what the installed package costs at the shipped cadences, in whole minutes, beside what users would run instead.
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { asker, GuardedFleet, type Spent } from './daemon/fleet.ts';
import { read, scrape, scraped } from './daemon/scrapes.ts';
import { Exporter, type Probed } from './duty/exporter.ts';
import { growthBytes } from './duty/growth.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { type Measured, measured, tableOf } from './targets.ts';

const bench = 'duty';
/** One account, and 20 accounts. */
const oneAccount = { accounts: 1, mailboxesPerAccount: 500 };
const manyAccounts = { accounts: 20, mailboxesPerAccount: 500 };
const starting = { accounts: 2, mailboxesPerAccount: 500 };
const largest = { accounts: 200, mailboxesPerAccount: 500 };
const growing = 500;
/** Seconds since the process began, at which the windows begin and end. */
const whole = { restart: 90, steadyFrom: 180, steadyUntil: 300, starts: 7, beforeStorm: 60 };
const shortened = { restart: 60, steadyFrom: 60, steadyUntil: 120, starts: 3, beforeStorm: 20 };
const views = [
  ...['/', '/?page=9', '/?sort=rate', '/?q=agency-3', '/groups?by=domain', '/alerts', '/activity', '/silences'],
  ...['/recipes', '/runbooks'],
];
const reads = 3;
const alertsAMailbox = 2;
const stormLimitMs = 900_000;
const lookEveryMs = 1_000;
const middleOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const figureOf = (figure: string, ours: number, peer: number | null = null): Measured => ({
  bench,
  figure,
  ours,
  peer,
});

/** The daemon and the exporter at one moment. */
interface Moment {
  readonly daemon: Spent;
  readonly exporter: Probed | null;
}

/** CPU and disk of both between two moments. */
function costsOf(name: string, from: Moment, until: Moment): readonly Measured[] {
  const polls = until.daemon.polls - from.daemon.polls;
  const cpuMs = (until.daemon.cpuMs - from.daemon.cpuMs) / polls;
  const kilobytes = (until.daemon.writtenBytes - from.daemon.writtenBytes) / 1_000 / polls;
  const peer = from.exporter && until.exporter ? probeCost(from.exporter, until.exporter) : null;
  return [
    figureOf(`${name}/cpu_ms_a_poll`, cpuMs, peer?.alone ?? null),
    figureOf(`${name}/cpu_ms_a_poll_beside_blackbox_and_prometheus`, cpuMs, peer?.both ?? null),
    figureOf(`${name}/disk_kilobytes_a_poll`, kilobytes),
    figureOf(`${name}/polls`, polls),
  ];
}

/** CPU milliseconds a probe of the exporter alone, and with its Prometheus. */
function probeCost(from: Probed, until: Probed): { readonly alone: number; readonly both: number } {
  const probes = until.probes - from.probes;
  const alone = (until.blackboxMs - from.blackboxMs) / probes;
  return { alone, both: alone + (until.prometheusMs - from.prometheusMs) / probes };
}

/** A restart on a filled store and, if asked for, the minutes after it, beside the exporter in the same minutes. */
async function sideBySide(shape: typeof oneAccount, rows: readonly string[], times: typeof whole) {
  await using fleet = await GuardedFleet.filled(shape);
  await using exporter = await Exporter.start(fleet.api);
  const name = `${fleet.mailboxes}_mailboxes`;
  const polls = await fleet.polls();
  const start = {
    daemon: { cpuMs: 0, writtenBytes: 0, rssMegabytes: 0, polls },
    exporter: (await exporter?.probed()) ?? null,
  };
  const began = performance.now();
  const daemon = await fleet.launch();
  await daemon.isOnDuty();
  const at = async (seconds: number): Promise<Moment> => {
    await scraped(daemon, began + seconds * 1_000 - performance.now());
    return { daemon: await fleet.spent(daemon), exporter: (await exporter?.probed()) ?? null };
  };
  const restarted = costsOf(`restart/${name}`, start, await at(times.restart));
  const figures = rows.includes('restart') ? [...restarted] : [];
  if (!rows.includes('steady')) return figures;
  const from = await at(times.steadyFrom);
  const until = await at(times.steadyUntil);
  const rss = figureOf(`steady/${name}/rss_megabytes`, until.daemon.rssMegabytes);
  return [...figures, ...costsOf(`steady/${name}`, from, until), rss];
}

async function starts(rounds: number): Promise<readonly Measured[]> {
  await using fleet = await GuardedFleet.filled(starting);
  const seconds: number[] = [];
  for (let n = 0; n < rounds; n += 1) seconds.push((await fleet.cpuToFirstPoll()).cpuMs / 1_000);
  return [figureOf(`start/${fleet.mailboxes}_mailboxes/cpu_seconds_to_first_poll`, middleOf(seconds))];
}

/** Every mailbox gets an unknown status and loses its connection: from the first such answer until all alerts fire. */
async function storm(afterSeconds: number): Promise<readonly Measured[]> {
  await using fleet = await GuardedFleet.filled(manyAccounts);
  const daemon = await fleet.launch();
  await daemon.isOnDuty();
  await scraped(daemon, afterSeconds * 1_000);
  const before = await fleet.spent(daemon);
  const began = performance.now();
  await fleet.api.notified(asker, 'storm');
  using database = new DatabaseSync(fleet.store, { readOnly: true });
  const firing = database.prepare("SELECT count(*) AS count FROM alerts WHERE status = 'firing'");
  const isOver = async () => {
    await sleep(lookEveryMs);
    return Number(firing.get()?.['count']) >= alertsAMailbox * fleet.mailboxes;
  };
  await daemon.until('all alerts fire', isOver, stormLimitMs);
  const { writtenBytes } = await fleet.spent(daemon);
  const name = `storm/${fleet.mailboxes}_mailboxes`;
  return [
    figureOf(`${name}/megabytes_written`, (writtenBytes - before.writtenBytes) / 1e6),
    figureOf(`${name}/seconds`, (performance.now() - began) / 1_000),
  ];
}

async function hundredThousand(): Promise<readonly Measured[]> {
  await using fleet = await GuardedFleet.filled(largest);
  const { daemon, cpuMs } = await fleet.cpuToFirstPoll();
  await daemon.isOnDuty();
  const secondsOf = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return (performance.now() - began) / 1_000;
  };
  const medianOf = async (work: () => Promise<unknown>) => {
    const all: number[] = [];
    for (let n = 0; n < reads; n += 1) all.push(await secondsOf(work));
    return middleOf(all);
  };
  await scraped(daemon, whole.restart * 1_000);
  const scraping = await medianOf(() => scrape(daemon));
  let slowest = 0;
  for (const view of views) {
    const seconds = await medianOf(() => read(daemon, view));
    say(`${view}: ${seconds.toFixed(2)} s`);
    slowest = Math.max(slowest, seconds);
  }
  return [
    figureOf('100k/cpu_seconds_to_first_poll', cpuMs / 1_000),
    figureOf('100k/scrape_seconds', scraping),
    figureOf('100k/slowest_view_seconds', slowest),
    figureOf('100k/rss_megabytes', (await fleet.spent(daemon)).rssMegabytes),
  ];
}

async function growth(): Promise<readonly Measured[]> {
  return [figureOf(`growth/${growing}_mailboxes/kilobytes_a_day`, (growing * (await growthBytes())) / 1_000)];
}

const say = (text: string) => process.stderr.write(`${bench}: ${text}\n`);
const largestRow = '100k';
export const dutyRows: readonly string[] = ['restart', 'steady', 'start', 'storm', 'growth', largestRow];

/** The benchmark. Takes half an hour without the row of 100,000 mailboxes, which runs only when it is named. */
export async function dutyBenchmark(options: BenchOptions): Promise<readonly Figure[]> {
  const rows = options.rows.length > 0 ? options.rows : dutyRows.filter((row) => row !== largestRow);
  const times = options.small ? shortened : whole;
  const has = (row: string) => rows.includes(row);
  const parts: readonly (readonly [boolean, () => Promise<readonly Measured[]>])[] = [
    [has('restart') || has('steady'), () => sideBySide(oneAccount, rows, times)],
    [has('steady'), () => sideBySide(manyAccounts, rows, times)],
    [has('start'), () => starts(times.starts)],
    [has('storm'), () => storm(times.beforeStorm)],
    [has('growth'), growth],
    [has(largestRow), hundredThousand],
  ];
  const figures: Figure[] = [];
  try {
    for (const [isAsked, part] of parts) if (isAsked) figures.push(...(await part()).map(measured));
  } finally {
    // A row that breaks ends the benchmark; what was measured before is printed all the same.
    process.stderr.write(`${tableOf(figures, 'blackbox')}\n`);
  }
  return figures;
}
