// A schedule says what was due, however long nobody asked; a change that was missed is told and not made late, a report is made up for.
// What node-cron would write out to a million numbers is refused before.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { cronSchedule } from '../../src/world/schedule.ts';
import { type MovedDaemon, startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi } from '../support/other-api.ts';
import { Workplace } from '../support/process.ts';
import { sha256 } from '../support/sha256.ts';

const at = (text: string) => Date.parse(`${text}Z`);
const poll = { health: '0 * * * *', mailboxes: '0 * * * *', stats: '0 * * * *', warmup: '0 * * * *' };

test.each([
  // Sundays at 18:00; 10 March 2026 is a Tuesday.
  ['0 18 * * 0', 'UTC', '2026-03-08T18:00', '2026-03-13T09:00', null],
  ['0 18 * * 0', 'UTC', '2026-03-08T17:59', '2026-03-13T09:00', '2026-03-08T18:00'],
  ['30 0 1 * *', 'UTC', '2026-01-15T00:00', '2026-03-13T09:00', '2026-03-01T00:30'],
  ['0 0 29 2 *', 'UTC', '2024-03-01T00:00', '2028-02-28T23:59', null],
  ['0 0 29 2 *', 'UTC', '2020-03-01T00:00', '2026-03-13T09:00', '2024-02-29T00:00'],
  // A clock that was set back makes nothing due.
  ['* * * * *', 'UTC', '2026-03-10T08:30', '2026-03-10T07:30', null],
  ['15 30 23 * * 6', 'UTC', '2026-03-01T00:00', '2026-03-13T09:00', '2026-03-07T23:30:15'],
  // The clocks went forward on 8 March in New York, and go back on 1 November.
  ['30 23 * * *', 'America/New_York', '2026-03-07T00:00', '2026-03-08T12:00', '2026-03-08T04:30'],
  ['30 23 * * *', 'America/New_York', '2026-03-08T05:00', '2026-03-09T03:30', '2026-03-09T03:30'],
  ['30 2 * * *', 'America/New_York', '2026-03-07T08:00', '2026-03-09T06:29', null],
  ['30 1 * * 0', 'America/New_York', '2026-10-26T00:00', '2026-11-07T00:00', '2026-11-01T06:30'],
  ['0 9 1 * *', 'Asia/Kathmandu', '2026-01-15T00:00', '2026-03-13T09:00', '2026-03-01T03:15'],
  ['0 18 * * 0', 'Europe/Berlin', '2026-03-23T00:00', '2026-04-03T12:00', '2026-03-29T16:00'],
])('%s in %s, after %s and until %s', (expression, zone, after, until, run) => {
  const schedule = cronSchedule(expression, zone);
  expect(schedule.newestRun(at(after), at(until))).toBe(run && at(run));
  expect(schedule.dueBetween(at(after), at(until))).toBe(run !== null);
});

interface ListedRun {
  readonly status: string;
  readonly error: string | null;
  readonly created_at: string;
}

const key = 'ww_viewer';
const file = { recipes: { api_keys: [{ name: 'bot', sha256: sha256(key), plan: 'agency', role: 'viewer' }] } };

async function begin(api: OtherApi): Promise<MovedDaemon> {
  const stage = await startMovedDaemon({ other: api, poll, file });
  mkdirSync(join(stage.folder, 'recipes'), { recursive: true });
  const recipe = (id: string, rest: string) =>
    writeFileSync(join(stage.folder, 'recipes', `${id}.yaml`), `id: ${id}\ntitle: t\ndescription: d\n${rest}`);
  const select = 'select: SELECT account, mailbox_id FROM mailboxes\n';
  recipe('weekend', `${select}do: {operation: pause, reason: r}\nschedule: {cron: "0 18 * * 0", apply: true}\n`);
  recipe('report', `${select}schedule: {cron: "0 18 * * 0"}\n`);
  return stage;
}

async function runsOf(stage: MovedDaemon, recipe: string): Promise<readonly ListedRun[]> {
  const answer = await fetch(`${stage.url()}/v1/recipes/${recipe}/runs`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await answer.json()) as { runs: ListedRun[] }).runs;
}

const late = /^It was due at 22 March 18:00 UTC and was not started then\./;

test.each([
  ['more than an hour is told, once', '20:00', 1, [{ status: 'failed', error: expect.stringMatching(late) }, {}]],
  ['less than an hour is made', '18:40', 2, [{ status: 'succeeded' }, { status: 'succeeded' }]],
])('a change that was missed by %s, and a report is made up for', async (_what, hour, posts, weekends) => {
  await using api = await OtherApi.start();
  const ann = api.add('ann@d1.example');
  await using stage = await begin(api);
  await stage.awayUntil(at('2026-03-15T17:55'));
  await stage.run(10 * minuteMs);
  ann.status = 'active';
  await stage.awayUntil(at(`2026-03-22T${hour}`));
  await stage.run(10 * minuteMs);
  await stage.restart();
  await stage.run(10 * minuteMs);
  expect(api.posts()).toHaveLength(posts);
  expect(await runsOf(stage, 'weekend')).toMatchObject(weekends);
  expect(await runsOf(stage, 'report')).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
});

test('a recipe that is added is not due before it was there', async () => {
  await using api = await OtherApi.start();
  await using stage = await begin(api);
  await stage.run(10 * hourMs);
  writeFileSync(
    join(stage.folder, 'recipes', 'late.yaml'),
    'id: late\ntitle: t\ndescription: d\nselect: SELECT 1 AS one\nschedule: {cron: "0 12 * * *"}\n',
  );
  await stage.run(10 * minuteMs);
  expect(await runsOf(stage, 'late')).toEqual([]);
  await stage.run(dayMs);
  expect(await runsOf(stage, 'late')).toHaveLength(1);
});

test('an hour that occurs twice, when clocks go back, has one run', async () => {
  await using api = await OtherApi.start();
  await using stage = await begin(api);
  await stage.awayUntil(at('2026-10-24T22:00'));
  writeFileSync(
    join(stage.folder, 'recipes', 'nightly.yaml'),
    'id: nightly\ntitle: t\ndescription: d\nselect: SELECT 1 AS one\nschedule: {cron: "30 2 * * *", time_zone: Europe/Berlin}\n',
  );
  await stage.run(5 * hourMs);
  expect((await runsOf(stage, 'nightly')).map(({ created_at: run }) => run.slice(0, 16))).toEqual(['2026-10-25T00:30']);
});

test('check warns of a day of the month beside a day of the week', () => {
  using workplace = new Workplace();
  const alerts = {
    channels: [{ name: 'hook', type: 'slack', url: 'https://hooks.slack.com/services/T/B/x' }],
    digests: [{ at: '0 8 1 * 1', channels: ['hook'] }],
  };
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_any', plan: 'pro' }];
  const loaded = loadConfig(workplace.configure({ accounts, poll: { dns: '17 3 1-7 * mon' }, alerts }), {});
  const said = loaded.ok ? loaded.warnings.filter(({ message }) => message.includes('day of the week')) : loaded;
  expect(said).toMatchObject([
    { path: 'poll.dns', message: expect.stringContaining('it runs only on days that are both') },
    { path: 'alerts.digests[0].at' },
  ]);
});

const refusal = 'is not a value, range or step of a field';

test.each([
  '0-1000000 * * * *',
  '* * * * 1-100000000',
  // Names become numbers by replacement: these two are 12121212.
  '0 0 1 0-decdecdecdec *',
  '0 0 1 1-12decdecdec *',
  '*9999999 * * * *',
  '9999999-* * * * *',
  '0-59,0-1000000/2 * * * *',
])('%s is refused before it is written out', (expression) => {
  expect(() => cronSchedule(expression)).toThrow(refusal);
});

test.each([
  '0 */5 * * * *',
  '0-59/5,7 8-18 * jan-mar,DEC Mon-Fri',
  '0 0 L-3 * *',
  '0 0 15W,LW * *',
  '0 0 * * friL',
  '0 0 * * 1#2',
  '50-10 * * * *',
  '@daily',
  '  0   8 * * *  ',
])('%s is read as before', (expression) => {
  expect(() => cronSchedule(expression)).not.toThrow();
});
