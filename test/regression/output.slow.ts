// O1: standard output that can't be written, that nobody reads, or whose reader dies, once ended or froze the whole guard.
import { once } from 'node:events';
import { constants } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Fifo, guardsAndTells, linesOf, openStage, Unheard } from '../support/unheard.ts';
import { until } from '../support/until.ts';

describe.concurrent('O1: the guard starts and goes on, and every action is told, when standard output', () => {
  test('is a socket that no process reads', async () => {
    const staged = await openStage({ talkative: true });
    await using _stage = staged.stage;
    await using daemon = new Unheard(staged.run, ['ignore', 'pipe', 'pipe']);
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
    await using daemon = new Unheard(staged.run, ['ignore', writer, writer]);
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
