// A command in the first seconds of a start said that no daemon answers, although one was starting.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askDaemon, askFor, daemonListens } from '../../src/cli/daemon.ts';
import { hasProc, Workplace } from '../support/process.ts';

const pause = { by: 'a test', reason: 'to see it' };

/** With the store in its hands, and silent. */
async function silentProcess(path: string, since: number): Promise<ChildProcess & Disposable> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../support/slow-start.ts'), path, String(since)]);
  await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill('SIGKILL') });
}

test.runIf(hasProc)('a command waits for the daemon that is starting', async () => {
  using workplace = new Workplace();
  const path = workplace.path('warmwarden.db');
  using daemon = await silentProcess(path, Date.now());
  const asked = Promise.all([askDaemon(path, 'breaker-apply', pause), askFor(path, 'fleet'), daemonListens(path)]);
  daemon.stdin?.write('listen\n');
  expect(await asked).toEqual([{ result: 'done', messages: ['it started'] }, { mailboxes: [] }, true]);
});

test.runIf(hasProc)('it says so when the start takes longer', async () => {
  using workplace = new Workplace();
  const path = workplace.path('warmwarden.db');
  using daemon = await silentProcess(path, Date.now());
  await expect(askDaemon(path, 'breaker-apply', pause)).rejects.toThrow(
    new RegExp(`^Warmwarden is starting \\(process ${daemon.pid} on .*\\), and accepts no commands yet\\.`),
  );
});
