// The targets of what the benchmarks measure and count, in one table; lag, guard and budget compute theirs.
import { type Figure, ratioOf, rounded } from './figure.ts';

/** x: multiples of what the figure is compared with. */
type Unit = 'x' | 'ms' | 's' | 'KB' | 'MB' | 'messages';

/** What is wanted of a figure at most, by `BENCHMARK/FIGURE`. A figure that has no row is only said. */
const targets: Readonly<Record<string, readonly [most: number, unit: Unit]>> = {
  'duty/restart/500_mailboxes/cpu_ms_a_poll': [1, 'x'],
  'duty/restart/500_mailboxes/disk_kilobytes_a_poll': [1, 'KB'],
  'duty/steady/500_mailboxes/cpu_ms_a_poll': [0.5, 'x'],
  'duty/steady/10000_mailboxes/cpu_ms_a_poll': [0.3, 'x'],
  'duty/steady/500_mailboxes/rss_megabytes': [100, 'MB'],
  'duty/steady/10000_mailboxes/rss_megabytes': [160, 'MB'],
  'duty/start/1000_mailboxes/cpu_seconds_to_first_poll': [0.6, 's'],
  'duty/storm/10000_mailboxes/megabytes_written': [100, 'MB'],
  'duty/100k/cpu_seconds_to_first_poll': [8, 's'],
  'duty/100k/scrape_seconds': [5, 's'],
  'duty/100k/slowest_view_seconds': [1, 's'],
  'duty/growth/500_mailboxes/kilobytes_a_day': [300, 'KB'],
  'disk/slow/healthz_ms_p99': [10, 'ms'],
  'disk/slow/healthz_ms_max': [40, 'ms'],
  'scrape/10000/gzip/live_daemon/cpu_ms': [1 / 15, 'x'],
  // Of a healthy agency of 500 mailboxes, without digest, heartbeat and the guard's own actions.
  'noise/healthy_slow/other_messages_a_week': [2, 'messages'],
  'noise/healthy_balanced/other_messages_a_week': [2, 'messages'],
  'noise/healthy_aggressive/other_messages_a_week': [2, 'messages'],
  // The study's interventions on healthy mailboxes in 90 days, times 500 mailboxes, and a quarter more.
  'noise/healthy_slow/messages_about_actions': [0.18 * 500 * 1.25, 'messages'],
  'noise/healthy_balanced/messages_about_actions': [0.11 * 500 * 1.25, 'messages'],
  'noise/healthy_aggressive/messages_about_actions': [0.006 * 500 * 1.25, 'messages'],
  // The fourth says that nothing of it is held any more.
  'noise/troubles/most_messages_an_incident': [4, 'messages'],
  'noise/troubles/dns_failure_messages': [3, 'messages'],
  'noise/troubles/slack_messages': [0.25, 'x'],
  'noise/troubles/pagerduty_messages': [0.25, 'x'],
};

/** How late an excess is seen. */
export const lagTargets = {
  /** As a share of round robin's lag, where statistics have every request: divided by the share that they have. */
  ofRoundRobin: {
    score_still: { p50: 0.15, p95: 0.25, max: 0.5 },
    score_moves: { p50: 0.05, p95: 0.1, max: 0.5 },
  },
  /**
   * Seconds. No mailbox is read again within a minute, and each waits for its turn beside the other kinds and the early lists: a
   * small fleet has a lag whatever its key allows, with a median as at an interval of 76 s.
   */
  ofInterval: { p50: 38, p95: 66, max: 83 },
} as const;

export interface Measured {
  readonly bench: string;
  readonly figure: string;
  readonly ours: number;
  /** null where there is nothing to compare with, for example because it is not installed. */
  readonly peer: number | null;
}

const targetOf = ({ bench, figure }: Pick<Figure, 'bench' | 'figure'>) => targets[`${bench}/${figure}`];

/** The figure, held against its target. Without a target, and without the peer that a target names, it holds. */
export function heldAgainst({ bench, figure, ours, peer }: Measured): Figure {
  const ratio = ratioOf(ours, peer);
  const [most, unit] = targetOf({ bench, figure }) ?? [null, null];
  const value = unit === 'x' && ours > 0 ? ratio : ours;
  return {
    bench,
    figure,
    ours: rounded(ours),
    peer: peer === null ? null : rounded(peer),
    ratio,
    target: most ?? Number.POSITIVE_INFINITY,
    holds: most === null || value === null || value <= most,
  };
}

/** The same for times, memory and disks, which differ from machine to machine: the command does not fail for it. */
export const measured = (one: Measured): Figure => ({ ...heldAgainst(one), fails: false });

/** `holds`, or by how much not; nothing for a figure without a target. */
function verdictOf(one: Figure): string {
  const [most, unit] = targetOf(one) ?? [null];
  if (most === null) return '';
  if (one.holds) return unit === 'x' && one.ratio === null ? 'not compared' : 'holds';
  return `${Math.round(((unit === 'x' ? (one.ratio ?? 0) : one.ours) / most - 1) * 100)}% over`;
}

/** The figures as a table for people. `peerName`: what they are compared with. */
export function tableOf(figures: readonly Figure[], peerName: string): string {
  const cells = figures.map((one) => {
    const { figure, ours, peer, ratio } = one;
    const [most, unit] = targetOf(one) ?? [];
    const wanted = most === undefined ? '' : `${rounded(most)} ${unit}`;
    return [figure, String(ours), String(peer ?? ''), String(ratio ?? ''), wanted, verdictOf(one)];
  });
  const rows = [['figure', 'ours', peerName, 'ratio', 'wanted', ''], ...cells];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return rows.map(line).join('\n');
}
