// Benchmarks of the whole daemon: their API and floor ask for the same as the daemon, both servers of scrapes show the same
// series, and figures are held against their targets.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readBlacklist, readDetail, readDns, readMailboxes, readStats, readWarmup } from '../../src/api/answers.ts';
import { maxSeriesOfMailbox } from '../../src/metrics/mailbox-series.ts';
import { BenchApi, keyOf, total } from '../../tools/bench/daemon/api.ts';
import { idOf } from '../../tools/bench/daemon/bodies.ts';
import { Workplace } from '../../tools/bench/daemon/daemon.ts';
import { floorCost } from '../../tools/bench/daemon/floor.ts';
import type { Measured, Order } from '../../tools/bench/scrape/orders.ts';
import { heldAgainst } from '../../tools/bench/targets.ts';
import { hasProc } from '../support/process.ts';

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

/** How many of so many answers differed from the one before. */
async function changedOf(times: number, ask: () => Promise<string>): Promise<number> {
  let [changed, last] = [0, await ask()];
  for (let n = 0; n < times; n += 1) {
    const body = await ask();
    if (body !== last) changed += 1;
    last = body;
  }
  return changed;
}

test.each([
  ['the statistics of a mailbox', `stats?mailbox_id=${idOf(0)}&days=30`],
  ['the list of an account, whatever other accounts ask', 'mailboxes'],
])('three in ten answers to the same question differ from the one before: %s', async (_, path) => {
  await using api = await BenchApi.start({ ...shape, mailboxesPerAccount: 100 });
  const changed = await changedOf(200, async () => {
    await get(api, 'mailboxes', 1);
    return get(api, path);
  });
  expect(changed).toBeGreaterThan(40);
  expect(changed).toBeLessThan(80);
});

test.runIf(hasProc)('the floor asks in the proportions of the daemon, and its cost is told', async () => {
  await using api = await BenchApi.start(shape);
  using place = new Workplace();
  const mix = { stats: 60, warmup: 30, mailboxes: 10 };
  const order = { url: api.url('floor'), folder: place.folder, shape, mix, warmMs: 0, forMs: 400, everyMs: 0 };
  const cost = await floorCost(order);
  const { polls } = await api.notified('floor');
  expect(total(polls)).toBe(cost.polls);
  expect((polls.stats ?? 0) / cost.polls).toBeCloseTo(0.6, 1);
  expect(cost.cpuMs).toBeGreaterThan(0);
  expect(cost.writtenBytes).toBeGreaterThan(0);
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

const atMost = { wanted: 2, is: 'at most', of: 'ratio', enforced: true } as const;
const atLeast = { wanted: 4_000, is: 'at least', of: 'ours', enforced: true } as const;

test.each([
  ['at most: the target itself', atMost, 2, true, false],
  ['at most: above it', atMost, 3, false, false],
  ['at most: from twice the target on', atMost, 5, false, true],
  ['at most, not enforced yet: however far away it is', { ...atMost, enforced: false }, 50, false, false],
  ['at least: more than half of it', atLeast, 2_500, false, false],
  ['at least: less than half of it', atLeast, 1_900, false, true],
] as const)('a figure against its target, %s: holds or fails', (_, target, ours, holds, fails) => {
  const held = heldAgainst(target, { bench: 'duty', figure: 'cpu', ours, peer: 1 });
  expect(held).toMatchObject({ ratio: ours, holds, fails });
});
