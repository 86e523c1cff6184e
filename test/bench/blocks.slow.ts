// What the benchmarks of the whole daemon stand on: a filled store is one that the daemon reads, and a blocked loop is seen.
import { spawn } from 'node:child_process';
import { on } from 'node:events';
import { expect, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import type { Looked } from '../../tools/bench/blocks/look.ts';
import { emailOf, idOf } from '../../tools/bench/daemon/bodies.ts';
import { fillStore, storeOf } from '../../tools/bench/daemon/clone.ts';
import { Workplace } from '../../tools/bench/daemon/daemon.ts';

test('a filled store has every mailbox with all its answers, under its own name', async () => {
  using place = new Workplace();
  await fillStore(place, { accounts: 3, mailboxesPerAccount: 20, changedShare: 0.3 });
  const store = await Store.open(storeOf(place), Date.now());
  const { mailboxes } = await store.loadPicture();
  await store.close();
  const names = mailboxes.map(({ account, id, email }) => `${account} ${id} ${email}`).sort();
  const wanted = Array.from({ length: 60 }, (_, n) => `agency-${Math.floor(n / 20)} ${idOf(n)} ${emailOf(n)}`);
  expect(names).toEqual(wanted.sort());
  expect(mailboxes.every(({ verdict, stats, warmup }) => verdict && stats && warmup)).toBe(true);
  const last = mailboxes.find(({ id }) => id === idOf(59));
  expect(last?.dns?.answer.domain).toBe('outreach-59.example');
});

/** A process that is looked at from inside and does `work`, a function of the order, after each order. */
async function watched(
  work: string,
  asking: (ask: (order: string) => Promise<Looked>) => Promise<void>,
): Promise<void> {
  const look = new URL('../../tools/bench/blocks/look.ts', import.meta.url).href;
  const script = `const work = ${work};
    process.on('message', (order) => setTimeout(() => {
      work(order);
      setTimeout(() => process.send('worked'), 20);
    }, 20));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--expose-gc', '--import', look, '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const messages = on(child, 'message');
  const next = async () => (await messages.next()).value?.[0];
  try {
    await asking(async (order) => {
      child.send(order);
      const looked = await next();
      expect(await next()).toBe('worked');
      return looked;
    });
  } finally {
    child.kill();
  }
}

test('the longest work of the event loop is told, and what came before the reset is not', async () => {
  const work = `(order) => {
    const end = process.threadCpuUsage().user + (order === 'reset' ? 5 : 1000) * 1000;
    while (process.threadCpuUsage().user < end);
  }`;
  await watched(work, async (ask) => {
    await ask('tell');
    const { blockMs, ownMs } = await ask('tell');
    expect(blockMs).toBeGreaterThan(990);
    expect(ownMs).toBeGreaterThan(blockMs / 2);
    await ask('reset');
    expect((await ask('tell')).blockMs).toBeLessThan(500);
  });
});
