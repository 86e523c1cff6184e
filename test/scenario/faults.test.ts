// The whole daemon against the simulator's own faults: no bad answer becomes an action, a zero, a resolve or a crash.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { FaultRule } from '../../tools/simulator/fault.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { amelia, calmPoll, jonas, oliver } from '../account/duty.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const hourly = { mailbox: '29 * * * *', dns: '17 * * * *', blacklist: '41 * * * *' };
const usual = { ...calmPoll, ...hourly, health: '* * * * *', mailboxes: '* * * * *' };
const rare = { ...calmPoll, ...hourly, health: '0 * * * *', stats: '*/30 * * * *' };

/** A scenario's incidents on some of its mailboxes, with faults in front. */
function of(scenario: Scenario, emails: readonly string[], faults: readonly FaultRule[] = []): Scenario {
  return { ...scenario, fleet: scenario.fleet.filter(({ email }) => emails.includes(email)), faults };
}

const storm = (...faults: FaultRule[]) => of(scenarios['bounce-storm'], [amelia], faults);
const writes = { route: 'warmup', method: 'POST' } as const;
/** Without the reminders of what lasts. */
const steps = (stage: MovedDaemon, rule: string) => stage.notified(rule).filter((status) => status !== 'reminder');
const states = (stage: MovedDaemon) => Array.from(stage.fleet().recentActions(), ({ state }) => state);
const accountOf = (stage: MovedDaemon) => stage.fleet().account('agency');

test.each([
  ['H7: a 500 after the change was made is confirmed by one POST', 'applied-but-500'],
  ['H8: a change that shows seconds later is confirmed by one POST', 'late'],
  ['H9: an answer lost after the POST was applied is confirmed by one POST', 'applied-but-lost'],
  ['O4: a 429 for a POST that was applied is confirmed by one POST', 'applied-but-throttled'],
])('%s', async (_name, fault) => {
  await using stage = await startMovedDaemon({ scenario: storm({ fault, ...writes }), poll: calmPoll });
  await stage.until('a confirmed action', () => states(stage)[0] === 'confirmed', 5 * hourMs);
  await stage.run(2 * hourMs);
  const posts = stage.simulator.requests.filter(({ method }) => method === 'POST');
  expect([posts.length, states(stage)]).toEqual([1, ['confirmed']]);
  expect(stage.simulator.fleet.find(amelia)?.config.mode).toBe('recovery');
  expect([stage.notified('guard_acted'), steps(stage, 'guard_action_failed')]).toEqual([['event'], []]);
  expect(stage.mailbox(amelia).memory?.claim?.kind).toBe('recovery');
});

test('H6: success that is said and not done is unconfirmed, announced, and tried as often as the guard says, never more', async () => {
  await using stage = await startMovedDaemon({ scenario: storm({ fault: 'pretend', ...writes }), poll: calmPoll });
  const posts = () => stage.simulator.requests.filter(({ method }) => method === 'POST');
  await stage.until('a first try', () => states(stage)[0] === 'unconfirmed', 5 * hourMs);
  await stage.run(6 * hourMs);
  const gaps = posts()
    .slice(1)
    .map(({ at }, index) => Math.round((at - (posts()[index]?.at ?? 0)) / minuteMs));
  expect(gaps).toEqual([1, 5, 15, 60]);
  expect([states(stage), stage.notified('guard_acted'), steps(stage, 'guard_action_failed')]).toEqual([
    ['unconfirmed'],
    ['event'],
    ['firing'],
  ]);
});

test('H20: an API that can not be reached for ten minutes is one alert; nothing is resolved and nothing acted', async () => {
  const outage = { fault: 'reset', from: 70 * minuteMs, until: 80 * minuteMs } as const;
  const broken = { kind: 'dns', mailbox: oliver, records: ['dkim'], from: 0 } as const;
  const scenario = { ...of(scenarios.calm, [oliver], [outage]), incidents: [broken] };
  const poll = { ...usual, dns: '*/5 * * * *' };
  await using stage = await startMovedDaemon({ scenario, poll, expectErrors: ['the API does not answer'] });
  await stage.until('the broken record', () => steps(stage, 'dns_failing').length === 1, 3 * hourMs);
  await stage.run(4 * hourMs);
  expect([steps(stage, 'not_guarded'), steps(stage, 'dns_failing'), stage.posts]).toEqual([
    ['firing', 'resolved'],
    ['firing'],
    [],
  ]);
  expect(stage.errorsSaying('the API does not answer')).toHaveLength(1);
});

test('H21: a health check that fails while everything else works fires no alert; one that says ok while everything else fails does not hide it', async () => {
  await using stage = await startMovedDaemon({ scenario: of(scenarios.calm, [oliver]), poll: usual });
  stage.expectErrors('the API fails');
  stage.simulator.faults.add({ fault: 'overloaded', route: 'health' });
  await stage.run(hourMs);
  expect([steps(stage, 'not_guarded'), accountOf(stage)?.health]).toEqual([[], 'unknown']);
  stage.simulator.faults.clear();
  for (const route of ['mailboxes', 'mailbox', 'warmup', 'stats', 'dns', 'blacklist'] as const) {
    stage.simulator.faults.add({ fault: 'overloaded', route });
  }
  await stage.run(20 * minuteMs);
  expect([steps(stage, 'not_guarded'), accountOf(stage)?.health]).toEqual([['firing'], 'ok']);
});

test('H22: a rejected key stops its account alone; the other one goes on and acts', async () => {
  const scenario = of(scenarios['bounce-storm'], [amelia, jonas]);
  await using stage = await startMovedDaemon({ scenario, poll: calmPoll, second: [jonas] });
  await stage.run(10 * minuteMs);
  stage.expectErrors('the API refuses the key');
  stage.simulator.faults.add({ fault: 'unauthorized', mailbox: jonas });
  await stage.run(6 * hourMs);
  const accounts = [...stage.fleet().accounts()].map(({ name, keyRejected }) => [name, keyRejected]);
  expect([accounts[0], stage.posts.map(({ email, change }) => [email, change])]).toEqual([
    ['agency', false],
    [[amelia, 'recovery']],
  ]);
  stage.simulator.faults.clear();
  await stage.run(15 * minuteMs);
  expect(stage.posts.map(({ email }) => email)).toEqual([amelia, jonas]);
});

test.each([
  ['S1: counts that can not be read', 'counts-unreadable', 'stats', 'invalid_row'],
  ['S4: statistics that are null', 'null-stats', 'stats', 'bad_payload'],
] as const)('%s are neither 0 nor healthy, and nothing is written on them', async (_name, fault, route, reason) => {
  await using stage = await startMovedDaemon({ scenario: storm({ fault, route, method: 'GET' }), poll: rare });
  await stage.run(3 * hourMs);
  expect([stage.mailbox(amelia).verdict?.answer.reason, stage.posts, steps(stage, 'guard_blind')]).toEqual([
    reason,
    [],
    ['firing'],
  ]);
});

test('S2: a mode that nobody knows is not judged at once, wherever people look, and announced after an hour', async () => {
  const scenario = of(scenarios.calm, [oliver], [{ fault: 'unknown-mode', route: 'warmup', method: 'GET' }]);
  await using stage = await startMovedDaemon({ scenario, poll: rare });
  await stage.run(10 * minuteMs);
  expect(stage.mailbox(oliver).verdict?.answer.reason).toBe('unknown_mode');
  const shown = { tone: 'unknown', headline: 'The one mailbox is not judged.', states: { ok: 0, not_judged: 1 } };
  expect(await stage.json('/api/fleet')).toMatchObject(shown);
  expect(await stage.text('/')).toContain('Not judged <b>1</b>');
  expect(steps(stage, 'guard_blind')).toEqual([]);
  await stage.run(2 * hourMs);
  expect(steps(stage, 'guard_blind')).toEqual(['firing']);
});
