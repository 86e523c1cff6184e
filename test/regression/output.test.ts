// O1: standard output that can't be written, that nobody reads, or whose reader dies, once ended or froze the whole guard.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bin } from '../support/process.ts';
import { Fifo, guardsAndTells, linesOf, openStage, unheard, uselessRoutes } from '../support/unheard.ts';
import { until } from '../support/until.ts';

describe.concurrent('O1: the guard starts and goes on, and every action is told, when standard output', () => {
  test('is a file on a full disk, and standard error too', async () => {
    const staged = await openStage({ format: 'pretty' });
    await using _stage = staged.stage;
    const full = openSync('/dev/full', 'w');
    await using daemon = unheard(staged.run, ['ignore', full, full]);
    closeSync(full);
    const figures = await guardsAndTells(staged);
    expect(figures.value('log_lines_dropped_total')).toBeGreaterThan(2);
    daemon.child.kill('SIGTERM');
    expect(await once(daemon.child, 'exit')).toEqual([0, null]);
  });

  test('is a pipe whose reader stalls; when it reads again, one line says how many are missing', async () => {
    const staged = await openStage({ talkative: true });
    await using _stage = staged.stage;
    using fifo = new Fifo();
    const reader = fifo.open(constants.O_RDWR);
    const writer = fifo.open(constants.O_WRONLY);
    await using _daemon = unheard(staged.run, ['ignore', writer, 'ignore']);
    const figures = await guardsAndTells(staged);
    const dropped = figures.value('log_lines_dropped_total') ?? 0;
    expect(dropped).toBeGreaterThan(0);
    let read = '';
    const report = await until('the line about the gap', () => {
      read += fifo.read(reader);
      return linesOf(read).find((line) => line.includes('log lines were dropped') && line.endsWith('}'));
    });
    expect(JSON.parse(report).dropped).toBeGreaterThanOrEqual(dropped);
    // No line is torn, and none is missing unsaid.
    const whole = linesOf(read.slice(0, read.lastIndexOf('\n'))).map((line) => JSON.parse(line));
    const warnings = whole.filter(({ msg }) => msg.includes('nobody-')).length;
    expect(warnings).toBeGreaterThan(50);
    expect(warnings + JSON.parse(report).dropped).toBeGreaterThanOrEqual(uselessRoutes.length);
    expect(whole.filter(({ msg }) => msg.includes('log lines were dropped'))).toHaveLength(1);
  });

  test('is a socket that no process reads', async () => {
    const staged = await openStage({ talkative: true });
    await using _stage = staged.stage;
    await using daemon = unheard(staged.run, ['ignore', 'pipe', 'pipe']);
    const figures = await guardsAndTells(staged);
    expect(figures.value('log_lines_dropped_total')).toBeGreaterThan(0);
    daemon.child.kill('SIGTERM');
    expect(await once(daemon.child, 'exit')).toEqual([0, null]);
  });

  test('is a pipe whose reader dies; the next reader sees how much was lost', async () => {
    const staged = await openStage();
    await using _stage = staged.stage;
    using fifo = new Fifo();
    const first = fifo.open(constants.O_RDONLY);
    const writer = fifo.open(constants.O_WRONLY);
    await using daemon = unheard(staged.run, ['ignore', writer, writer]);
    fifo.close(writer);
    fifo.close(first);
    const figures = await guardsAndTells(staged);
    const dropped = figures.value('log_lines_dropped_total') ?? 0;
    expect(dropped).toBeGreaterThan(0);
    const second = fifo.open(constants.O_RDONLY);
    daemon.child.kill('SIGHUP');
    let read = '';
    await until('lines again', () => {
      read += fifo.read(second);
      return read.includes('configuration reloaded');
    });
    expect(JSON.parse(linesOf(read)[0] ?? '{}').dropped).toBeGreaterThanOrEqual(dropped);
  });
});

test('a full disk ends a command that has nothing else to do with one sentence', async () => {
  const full = openSync('/dev/full', 'w');
  const said = spawnSync(process.execPath, [bin, 'simulator', '--help'], { stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect(said.status).toBe(1);
  expect(said.stderr.toString()).toMatch(/^warmwarden: standard output could not be written: ENOSPC.*\n$/);
});
