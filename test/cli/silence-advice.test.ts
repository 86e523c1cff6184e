import { expect, test } from 'vitest';
import { adviceOn, silenceAdvice } from '../../src/cli/sources/silence-advice.ts';

const quiet = { load: 3.4, cpus: 4 };
const lived = { pid: '17', isStopped: false };

test('nobody is sent to end a daemon that is stopped: it is continued', () => {
  const said = adviceOn({ ...lived, isStopped: true }, { load: 24, cpus: 4 });
  expect(said).toBe('Its process is suspended, so its mailboxes are not guarded. Let it continue: `kill -CONT 17`.');
});

test('on a busy machine people are told so first, and to wait', () => {
  expect(adviceOn(lived, { load: 23.8, cpus: 4 })).toBe(
    'This machine is very busy (load 24, CPUs: 4), so the daemon may be working but too slow to answer. Try again when the machine is less busy. If it does not answer then, its mailboxes may not be guarded: end it with `kill -KILL 17` and start it again.',
  );
});

test('elsewhere people try again before they end it', () => {
  expect(adviceOn(lived, quiet)).toMatch(
    /^It may be starting, or busy\. Try again in a few minutes\. .*`kill -KILL 17`/,
  );
  expect(adviceOn(null, quiet)).toMatch(/: end it and start it again\.$/);
});

test('a process that runs, or is not there, is not called stopped', () => {
  expect(silenceAdvice(`process ${process.pid} on here, since now`)).toContain('kill -KILL');
  expect(silenceAdvice('process 4194999 on here, since now')).toContain('kill -KILL');
});
