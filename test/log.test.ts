// The log while something goes on failing: one line a minute and kind, with how many were left out.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../src/core/time.ts';
import { logTo } from '../src/world/world.ts';
import { movedClock } from '../tools/simulator/moved-clock.ts';

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
