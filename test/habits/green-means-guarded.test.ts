// Answers under which nothing is judged: whatever the API says instead, alerts, readiness, page, status and metrics say so.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { startReceiver } from '../outbox/receiver.ts';
import { type MovedDaemon, startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { ending } from '../support/ending.ts';
import { type Asked, answerWith, type Fault, OtherApi } from '../support/other-api.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/5 * * * *', warmup: '*/5 * * * *' };

type FaultOf = (asked: Asked, count: number, api: OtherApi) => Fault | undefined;

/** Begins with the fault at the first start, after a restart, or while the daemon runs. */
async function stageWith(when: When, fault: FaultOf) {
  const api = await OtherApi.start(['a', 'b', 'c']);
  const beats = await startReceiver();
  let [isFaulty, count] = [when === 'first start', 0];
  api.fault = (asked) => {
    if (!isFaulty || asked.method !== 'GET') return undefined;
    count += 1;
    return fault(asked, count, api);
  };
  const daemon = await startMovedDaemon({ other: api, poll, expectErrors: ['the API', 'mailbox list'] });
  await daemon.reload((config) => Object.assign(config.alerts, { heartbeat: { url: beats.url, allow_http: true } }));
  if (when !== 'first start') await daemon.run(hourMs);
  isFaulty = true;
  if (when === 'restart') await daemon.restart();
  const end = () => {
    isFaulty = false;
  };
  return { api, daemon, beats, end, ...ending(daemon, api, beats) };
}

type When = 'first start' | 'restart' | 'running';

const firing = (daemon: MovedDaemon) =>
  daemon.alerts('not_guarded').flatMap((one) => (one.status === 'firing' ? [`${one.object} ${one.severity}`] : []));

/** Value of a series of the account or of the process, or null if there is none. */
function seriesOf(metrics: string, name: string): number | null {
  const found = new RegExp(`^warmwarden_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics);
  return found ? Number(found[1]) : null;
}

/** What each light shows. */
async function lightsOf({ daemon, beats }: Awaited<ReturnType<typeof stageWith>>) {
  const [metrics, ready, page] = [await daemon.text('/metrics'), await daemon.readyz(), await daemon.text('/')];
  const { code, stdout } = await commandLine(['status', '--config', daemon.file]);
  const { tone, headline } = await daemon.json<{ tone: string; headline: string }>('/api/fleet');
  const pings = beats.received.length;
  await daemon.run(2 * minuteMs);
  return {
    alerts: firing(daemon),
    ready: ready.slice(0, 3),
    page: /NOT GUARDED/.test(page) && ['alarm', 'unknown'].includes(tone) && /NOT GUARDED/.test(headline),
    status: code === 1 && /NOT GUARDED/.test(stdout) && !/can wait/.test(stdout),
    beating: beats.received.length > pings,
    guarded: seriesOf(metrics, 'account_guarded'),
    prometheus: ['api_up', 'account_key_accepted', 'account_guarded', 'ready'].filter(
      (name) => seriesOf(metrics, name) === 0,
    ),
  };
}

const says = (status: number, headers: object = {}) => answerWith(status, { error: 'no' }, headers);
const only =
  (paths: readonly string[], fault: Fault): FaultOf =>
  ({ path }) =>
    paths.includes(path) ? fault : undefined;

const list = '/v1/mailboxes';

test.each([
  ['first start', null],
  ['first start', 900],
  ['restart', null],
  ['restart', 900],
] as const)(
  'a mailbox list that is refused with 429 since the %s (Retry-After %s) turns every light red within 4 minutes',
  async (when, seconds) => {
    const headers = seconds === null ? {} : { 'retry-after': String(seconds) };
    await using stage = await stageWith(when, only([list], says(429, headers)));
    const { daemon } = stage;
    await daemon.run(4 * minuteMs);
    expect(await lightsOf(stage)).toEqual({
      alerts: ['list unread critical'],
      ready: '503',
      page: true,
      status: true,
      beating: false,
      guarded: 0,
      prometheus: ['account_guarded', 'ready'],
    });
    expect(await daemon.readyz()).toContain('429');
    const { stdout } = await commandLine(['status', '--config', daemon.file]);
    expect(stdout).toMatch(/NOT GUARDED, its mailbox list can't be read \(.*429/);
    expect(stdout).not.toContain('it is starting');
    await daemon.restart();
    await daemon.run(minuteMs);
    expect(firing(daemon)).toEqual(['list unread critical']);
    await daemon.run(3 * minuteMs);
    expect(await daemon.readyz()).toMatch(/^503/);
    stage.end();
    await daemon.run(30 * minuteMs);
    expect([firing(daemon), await daemon.readyz()]).toEqual([[], '200 ready']);
    expect(daemon.notified('not_guarded')).toEqual(['firing', 'resolved']);
  },
);

const html: Fault = { kind: 'answer', status: 200, body: '<html>', headers: { 'content-type': 'text/html' } };
const judged = ['/v1/stats', '/v1/warmup'];
/** Statistics of a week in other shapes. */
const statistics =
  (key: string, dayOf: (date: string) => object): FaultOf =>
  ({ path, mailboxId, at }) => {
    const dates = [0, 1, 2, 3, 4, 5, 6].map((age) => new Date(at - age * 24 * hourMs).toISOString().slice(0, 10));
    return path === '/v1/stats' ? answerWith(200, { mailbox_id: mailboxId, [key]: dates.map(dayOf) }) : undefined;
  };
const inCapitals = statistics('Stats', (date) => ({ Date: date, Sent: 40, Bounced: 0 }));

const firstStart: readonly (readonly [string, FaultOf])[] = [
  ['a list with 500', only([list], says(500))],
  ['a list with 503 and Retry-After', only([list], says(503, { 'retry-after': '3600' }))],
  ['a list with 403', only([list], says(403))],
  ['a list with 404', only([list], says(404))],
  ['a list of HTML', only([list], html)],
  ['a list without mailboxes', only([list], answerWith(200, { mailboxes: null }))],
  ['a list that is cut', only([list], { kind: 'lose' })],
  ['a list with 429 and 500 in turn', ({ path }, count) => (path === list ? says(count % 2 ? 429 : 500) : undefined)],
  ['statistics with 429', only(['/v1/stats'], says(429))],
  ['everything with 429', () => says(429)],
  ['statistics and warm-up with 404', only(judged, says(404))],
  ['a warm-up with 404', only(['/v1/warmup'], says(404))],
  ['statistics in capital letters', inCapitals],
  ['counts in capital letters', statistics('stats', (date) => ({ date, Sent: 40, Bounced: 0 }))],
];

const restart: readonly (readonly [string, FaultOf])[] = [
  ['each route but health with 429', ({ path }) => (path === '/v1/health' ? undefined : says(429))],
  ['a list with 500', only([list], says(500))],
  ['statistics and warm-up with 404', only(judged, says(404))],
];

const running: readonly (readonly [string, FaultOf])[] = [
  ['statistics with 429', only(['/v1/stats'], says(429))],
  ['statistics with 503 and Retry-After', only(['/v1/stats'], says(503, { 'retry-after': '900' }))],
  ['a warm-up with 429', only(['/v1/warmup'], says(429, { 'retry-after': '900' }))],
  ['both with 429', only(judged, says(429))],
  ['both with 404', only(judged, says(404))],
  ...[403, 404, 500].map((status) => [`a warm-up with ${status}`, only(['/v1/warmup'], says(status))] as const),
  ['statistics in capital letters', inCapitals],
  ['429 and 500', ({ path }) => (path === '/v1/stats' ? says(429) : path === '/v1/warmup' ? says(500) : undefined)],
  [
    'statistics with 429 and 500 in turn',
    ({ path }, n) => (path === '/v1/stats' ? says(n % 2 ? 429 : 500) : undefined),
  ],
  ['each route but the list with 429', ({ path }) => ([list, '/v1/health'].includes(path) ? undefined : says(429))],
];

const cases = Object.entries({ 'first start': firstStart, restart, running }).flatMap(([when, faults]) =>
  faults.map(([name, fault]) => [name, when as When, fault] as const),
);

test.each(cases)('%s (%s): no light is green after 50 minutes', async (_, when, fault) => {
  await using stage = await stageWith(when, fault);
  await stage.daemon.run(50 * minuteMs);
  const { alerts, page, status, prometheus, beating } = await lightsOf(stage);
  expect({ isAlerted: alerts.length > 0, page, status, isInPrometheus: prometheus.length > 0, beating }).toEqual({
    ...{ isAlerted: true, page: true, status: true, isInPrometheus: true, beating: false },
  });
});

test('a list that is refused with 429 while the mailboxes are judged is told, and the account stays guarded', async () => {
  await using stage = await stageWith('running', only([list], says(429)));
  await stage.daemon.run(4 * minuteMs);
  expect(stage.daemon.notified('api_unwell')).toEqual([]);
  await stage.daemon.run(26 * minuteMs);
  const unwell = stage.daemon.alerts('api_unwell').map(({ object, status }) => [object, status]);
  expect([unwell, firing(stage.daemon), await stage.daemon.readyz()]).toEqual([
    [['mailbox list', 'firing']],
    [],
    '200 ready',
  ]);
  stage.end();
  await stage.daemon.run(20 * minuteMs);
  expect(stage.daemon.notified('api_unwell')).toEqual(['firing', 'resolved']);
});

test('a list that is empty from now on is told, and its mailboxes stay guarded', async () => {
  await using stage = await stageWith('running', only([list], answerWith(200, { mailboxes: [] })));
  await stage.daemon.run(3 * hourMs);
  expect(firing(stage.daemon)).toEqual(['mailbox list critical']);
  expect(stage.daemon.fleet().mailboxCount()).toBe(3);
});

test('statistics without counts leave the account unguarded after half an hour, also after a restart', async () => {
  await using stage = await stageWith(
    'running',
    statistics('stats', (date) => ({ date })),
  );
  const { daemon } = stage;
  await daemon.run(20 * minuteMs);
  expect(firing(daemon)).toEqual([]);
  await daemon.run(30 * minuteMs);
  await daemon.restart();
  await daemon.run(5 * minuteMs);
  const { alerts, ready, status } = await lightsOf(stage);
  expect([alerts, ready, status]).toEqual([['nothing judged critical'], '503', true]);
  stage.end();
  await daemon.run(15 * minuteMs);
  expect([firing(daemon), await daemon.readyz()]).toEqual([[], '200 ready']);
  expect(daemon.notified('not_guarded', 'nothing judged')).toEqual(['firing', 'resolved']);
});

test('a single mailbox that is judged keeps the account guarded', async () => {
  const others: FaultOf = ({ path, mailboxId }, _, { boxes: [own] }) =>
    path === '/v1/stats' && mailboxId !== own.id ? answerWith(200, { mailbox_id: mailboxId, Stats: [] }) : undefined;
  await using stage = await stageWith('running', others);
  await stage.daemon.run(2 * hourMs);
  expect([await stage.daemon.readyz(), firing(stage.daemon)]).toEqual(['200 ready', []]);
});

test('where every mailbox has stale data because the API refuses it, the account is not guarded before half an hour is over, in the words of the API', async () => {
  const said = 'statistics are not part of your plan';
  await using stage = await stageWith('running', only(judged, answerWith(403, { error: said })));
  const { daemon } = stage;
  const stale = () => daemon.alerts('stale_data').filter(({ status }) => status === 'firing').length;
  await daemon.until('stale data', () => stale() === 3, 25 * minuteMs);
  await daemon.run(minuteMs);
  const { alerts, ready, status } = await lightsOf(stage);
  expect([alerts, ready, status]).toEqual([['nothing judged critical'], '503', true]);
  for (const text of [await daemon.readyz(), JSON.stringify(daemon.told('not_guarded'))]) expect(text).toContain(said);
});

test.each([
  ['continues on a page that nobody reads', (entries: object[]) => ({ mailboxes: entries, next: 'page-2' })],
  ['is suddenly short', (entries: object[]) => ({ mailboxes: entries.slice(0, 1) })],
])('a list that %s is a trouble of the status, and no mailbox counts as fine', async (_, say) => {
  const lists: FaultOf = ({ path }, _count, { boxes }) =>
    path === list
      ? answerWith(200, say(boxes.map(({ id, email }) => ({ id, email, provider: 'google', status: 'active' }))))
      : undefined;
  await using stage = await stageWith('running', lists);
  await stage.daemon.run(10 * minuteMs);
  const { code, stdout } = await commandLine(['status', '--config', stage.daemon.file]);
  expect([code, firing(stage.daemon)]).toEqual([1, ['mailbox list critical']]);
  const [headline, advice] = stdout.split('\n');
  expect(headline).toContain('NOT FULLY GUARDED');
  expect(`${headline} ${advice}`).not.toMatch(/ (are|OK)( below .*)?\.|can wait/);
});
