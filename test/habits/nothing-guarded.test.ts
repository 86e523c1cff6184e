// An API that answers, and leaves mailboxes unguarded all the same: no light may stay green then. The API is not the simulator.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { type MovedDaemon, startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { ending } from '../support/ending.ts';
import { type Asked, answerWith, type Fault, OtherApi } from '../support/other-api.ts';

const poll = { health: '0 * * * *', mailboxes: '*/2 * * * *', stats: '*/5 * * * *', warmup: '*/5 * * * *' };

/** Three mailboxes; the fault begins after an hour, or before the start. */
async function guarding(fault: (asked: Asked, api: OtherApi) => Fault | undefined, isFromStart = false) {
  const api = await OtherApi.start(['a', 'b', 'c']);
  let isFaulty = isFromStart;
  api.fault = (asked) => (isFaulty && asked.method === 'GET' ? fault(asked, api) : undefined);
  const daemon = await startMovedDaemon({ other: api, poll, expectErrors: ['the API', 'mailbox list'] });
  if (!isFromStart) await daemon.run(hourMs);
  const turn = (to: boolean) => {
    isFaulty = to;
  };
  return { api, daemon, turn, ...ending(daemon, api) };
}

const readyStatus = async (daemon: MovedDaemon) => (await fetch(`${daemon.url()}/readyz`)).status;
const statusOf = (daemon: MovedDaemon) => commandLine(['status', '--config', daemon.file]);
const notGuarded = (daemon: MovedDaemon) =>
  daemon
    .alerts('not_guarded')
    .flatMap(({ status, object, severity }) => (status === 'firing' ? [[object, severity]] : []));

const days = [0, 1, 2, 3, 4, 5, 6];
const dateOf = (api: OtherApi, age: number) => new Date(api.now() - age * 24 * hourMs).toISOString().slice(0, 10);

test.each([
  ['capital letters', true, (date: string) => ({ Stats: [{ Date: date, Sent: 40, Bounced: 0 }] })],
  ['capital letters later on', false, (date: string) => ({ Stats: [{ Date: date, Sent: 40, Bounced: 0 }] })],
  ['counts in capital letters', true, (date: string) => ({ stats: [{ date, Sent: 40, Bounced: 0 }] })],
  ['no counts', false, (date: string) => ({ stats: [{ date }] })],
])(
  'statistics with %s leave the account unguarded after half an hour, a restart included',
  async (_, isFromStart, say) => {
    const fault = ({ path, mailboxId }: Asked, api: OtherApi) => {
      if (path !== '/v1/stats') return undefined;
      const [today, ...earlier] = days.map((age) => say(dateOf(api, age)));
      const rows = [today, ...earlier].flatMap((one) => Object.values(one ?? {}).flat());
      return answerWith(200, { mailbox_id: mailboxId, period: '7d', [Object.keys(today ?? {})[0] ?? '']: rows });
    };
    await using at = await guarding(fault, isFromStart);
    const { daemon } = at;
    at.turn(true);
    await daemon.run(20 * minuteMs);
    expect(notGuarded(daemon)).toEqual([]);
    await daemon.run(30 * minuteMs);
    for (const isAfterRestart of [false, true]) {
      if (isAfterRestart) await daemon.restart();
      await daemon.run(5 * minuteMs);
      const { code, stdout } = await statusOf(daemon);
      expect([await readyStatus(daemon), code, notGuarded(daemon)]).toEqual([503, 1, [['nothing judged', 'critical']]]);
      expect(stdout).toContain('NOT GUARDED');
      expect(stdout).not.toContain('can wait');
    }
    expect(daemon.notified('not_guarded', 'nothing judged')).toEqual(['firing']);
    at.turn(false);
    await daemon.run(15 * minuteMs);
    expect([await readyStatus(daemon), (await statusOf(daemon)).code, notGuarded(daemon)]).toEqual([200, 0, []]);
  },
);

test('a single mailbox that is judged keeps the account guarded', async () => {
  await using at = await guarding(({ path, mailboxId }, { boxes: [judged] }) =>
    path === '/v1/stats' && mailboxId !== judged?.id
      ? answerWith(200, { mailbox_id: mailboxId, Stats: [] })
      : undefined,
  );
  at.turn(true);
  await at.daemon.run(2 * hourMs);
  expect([await readyStatus(at.daemon), notGuarded(at.daemon)]).toEqual([200, []]);
});

test('where every mailbox has stale data because the API refuses it, the account is not guarded before half an hour is over', async () => {
  await using at = await guarding(({ path }) =>
    ['/v1/stats', '/v1/warmup'].includes(path) ? answerWith(403, { error: 'not in your plan' }) : undefined,
  );
  const { daemon } = at;
  at.turn(true);
  const stale = () => daemon.alerts('stale_data').filter(({ status }) => status === 'firing').length;
  await daemon.until('stale data', () => stale() === 3, 25 * minuteMs);
  await daemon.run(minuteMs);
  const { code, stdout } = await statusOf(daemon);
  expect([await readyStatus(daemon), code, notGuarded(daemon)]).toEqual([503, 1, [['nothing judged', 'critical']]]);
  expect(stdout).toContain('NOT GUARDED');
  expect(stdout).not.toContain('can wait');
});

test.each([
  ['continues on a page that nobody reads', (entries: object[]) => ({ mailboxes: entries, next: 'page-2' })],
  ['is suddenly short', (entries: object[]) => ({ mailboxes: entries.slice(0, 1) })],
])('a list that %s is a trouble of the status, and no mailbox counts as fine', async (_, say) => {
  await using at = await guarding(({ path }, { boxes }) => {
    const entries = boxes.map(({ id, email }) => ({ id, email, provider: 'google', status: 'active' }));
    return path === '/v1/mailboxes' ? answerWith(200, say(entries)) : undefined;
  });
  at.turn(true);
  await at.daemon.run(10 * minuteMs);
  const { code, stdout } = await statusOf(at.daemon);
  expect([code, notGuarded(at.daemon)]).toEqual([1, [['mailbox list', 'critical']]]);
  const [headline, advice] = stdout.split('\n');
  expect(headline).toContain('NOT FULLY GUARDED');
  expect(`${headline} ${advice}`).not.toMatch(/ (are|OK)( below .*)?\.|can wait/);
});
