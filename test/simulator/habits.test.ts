// `simulator --habits`: habits of real services that the document does not describe.
import { expect, test } from 'vitest';
import { banner } from '../../tools/simulator/banner.ts';
import { habitsOf } from '../../tools/simulator/habits.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { simulatedKeys } from '../../tools/simulator/typed-keys.ts';
import { ann, bob, hourMs, scenarioOf, serve } from './served.ts';

const habits = habitsOf([ann, bob]);

test('the first domain reads paused at night, and only reads so', async () => {
  await using stage = await serve({ habits });
  const statuses = async () => [(await stage.warmup(ann.email)).status, (await stage.warmup(bob.email)).status];
  expect(await statuses()).toEqual(['active', 'active']);
  await stage.clock.advance(11 * hourMs);
  expect(await statuses()).toEqual(['paused', 'active']);
  await stage.clock.advance(12 * hourMs);
  expect(await statuses()).toEqual(['active', 'active']);
  await stage.clock.advance(5 * hourMs);
  expect((await stage.today(ann.email)).sent).toBeGreaterThan(0);
});

test('the last mailbox belongs to another workspace: it is read, but not changed', async () => {
  await using stage = await serve({ habits });
  expect(await stage.act(bob.email, 'pause')).toMatchObject({
    status: 403,
    body: { error: 'this mailbox is shared from another workspace: only its owner may change it' },
  });
  expect((await stage.act(ann.email, 'pause')).status).toBe(200);
  expect([(await stage.warmup(ann.email)).status, (await stage.warmup(bob.email)).status]).toEqual([
    'paused',
    'active',
  ]);
});

test('days above 14 are refused, and days without mail are left out', async () => {
  await using stage = await serve({ habits });
  const path = (days: number) => `/v1/stats?mailbox_id=${stage.idOf(ann.email)}&days=${days}`;
  expect(await stage.ask(path(30))).toMatchObject({
    status: 400,
    body: { error: 'days must be at most 14 on your plan' },
  });
  const { body } = await stage.ask(path(14));
  const dates = body.stats.map(({ date }: { date: string }) => new Date(date).getUTCDay());
  expect(dates.length).toBeGreaterThan(7);
  expect(dates.filter((day: number) => day === 0 || day === 6)).toEqual([]);
  expect((await stage.warmup(ann.email)).config).not.toHaveProperty('weekdays_only');
});

test('one route has odd limits, the others have the limits of the key', async () => {
  await using stage = await serve({ habits });
  const limits = async (path: string) => {
    const { headers } = await stage.ask(`${path}?mailbox_id=${stage.idOf(ann.email)}`);
    return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
  };
  expect(await limits('/v1/dns')).toEqual(['3', '0']);
  expect((await limits('/v1/warmup'))[0]).toBe('100000');
});

test('two keys see the workspace, and the configuration that is printed guards it with both', () => {
  const flags = { plan: 'pro', readOnly: false, limiter: 'sliding' } as const;
  const keys = simulatedKeys([], { ...flags, habits: true });
  expect(keys.map(({ mailboxes }) => mailboxes)).toEqual([['*'], ['*']]);
  expect(simulatedKeys([], { ...flags, habits: false }).map(({ key }) => key)).toEqual([demoKey]);
  const about = {
    url: 'http://127.0.0.1:7030',
    seed: 1,
    speed: 1,
    now: scenarioStart,
    startChosen: false,
    behindProxy: false,
  };
  const text = banner({ ...about, keys, scenario: scenarioOf([ann, bob]), habits, mailboxes: [ann.email, bob.email] });
  expect(text).toContain('habits     the warm-ups of *@one.example read paused from 18:30 to 06:30 UTC\n');
  expect(text).toMatch(/name: simulated, .*\n.*name: simulated-2, /);
  expect(text).not.toContain('Left out');
});
