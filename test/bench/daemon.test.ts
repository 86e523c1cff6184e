// The benchmark of scrapes: both of its servers show the same series of the same fleet.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { mailboxGauges } from '../../src/metrics/mailbox-series.ts';
import type { Measured, Order } from '../../tools/bench/scrape/orders.ts';

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
    expect(before).toHaveLength(300 * mailboxGauges.flatMap(({ series }) => series).length);
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
