// `npm run bench -- memory`: what a daemon takes that has been on duty for a while, beside the exporter that probes as often.

import { BenchApi } from './daemon/api.ts';
import { idOf } from './daemon/bodies.ts';
import { fillStore } from './daemon/clone.ts';
import { BenchDaemon, configure, Workplace } from './daemon/daemon.ts';
import { counted } from './daemon/process.ts';
import { startReceiver } from './daemon/receiver.ts';
import { scraped } from './daemon/scrapes.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { type Blackbox, startBlackbox } from './poll/blackbox.ts';
import { heldAgainst, type Target, tableOf, targets } from './targets.ts';

const bench = 'memory';
/** One enterprise key. */
const probeEveryMs = 60_000 / 485;

interface Fleet {
  readonly accounts: number;
  readonly mailboxesPerAccount: number;
  readonly target: Target;
}

const thousand: Fleet = { accounts: 5, mailboxesPerAccount: 200, target: targets.memoryOf1k };
const tenThousand: Fleet = { accounts: 50, mailboxesPerAccount: 200, target: targets.memoryOf10k };
const hundredThousand: Fleet = { accounts: 200, mailboxesPerAccount: 500, target: targets.memoryOf100k };

/** At the shipped defaults, on a store that is there, scraped as by Prometheus. */
async function rssOf(fleet: Fleet, forMs: number, blackbox: Blackbox | null): Promise<Figure> {
  const { accounts, mailboxesPerAccount, target } = fleet;
  const shape = { accounts, mailboxesPerAccount, changedShare: 0.3 };
  using place = new Workplace();
  await fillStore(place, shape);
  await using api = await BenchApi.start(shape);
  using receiver = await startReceiver();
  await using daemon = await BenchDaemon.start(await configure(place, api, { alerts: receiver.alerts }));
  const probe = `${api.url('exporter')}/v1/stats?mailbox_id=${idOf(0)}&days=30`;
  const [exporter] = await Promise.all([
    blackbox?.probe({ target: probe, forMs, concurrency: 1, everyMs: probeEveryMs }),
    scraped(daemon, forMs),
  ]);
  const { rssMegabytes } = counted(daemon.pid);
  const figure = `${accounts * mailboxesPerAccount}_mailboxes/rss_megabytes`;
  const peer = exporter ? exporter.rssBytes / 1e6 : null;
  return heldAgainst(target, { bench, figure, ours: rssMegabytes, peer });
}

/** The benchmark. Takes half an hour, for memory is told after ten minutes on duty; small: two minutes. */
export async function memoryBenchmark({ small }: BenchOptions): Promise<readonly Figure[]> {
  const forMs = (small ? 1 : 10) * 60_000;
  await using blackbox = await startBlackbox(bench);
  // Side by side: memory does not depend on how busy the machine is.
  const figures = await Promise.all([rssOf(thousand, forMs, blackbox), rssOf(tenThousand, forMs, null)]);
  // Alone: it takes a core.
  if (!small) figures.push(await rssOf(hundredThousand, forMs, null));
  process.stderr.write(`${tableOf(figures, 'exporter')}\n`);
  return figures;
}
