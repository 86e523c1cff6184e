// What begins and ends is told once each: an API that says it is unwell, and what happens while nobody is on duty. A daemon that is alone and
// not ready: for each cause, what /readyz says, and who notices without looking at it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { notGuardedCauses } from '../../src/core/not-guarded.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { causes } from '../../src/daemon/readiness.ts';
import type { Incident } from '../../tools/simulator/scenario.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { root } from '../support/process.ts';
import { scrape } from '../support/scrape.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

const calm = { ...scenarios.calm, fleet: stormOf(oliver).fleet };
const byTheMinute = { health: '* * * * *', mailboxes: '*/5 * * * *', stats: '0 * * * *', warmup: '0 * * * *' };

test('H21: a health check that is not ok is announced after five minutes, with its word, and resolved', async () => {
  await using stage = await startMovedDaemon({ scenario: calm, poll: byTheMinute });
  await stage.run(3 * minuteMs);
  const shown = async (status: string) =>
    (await scrape(stage.url())).value('api_health', { account: 'agency', status });
  expect([await shown('ok'), await shown('other')]).toEqual([1, 0]);
  await trouble(stage.simulator.url, 'unwell');
  await stage.run(4 * minuteMs);
  expect([await shown('ok'), await shown('other'), stage.notified('api_unwell')]).toEqual([0, 1, []]);
  await stage.run(4 * minuteMs);
  expect(stage.notified('api_unwell')).toEqual(['firing']);
  const [alert] = stage.told('api_unwell');
  expect(alert).toMatchObject({ severity: 'warning', title: 'agency: the API reports "degraded"' });
  await trouble(stage.simulator.url, 'well');
  await stage.run(10 * minuteMs);
  expect(stage.notified('api_unwell')).toEqual(['firing', 'resolved']);
});

const three = ['a@early.example', 'b@late.example', 'c@calm.example'].map((email) => ({ ...settled(0), email }));
const dns = (domain: string, from: number, until: object = {}): Incident => ({
  ...{ kind: 'dns', mailbox: `*@${domain}`, records: ['spf'], from },
  ...until,
});

test('tells once what began and once what ended while nobody was on duty', async () => {
  const incidents = [dns('early.example', 2 * hourMs, { until: 8 * hourMs }), dns('late.example', 8 * hourMs)];
  const scenario = { name: 'away', summary: 'A domain breaks.', fleet: three, incidents };
  await using stage = await startMovedDaemon({ scenario, poll: { ...poll, dns: '25 * * * *' } });
  const told = () => stage.told('dns_failing').filter(({ status }) => status !== 'reminder');
  const notified = () => told().map(({ title, status }) => `${status} ${title.split(':')[0]}`);
  await stage.run(6 * hourMs);
  expect(notified()).toEqual(['firing early.example']);
  await stage.awayUntil(stage.clock.now() + 4 * hourMs);
  await stage.run(2 * hourMs);
  expect(notified().sort()).toEqual(['firing early.example', 'firing late.example', 'resolved early.example']);
  await stage.restart();
  await stage.run(2 * hourMs);
  expect(notified()).toHaveLength(3);
});

const often = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

/** Its cases: test/regression/store.test.ts. */
const store = { cause: 'store', documented: 'The store is failing' } as const;

const channels = { cause: 'channels', documented: 'No channel accepts messages' } as const;

test('no channel that takes messages', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll: often, expectErrors: [''] });
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
