// A daemon that is alone and not ready: for each cause, what /readyz says, and who notices without looking at it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notGuardedCauses } from '../../src/core/not-guarded.ts';
import { minuteMs } from '../../src/core/time.ts';
import { causes } from '../../src/daemon/readiness.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { root } from '../support/process.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

/** Its cases: test/regression/store.test.ts. */
const store = { cause: 'store', documented: 'The store is failing' } as const;

const channels = { cause: 'channels', documented: 'No channel accepts messages' } as const;

test('no channel that takes messages', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll, expectErrors: [''] });
  await stage.run(minuteMs);
  expect(await stage.readyz()).toBe('200 ready');
  stage.receiver.answer = () => 410;
  await trouble(stage.simulator.url, 'disconnect', amelia);
  await stage.run(5 * minuteMs);
  expect(await stage.readyz()).toMatch(
    /^503 not ready: no channel has accepted a message since 10 March 08:3\d UTC: .*answered 410/,
  );
  expect(await stage.text('/')).toMatch(/class="headline alarm"/);
  stage.receiver.answer = () => 200;
  await stage.run(61 * minuteMs);
  expect(await stage.readyz()).toBe('200 ready');
  expect(stage.receiver.alerts().map(({ rule }) => rule)).toContain('mailbox_unwell');
});

test('each cause is here and in docs/operating.md; a start has only its end to wait for', () => {
  const docs = readFileSync(join(root, 'docs/operating.md'), 'utf8');
  const documented = new Map<string, string>([['start', 'The first sweep has not started']]);
  for (const { cause, documented: words } of [store, channels]) documented.set(cause, words);
  // Their cases: test/scenario/crash.test.ts.
  documented.set('accounts', 'An account is starting');
  documented.set('crash', 'Warmwarden ended');
  expect([...documented.keys()].toSorted()).toEqual(Object.keys(causes).toSorted());
  // Their cases: test/scenario/crash.test.ts, and green-means-guarded and damaged-store in test/habits.
  const ofAccounts = {
    ...{ stopped: 'An account has stopped', starting: 'An account is starting' },
    ...{ 'list unread': "Its mailbox list can't be read", 'nothing judged': 'No mailbox can be judged' },
    'list unrecorded': 'A mailbox list cannot be recorded',
  };
  const own = Object.entries(notGuardedCauses).filter(([, { isOwn }]) => isOwn);
  expect(Object.keys(ofAccounts).toSorted()).toEqual(own.map(([cause]) => cause).toSorted());
  for (const words of [...documented.values(), ...Object.values(ofAccounts)])
    expect(docs).toContain(`- **${words}**: `);
});
