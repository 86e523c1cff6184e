// The room that V8 gets for garbage: V8 reads these settings while it runs, so a process of its own shows them.
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { growingPercentOf } from '../../../src/cli/run/heap.ts';
import { node } from '../../support/process.ts';

const bin = fileURLToPath(new URL('../../../src/bin.js', import.meta.url));
const megabyte = 1024 * 1024;
const source = fileURLToPath(new URL('../../../src/cli/run/heap.ts', import.meta.url));

/**
 * 8 MB, as far as that can be seen: V8 doubles it at a time, and what it says of it is off by some megabytes while its threads wait for
 * a core. It is to be far from what it takes while the event loop computes.
 */
function expectCalm(sizes: readonly number[]): void {
  expect(Math.min(...sizes)).toBeGreaterThan(4);
  expect(Math.max(...sizes)).toBeLessThan(24);
}

/** The space for young objects, megabytes, after steps in which much survives. `shares`: of a core, in each step. */
function youngAfter(shares: readonly number[]): readonly number[] {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { HeapRoom } from ${JSON.stringify(source)};
    const room = new HeapRoom();
    const kept = [];
    const sizes = ${JSON.stringify(shares)}.map((share) => {
      room.adapt(share);
      for (let n = 0; n < 5_000; n += 1) kept.push({ n, list: [n] });
      if (kept.length > 50_000) kept.splice(0, 25_000);
      const { space_used_size, space_available_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      return Math.round(2 * (space_used_size + space_available_size) / ${megabyte});
    });
    process.stdout.write(JSON.stringify(sizes));`;
  const args = ['--max-semi-space-size=16', '--input-type=module', '--eval', program];
  return JSON.parse(execFileSync(node, args, { encoding: 'utf8' })) as readonly number[];
}

test('young objects get 8 MB while the event loop has time, or waits for a core; V8 may take its limit while it computes', () => {
  const [calm, between, busy] = [Array(20).fill(0.2), Array(120).fill(0.5), Array(20).fill(0.9)];
  const sizes = youngAfter([...calm, ...between, ...busy, ...between]);
  expectCalm(sizes.slice(0, calm.length + between.length));
  // Once it is busy, a share between the bounds leaves it so.
  expect(sizes.at(-1)).toBeGreaterThan(28);
});

test('the burst of a start is no load: young objects keep their 8 MB', () => {
  const [burst, sweep] = [Array(5).fill(1), Array(120).fill(0.5)];
  expectCalm(youngAfter([...burst, ...sweep]));
});

/** Collections of old objects after a start that leaves 40 MB of objects, to which few are added meanwhile. */
function collectionsAfterStart(): number {
  const program = `
    import { constants, PerformanceObserver } from 'node:perf_hooks';
    import { runInNewContext } from 'node:vm';
    import { HeapRoom } from ${JSON.stringify(source)};
    let collections = 0;
    const count = ({ detail }) => { if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections += 1; };
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(count));
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const room = new HeapRoom();
    const kept = Array.from({ length: 500_000 }, (_, n) => ({ n, list: [n] }));
    // V8 by itself is to begin when they have doubled.
    runInNewContext('gc')();
    await sleep(100);
    observer.observe({ entryTypes: ['gc'] });
    void room.follow({ monotonic: () => performance.now(), sleep });
    const until = performance.now() + 60_000;
    while (collections === 0 && performance.now() < until) {
      for (let n = 0; n < 2_000; n += 1) kept[n] = { n, list: [n] };
      for (let n = 0; n < 200; n += 1) kept.push({ n, list: [n] });
      await sleep(10);
    }
    await sleep(300);
    process.stdout.write(String(collections));
    process.exit();`;
  const args = ['--max-semi-space-size=16', '--expose-gc', '--input-type=module', '--eval', program];
  return Number(execFileSync(node, args, { encoding: 'utf8' }));
}

test('young objects get their 8 MB back after V8 has halved them several times', () => {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { runInNewContext } from 'node:vm';
    import { HeapRoom } from ${JSON.stringify(source)};
    const gc = runInNewContext('gc');
    const room = new HeapRoom();
    const young = () => {
      const { space_used_size, space_available_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      return Math.round(2 * (space_used_size + space_available_size) / ${megabyte});
    };
    gc({ type: 'major', flavor: 'last-resort' });
    const sizes = [young()];
    const kept = [];
    for (let look = 0; look < 100; look += 1) {
      room.adapt(0.2);
      for (let n = 0; n < 5_000; n += 1) kept[(look * 5_000 + n) % 50_000] = { n, list: [n] };
      sizes.push(young());
    }
    process.stdout.write(JSON.stringify([sizes[0], sizes.at(-1), Math.max(...sizes)]));`;
  const args = ['--max-semi-space-size=16', '--expose-gc', '--input-type=module', '--eval', program];
  const [halved = 0, later = 0, most = 0] = JSON.parse(execFileSync(node, args, { encoding: 'utf8' })) as number[];
  expect(halved).toBeLessThan(4);
  expectCalm([later, most]);
});

test('after a start, old objects are collected, although the heap has hardly grown', () => {
  expect(collectionsAfterStart()).toBe(1);
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
