// Benchmarks of the whole daemon: their API answers what the daemon reads, both servers of scrapes show the same series, and
// figures are held against their targets.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readBlacklist, readDetail, readDns, readMailboxes, readStats, readWarmup } from '../../src/api/answers.ts';
import { maxSeriesOfMailbox } from '../../src/metrics/mailbox-series.ts';
import { BenchApi, keyOf } from '../../tools/bench/daemon/api.ts';
import { idOf } from '../../tools/bench/daemon/bodies.ts';
import type { Measured, Order } from '../../tools/bench/scrape/orders.ts';
import { measured, tableOf } from '../../tools/bench/targets.ts';

const shape = { accounts: 2, mailboxesPerAccount: 5, changedShare: 0.3 };

async function get(api: BenchApi, path: string, account = 0): Promise<string> {
  const headers = { authorization: `Bearer ${keyOf(account)}` };
  return (await fetch(`${api.url('daemon')}/v1/${path}`, { headers })).text();
}

test('an account lists its own mailboxes, and every body is one that the daemon reads', async () => {
  await using api = await BenchApi.start(shape);
  const list = readMailboxes(JSON.parse(await get(api, 'mailboxes', 1)));
  expect(list?.mailboxes.map(({ id }) => id)).toEqual([5, 6, 7, 8, 9].map(idOf));
  const of = async (path: string) => JSON.parse(await get(api, path));
  const about = `mailbox_id=${idOf(3)}`;
  const stats = readStats(await of(`stats?${about}&days=30`));
  expect(stats?.rows).toHaveLength(30);
  expect(stats?.rows?.every(({ date, sent, bounced }) => date !== null && (sent ?? 0) > 0 && bounced === 0)).toBe(true);
  expect(readWarmup(await of(`warmup?${about}`))).toMatchObject({ mode: 'balanced', status: 'active' });
  expect(readDetail(await of(`mailboxes/${idOf(3)}`))).toMatchObject({ connection: 'connected' });
  expect(readDns(await of(`dns?${about}`))?.records.dkim.pass).toBe(true);
  expect(readBlacklist(await of(`blacklist?${about}`))?.listed).toBe(false);
  expect(await api.notified('daemon')).toMatchObject({ unread: 45, polls: { mailboxes: 1, blacklist: 1 } });
});

const script = fileURLToPath(new URL('../../tools/bench/scrape/server.ts', import.meta.url));

async function notified(child: ChildProcess, order?: Order): Promise<unknown> {
  const answer = once(child, 'message');
  if (order) child.send(order);
  return (await answer)[0];
}

async function seriesOf(port: unknown): Promise<readonly string[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } })).text();
  return text
    .split('\n')
    .filter((line) => line.includes('mailbox="'))
    .sort();
}

test('ours and prom-client show the same series of the same fleet', async () => {
  const children = ['ours', 'peer'].map((side) => fork(script, [side, '300']));
  try {
    const [ours, peer] = await Promise.all(children.map((child) => notified(child)));
    const before = await seriesOf(ours);
    expect(before).toHaveLength(300 * maxSeriesOfMailbox);
    expect(await seriesOf(peer)).toEqual(before);
    for (const child of children) await notified(child, 'change');
    const after = await seriesOf(ours);
    expect(after).not.toEqual(before);
    expect(await seriesOf(peer)).toEqual(after);
    for (const child of children) {
      const { cpuMs, peakMb } = (await notified(child, 'tell')) as Measured;
      expect(cpuMs).toBeGreaterThan(0);
      expect(peakMb).toBeGreaterThan(10);
    }
  } finally {
    for (const child of children) child.kill();
  }
});

test.each([
  ['within its target', 'steady/500_mailboxes/rss_megabytes', 90, null, true, 'holds'],
  ['beyond it', 'steady/500_mailboxes/rss_megabytes', 125, null, false, '25% over'],
  ['a ratio within its target', 'steady/500_mailboxes/cpu_ms_a_poll', 4, 10, true, 'holds'],
  ['a ratio beyond it', 'steady/500_mailboxes/cpu_ms_a_poll', 10, 10, false, '100% over'],
  ['a ratio without what it is compared with', 'steady/500_mailboxes/cpu_ms_a_poll', 10, null, true, 'not compared'],
  ['without a target', 'storm/10000_mailboxes/seconds', 10, null, true, ''],
] as const)(
  'a measured figure fails nothing, and its row says whether it holds: %s',
  (_, figure, ours, peer, holds, said) => {
    const one = measured({ bench: 'duty', figure, ours, peer });
    expect(one).toMatchObject({ ours, holds, fails: false });
    expect(tableOf([one], 'blackbox').split('\n')[1]?.trimEnd().endsWith(said)).toBe(true);
  },
);
