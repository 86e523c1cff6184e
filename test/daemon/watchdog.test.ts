import { expect, test } from 'vitest';
import { Watchdog } from '../../src/daemon/watchdog.ts';

test('a watchdog that cannot look ends the process, as a stopped loop does', async () => {
  const broken = {
    get watches(): never {
      throw new Error('no list of accounts');
    },
  };
  const opened = { world: { clock: { monotonic: () => 0 } }, fleet: { storeFailure: null } };
  const crashes: string[] = [];
  const watchdog = new Watchdog(opened as never, broken as never, (why) => crashes.push(why));
  await watchdog.watch();
  expect(crashes).toEqual(['the loops cannot be watched: no list of accounts']);
});
