// What the benchmarks of the whole daemon stand on: a filled store is one that the daemon reads, and a blocked loop is seen.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

test('the longest work of the event loop is told, and what came before the reset is not', async () => {
  const look = new URL('../../tools/bench/blocks/look.ts', import.meta.url).href;
  const work = `const busy = (ms) => { const end = process.cpuUsage().user + ms * 1000; while (process.cpuUsage().user < end); };
    process.on('message', (order) => setTimeout(busy, 20, order === 'reset' ? 5 : 250)); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', look, '-e', work], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ask = async (order: string) => {
    const answer = once(child, 'message');
    child.send(order);
    const [looked] = (await answer) as [Looked];
    return looked;
  };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1_000));
  try {
    // Each order but a reset is followed by 250 ms of work.
    await ask('tell');
    await pause();
    expect((await ask('tell')).blockMs).toBeGreaterThan(240);
    await pause();
    await ask('reset');
    await pause();
    expect((await ask('tell')).blockMs).toBeLessThan(200);
  } finally {
    child.kill();
  }
});
