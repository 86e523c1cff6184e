// Lines to standard output: in order and whole, kept while a reader stalls, dropped and counted beyond that, never thrown. The log
// while something goes on failing.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../src/core/time.ts';
import { maxWaitingBytes, Output } from '../src/world/output.ts';
import { logTo } from '../src/world/world.ts';
import { movedClock } from '../tools/simulator/moved-clock.ts';

/** A descriptor with room for so many bytes, or an error instead; timers that the test lets go off. */
function rig(room = Number.POSITIVE_INFINITY) {
  const due: (() => void)[] = [];
  const state = { room, error: null as string | null, text: '', blockedMs: 0, due, whileBlocked: () => {} };
  const output = new Output({
    write: (bytes) => {
      const code = state.error ?? (state.room <= 0 ? 'EAGAIN' : null);
      if (code) throw Object.assign(new Error(code), { code });
      const part = bytes.subarray(0, state.room);
      state.room -= part.length;
      state.text += part.toString();
      return part.length;
    },
    patience: {
      later: (_ms, run) => void due.push(run),
      block: (ms) => {
        state.blockedMs += ms;
        state.whileBlocked();
      },
    },
    droppedLine: (dropped) => `${dropped} dropped\n`,
  });
  return { output, state, later: () => due.splice(0).forEach((run) => void run()) };
}

test('what waits is bounded: newer lines are dropped, and reported where they are missing', () => {
  const { output, state, later } = rig(0);
  const line = `${'x'.repeat(1_023)}\n`;
  for (let written = 0; written < 2 * maxWaitingBytes; written += line.length) output.write(line);
  const kept = maxWaitingBytes / line.length;
  expect(output.dropped).toBe(kept);
  state.room = Number.POSITIVE_INFINITY;
  later();
  output.write('after\n');
  expect(state.text).toBe(`${line.repeat(kept)}${kept} dropped\nafter\n`);
  expect(output.dropped).toBe(kept);
});

test.each(['ENOSPC', 'EPIPE', 'EIO', 'EBADF'])('%s drops each line, and is reported once when it is over', (code) => {
  const { output, state } = rig();
  output.write('before\n');
  state.error = code;
  output.write('one\n');
  output.write('two\n');
  expect([state.text, output.dropped, state.due.length]).toEqual(['before\n', 2, 0]);
  state.error = null;
  output.write('three\n');
  output.write('four\n');
  expect([state.text, output.dropped]).toEqual(['before\n2 dropped\nthree\nfour\n', 2]);
});

test('at the end of the process a slow reader gets what is left, a dead one is waited for no longer than a second', () => {
  const slow = rig(0);
  slow.output.write('last\n');
  slow.state.whileBlocked = () => {
    slow.state.room += 2;
  };
  slow.output.flush();
  expect([slow.state.text, slow.state.blockedMs]).toEqual(['last\n', 30]);
  const stalled = rig(0);
  stalled.output.write('last\n');
  stalled.output.flush();
  expect([stalled.state.text, stalled.state.blockedMs]).toEqual(['', 1_000]);
});

const full = () => Object.assign(new Error('database or disk is full'), { errcode: 13 });

function logged() {
  const clock = movedClock(0);
  const lines: Record<string, unknown>[] = [];
  const log = logTo((line) => void lines.push(JSON.parse(line)), { level: 'info', format: 'json' }, clock);
  /** An answer a second that can't be recorded. */
  const fails = async (seconds: number, error = full) => {
    for (let count = 0; count < seconds; count += 1) {
      log.error({ account: `a${count}`, err: error() }, 'an answer could not be recorded');
      await clock.advance(secondMs);
    }
  };
  return { clock, lines, log, fails };
}

test('is one line a minute, the next with the number that was left out', async () => {
  const { lines, fails } = logged();
  await fails(150);
  expect(lines.map(({ msg, left_out }) => [msg, left_out])).toEqual([
    ['an answer could not be recorded', undefined],
    ['an answer could not be recorded', 59],
    ['an answer could not be recorded', 59],
  ]);
  expect(lines[0]).toMatchObject({ account: 'a0', err: { message: 'database or disk is full' } });
});

test('when it has ended, the line that says so comes with the number of the last ones', async () => {
  const { clock, lines, log, fails } = logged();
  await fails(10);
  await clock.advance(minuteMs);
  log.info('The store works again.');
  log.info('Something else.');
  expect(lines.slice(1)).toMatchObject([
    { msg: 'The store works again.' },
    { level: 'error', msg: 'an answer could not be recorded', failure: 'database or disk is full', left_out: 9 },
    { msg: 'Something else.' },
  ]);
  expect(lines[2]).not.toHaveProperty('err');
});
