// `npm run bench -- store`: how fast the store grows, and how long a start on a large one takes.
import { BenchApi, total } from './daemon/api.ts';
import { fillStore } from './daemon/clone.ts';
import { BenchDaemon, configure, Workplace } from './daemon/daemon.ts';
import { counted } from './daemon/process.ts';
import type { BenchOptions, Figure } from './figure.ts';
import { growthBytes } from './store/growth.ts';
import { heldAgainst, type Target, tableOf, targets } from './targets.ts';

const bench = 'store';
const asker = 'daemon';
const firstPollLimitMs = 120_000;

interface Start {
  readonly accounts: number;
  readonly mailboxesPerAccount: number;
  readonly target: Target;
}

const middle: Start = { accounts: 50, mailboxesPerAccount: 200, target: targets.firstPollOf10k };
const large: Start = { accounts: 200, mailboxesPerAccount: 500, target: targets.firstPollOf100k };

/** From the start of the process to its first request: CPU time, because other processes slow down the wall's. */
async function coldStart({ accounts, mailboxesPerAccount, target }: Start): Promise<Figure> {
  const shape = { accounts, mailboxesPerAccount, changedShare: 0.3 };
  using place = new Workplace();
  await fillStore(place, shape);
  await using api = await BenchApi.start(shape);
  const config = await configure(place, api);
  const began = performance.now();
  await using daemon = BenchDaemon.launch(config);
  const polls = async () => total((await api.notified(asker)).polls) > 0;
  await daemon.until('its first poll', polls, firstPollLimitMs);
  const { cpuMs } = counted(daemon.pid);
  const mailboxes = accounts * mailboxesPerAccount;
  say(`${mailboxes} mailboxes: first poll after ${((performance.now() - began) / 1_000).toFixed(1)} s on the wall`);
  const figure = `cold_start/${mailboxes}_mailboxes/cpu_seconds_to_first_poll`;
  return heldAgainst(target, { bench, figure, ours: cpuMs / 1_000, peer: null });
}

const say = (text: string) => process.stderr.write(`${bench}: ${text}\n`);

/** The benchmark. Takes about three minutes; small: about two. */
export async function storeBenchmark({ small }: BenchOptions): Promise<readonly Figure[]> {
  say('days of calm mailboxes on a moved clock');
  const grown = await growthBytes();
  const figure = 'growth/bytes_a_calm_mailbox_and_day';
  const figures = [heldAgainst(targets.growth, { bench, figure, ours: grown, peer: null })];
  for (const start of small ? [middle] : [middle, large]) figures.push(await coldStart(start));
  process.stderr.write(`${tableOf(figures, 'peer')}\n`);
  return figures;
}
