// The room that V8 gets for garbage: V8 reads these settings while it runs, so a process of its own shows them.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { growingPercentOf, type LoopLoad } from '../../../src/commands/run/heap.ts';
import { node } from '../../support/process.ts';

const bin = fileURLToPath(new URL('../../../src/bin.js', import.meta.url));
const megabyte = 1024 * 1024;
const source = fileURLToPath(new URL('../../../src/commands/run/heap.ts', import.meta.url));

/** The space for young objects, megabytes, after steps in which much survives. */
function youngAfter(loads: readonly LoopLoad[]): readonly number[] {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { HeapRoom } from ${JSON.stringify(source)};
    const room = new HeapRoom();
    const kept = [];
    const sizes = ${JSON.stringify(loads)}.map((load) => {
      room.adapt(load);
      for (let n = 0; n < 5_000; n += 1) kept.push({ n, list: [n] });
      if (kept.length > 50_000) kept.splice(0, 25_000);
      return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / ${megabyte};
    });
    process.stdout.write(JSON.stringify(sizes));`;
  const args = ['--max-semi-space-size=16', '--input-type=module', '--eval', program];
  return JSON.parse(execFileSync(node, args, { encoding: 'utf8' })) as readonly number[];
}

/** All the time on a core that it wants. */
const loads = (count: number, busy: number): readonly LoopLoad[] => Array(count).fill({ busy, ofCore: busy });

test('young objects get 8 MB while the event loop has time, and V8 may take its limit once it has none', () => {
  const [calm, between] = [loads(20, 0.5), loads(120, 0.7)];
  const busy = loads(1, 0.9);
  const sizes = youngAfter([...calm, ...between, ...busy, ...between]);
  expect(Math.max(...sizes.slice(0, calm.length + between.length))).toBeLessThan(16);
  // Once it is busy, a share between the bounds leaves it so.
  expect(sizes.at(-1)).toBe(32);
});

test('young objects keep 8 MB while others use the machine, however long the event loop waits for a core', () => {
  const starved: readonly LoopLoad[] = Array(140).fill({ busy: 1, ofCore: 0.2 });
  expect(Math.max(...youngAfter(starved))).toBeLessThan(16);
  // Once it is busy, it stays so while it gets some of a core.
  expect(youngAfter([...loads(1, 0.9), ...starved]).at(-1)).toBe(32);
});

test('loading the program does not make the space for young objects grow', () => {
  const tell = `
    import { getHeapSpaceStatistics } from 'node:v8';
    process.on('exit', () => {
      const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
      process.stdout.write(String(young / ${megabyte}));
    });`;
  const module = `data:text/javascript,${encodeURIComponent(tell)}`;
  const args = ['--max-semi-space-size=16', '--import', module, bin, 'run', '--config', '/nowhere/config.yaml'];
  // It ends because there is no such file, after it was loaded.
  const { stdout, stderr } = spawnSync(node, args, { encoding: 'utf8' });
  expect(stderr).toContain('/nowhere/config.yaml');
  expect(Number(stdout)).toBeLessThanOrEqual(8);
});

test('old objects may double while it is busy, unless that takes more than 128 MB', () => {
  expect(growingPercentOf(false, 40 * megabyte)).toBe(30);
  expect(growingPercentOf(true, 40 * megabyte)).toBe(100);
  expect(growingPercentOf(true, 256 * megabyte)).toBe(50);
  expect(growingPercentOf(true, 4_000 * megabyte)).toBe(30);
});
