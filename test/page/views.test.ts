// The views beside the fleet and the mailbox: what each says, what narrows it, and that a silent store is said, not hidden. The chart of
// a mailbox, and times in the zone of the reader.

import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { CommandEntry } from '../../src/core/operator-command.ts';
import { addDays, dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { localTimes } from '../../src/web/page/assets/scripts.ts';
import { type DayChartParts, dayChart } from '../../src/web/page/parts/charts.ts';
import { row } from '../guard/samples.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { testStore } from '../outbox/test-store.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { action, alert, exampleFleet, mailbox, now } from '../web/example-fleet.ts';
import { ask, read, serve, stillWorld } from '../web/running-server.ts';

/** The text of a page without its tags. */
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

const about = { mailboxId: 'm3', account: 'northwind' };
const disconnected = alert({ rule: 'mailbox_unwell', severity: 'critical', ...about });

const sent = { state: 'sent', alerts: [disconnected.fingerprint], createdAt: now - 2 * minuteMs } as const;
const delivery = (id: string, changes: Parameters<typeof sampleDelivery>[0] = {}) =>
  sampleDelivery({ id, channel: 'ops', attempts: 1, settledAt: now - minuteMs, ...sent, ...changes });

test('the alerts are shown with their runbook and what mutes them', async () => {
  const fleet = exampleFleet();
  fleet.putAlert(disconnected);
  const match = { rule: ['mailbox_*'] };
  fleet.putSilence({ id: 's1', match, by: 'anna', reason: '<moving>', from: now - hourMs, until: now + hourMs });
  const deliveries = async () => [delivery('d1'), delivery('d2', { channel: 'hook', state: 'undelivered' })];
  const ended = { ...alert({ rule: 'not_guarded' }), status: 'resolved' as const };
  const transitions = async () => [{ id: 1, transition: { kind: 'resolved' as const, at: now - dayMs, alert: ended } }];
  const body = await read(fleet, '/alerts', { deliveries, transitions });
  const [, item = ''] = /<li id="alert-mailbox_unwell(.*?)<\/li>/s.exec(body) ?? [];
  expect(textOf(item)).toMatch(/silenced until 2\d{3}-\d\d-\d\d \d\d:\d\d UTC by anna .*because: &lt;moving&gt;/);
  expect(item).toContain('href="/runbooks#mailbox_unwell"');
  expect(textOf(body)).toMatch(/Past alerts .*resolved warning something is wrong 24 h ago .*not_guarded/);
  for (const path of ['/', '/alerts', '/mailboxes/northwind/m3']) {
    const [, mutedItem = ''] = /<li id="alert-mailbox_unwell(.*?)<\/li>/s.exec(
      await read(fleet, path, { deliveries, transitions }),
    ) ?? [path];
    expect([path, textOf(mutedItem)]).toEqual([path, expect.stringMatching(/silenced until .*UTC by anna/)]);
    expect(mutedItem).toMatch(/href="\/silences\?id=s1&(amp;)?do=expire">Expire the silence/);
    expect(mutedItem).not.toContain('Silence 4 h');
  }
  const narrowed = await read(fleet, '/alerts?severity=warning', { deliveries, transitions });
  expect(textOf(narrowed)).toContain('No alert is firing that matches.');
});

test('activity is by everyone, and is narrowed to a person or a mailbox', async () => {
  const asked: { readonly by?: string | null }[] = [];
  const command: CommandEntry = {
    id: 4,
    at: now - minuteMs,
    by: 'anna',
    reason: 'a look <first>',
    name: 'pause',
    command: 'pause box5@acme.example',
    account: 'acme',
    mailboxes: [],
    end: 'done',
    endedAt: now,
    outcome: 'Paused.\nSee `warmwarden status`.',
  };
  const history = {
    commands: async (query: object) => {
      asked.push(query);
      return [command];
    },
    guardActions: async (query: object) => {
      asked.push(query);
      return [action('a7', mailbox('m5', 'box5@acme.example'))];
    },
  };
  const all = textOf(await read(exampleFleet(), '/activity', { history }));
  expect(all).toMatch(
    /done anna pause box5@acme\.example 1 min ago a look &lt;first&gt; Paused\. See warmwarden status \. confirmed Switched to recovery/,
  );
  const hers = await read(exampleFleet(), '/activity?by=anna&mailbox=m5', { history });
  expect(hers).not.toContain('<strong>Switched to recovery');
  expect(hers).toContain('<option value="anna" selected>');
  expect(asked.at(-1)).toMatchObject({
    by: 'anna',
    mailbox: { account: 'acme', ids: ['m5'] },
    before: null,
  });
  asked.length = 0;
  expect(textOf(await read(exampleFleet(), '/activity?by=Warmwarden', { history }))).not.toContain('Paused.');
  expect(asked).toMatchObject([{ by: 'Warmwarden' }]);
  const none = { commands: async () => [], guardActions: async () => [] };
  expect(textOf(await read(exampleFleet(), '/activity?by=bob', { history: none }))).toContain('Nothing that matches.');
  const ids = Array.from({ length: 101 }, (_, index) => 200 - index);
  const commands = async (query: object) => {
    asked.push(query);
    return ids.map((id) => ({ ...command, id }));
  };
  const many = { history: { ...none, commands } };
  const [, earlier = ''] = /href="([^"]+)">Earlier/.exec(await read(exampleFleet(), '/activity?by=anna', many)) ?? [];
  await read(exampleFleet(), earlier.replaceAll('&amp;', '&'), many);
  expect(asked.at(-1)).toMatchObject({ by: 'anna', before: { at: command.at, id: 101 } });
  expect(await read(exampleFleet(), '/activity?mailbox=nobody', { history })).toContain(
    'No guarded mailbox is called nobody.',
  );
  const broken = () => Promise.reject(new Error('secret path'));
  const silent = await read(exampleFleet(), '/activity', { history: { commands: broken, guardActions: broken } });
  expect(silent).toContain('Warmwarden cannot read what was done at the moment.');
});

test('a silence says what it mutes, who asked for it, and when it ends', async () => {
  const fleet = exampleFleet();
  expect(await read(fleet, '/silences')).toContain('No silence is in force.');
  const match = { rule: ['dns_*'] };
  fleet.putSilence({ id: 's1', match, by: 'anna', reason: 'DNS moves', from: now - hourMs, until: now + 2 * hourMs });
  expect(textOf(await read(fleet, '/silences'))).toMatch(
    /rule dns_\* mutes 1 firing alert anna: DNS moves .* ends in 2 h \./,
  );
  fleet.putSilence({ id: 's1', match, by: 'anna', reason: 'DNS moves', from: now + hourMs, until: now + 2 * hourMs });
  expect(textOf(await read(fleet, '/silences'))).toMatch(/rule dns_\* mutes nothing yet; 1 firing alert matches anna/);
});

test('a recipe shows its runs, a run its rows as text, and both lead to the download', async () => {
  const world = stillWorld();
  const { runs } = testStore();
  const common = { recipe: 'paused-by-guard', status: 'succeeded', parameters: {}, apply: false, by: 'bot' } as const;
  const times = { createdAt: now - minuteMs, startedAt: now - minuteMs, endedAt: now, truncated: false, error: null };
  const run = { id: 'r1', ...common, ...times, columns: ['email', 'why'], rowCount: 150 };
  const rows = Array.from({ length: 150 }, (_, index) => [`box${index}@acme.example`, '<b>=1+1']);
  await runs.write(run, [{ firstRow: 0, count: 150, rows: JSON.stringify(rows) }]);
  const recipes = { service: recipeRunner(world, { runs }), world, callerOf: () => null };
  const list = await read(exampleFleet(), '/recipes', { recipes });
  const [, path = ''] = /href="(\/recipes\/[^"]+)"/.exec(list) ?? [];
  expect(await read(exampleFleet(), path, { recipes })).toContain('warmwarden recipes run ');
  const first = await read(exampleFleet(), '/runs/r1', { recipes });
  expect(first.match(/<td>box/g)).toHaveLength(100);
  expect(first).toContain('&lt;b&gt;=1+1');
  expect(first).toContain('href="/runs/r1?offset=100"');
  expect((await read(exampleFleet(), '/runs/r1?offset=100', { recipes })).match(/<td>box/g)).toHaveLength(50);
  await using server = await serve(exampleFleet(), { recipes });
  const file = await ask(`${server.url}/runs/r1/rows.csv`);
  expect(file.headers['content-disposition']).toBe('attachment; filename="paused-by-guard-r1.csv"');
  expect(file.body.toString().split('\r\n')).toHaveLength(152);
  expect((await ask(`${server.url}/runs/none`, { accept: 'text/html' })).status).toBe(404);
});

test('of equally severe alerts the most urgent kind comes first: the circuit breaker before what it holds', async () => {
  const fleet = exampleFleet();
  const severity = 'critical';
  fleet.putAlert(alert({ rule: 'guard_held', severity, account: '', since: now - hourMs }));
  fleet.putAlert(alert({ rule: 'bounce_over_limit', severity, mailboxId: 'm5', since: now }));
  const body = await read(fleet, '/');
  const places = ['guard_held', 'bounce_over_limit', 'dns_failing'].map((rule) => body.indexOf(`id="alert-${rule}`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

/** The chart of consecutive days of 100 emails and so many bounces. */
async function chartOf(first: string, bounces: readonly number[], given: Partial<DayChartParts>): Promise<string> {
  const rows = bounces.map((bounced, index) => {
    const date = addDays(first, index);
    return { ...row(date, 100, bounced), date };
  });
  const nothing = { windowDays: 7, limitOn: () => 10_000, evidence: null, actions: [], changes: [], alerts: [] };
  return String(await dayChart({ ...nothing, rows, ...given }));
}

test('the limit steps on the day on which the mode changed, and is not drawn where it is not known', async () => {
  const limits: Readonly<Record<string, number>> = { '2026-03-08': 10_000, '2026-03-09': 3_000, '2026-03-10': 3_000 };
  const changes = [
    { what: 'mode', from: 'balanced', to: 'slow<', since: 0, at: Date.parse('2026-03-09T10:00Z') } as const,
  ];
  const limitOn = (date: string) => limits[date] ?? null;
  const chart = await chartOf('2026-03-07', [1, 1, 1, 1], { limitOn, changes });
  const heights = [...chart.matchAll(/class="limit"[^>]* y1="([\d.]+)"/g)].map(([, y]) => Number(y));
  expect(heights).toHaveLength(3);
  expect(heights[0]).toBeLessThan(heights[1] ?? 0);
  expect(heights[1]).toBe(heights[2]);
  // 1% over the 7 days: at the limit of the 8th, over that of the 9th and 10th.
  expect([...chart.matchAll(/class="rate over"/g)]).toHaveLength(2);
  expect(chart).toContain('2026-03-08: 100 sent, 1 bounced; 1% over 7 days, the limit was 1%');
  expect(chart).toMatch(/2026-03-09: [^<]*; others: mode balanced → slow&lt;<\/title>/);
  expect([...chart.matchAll(/class="changed"/g)]).toHaveLength(1);
});

test('a rate of the chart counts the days of the mailbox’s own window', async () => {
  const chart = await chartOf('2026-03-01', [5, 0, 0], { windowDays: 2 });
  expect(chart).toContain('2026-03-02: 100 sent, 0 bounced; 2.5% over 2 days, the limit was 1%');
  expect(chart).toContain('2026-03-03: 100 sent, 0 bounced; 0% over 2 days, the limit was 1%');
  expect([...chart.matchAll(/class="rate over"/g)]).toHaveLength(2);
  expect(chart).toContain('bounce rate over 2 days');
  expect(chart).not.toContain('7 days');
});

test('a rate of the chart leaves out what the guard no longer counts, after a change of mode', async () => {
  const evidence = { from: '2026-03-02', before: { sent: 50, bounced: 1 } };
  const chart = await chartOf('2026-03-01', [5, 1, 1], { limitOn: () => 3_000, evidence });
  expect(chart).toContain('2026-03-01: 100 sent, 5 bounced; 5% over at most 7 days');
  expect(chart).toContain('2026-03-02: 100 sent, 1 bounced; 0% over at most 7 days');
  expect(chart).toContain('2026-03-03: 100 sent, 1 bounced; 0.67% over at most 7 days');
});

function shownIn(timeZone: string, element: { title: string; show?: string; text?: string }) {
  const dateTime = '2026-03-12T03:12:07.000Z';
  const time = {
    dateTime,
    title: element.title,
    textContent: element.text ?? '4 min ago',
    dataset: { show: element.show },
  };
  class DateTimeFormat extends Intl.DateTimeFormat {
    constructor(locale: string, options: object) {
      super(locale, { ...options, timeZone });
    }
  }
  const document = { querySelectorAll: (what: string) => (what === 'time[datetime]' ? [time] : []) };
  runInContext(localTimes, createContext({ document, Intl: { DateTimeFormat } }));
  return [time.textContent, time.title];
}

test('a reader sees the clock, days and moments of their zone with its offset from UTC; how long ago stays', () => {
  const title = '2026-03-12T03:12:07.000Z';
  const moment = '12 Mar 2026, 04:12 UTC+1';
  expect(shownIn('Europe/Berlin', { title, show: 'clock', text: '03:12:07 UTC' })).toEqual(['04:12:07 UTC+1', moment]);
  expect(shownIn('Europe/Berlin', { title: `read at ${title}` })).toEqual(['4 min ago', `read at ${moment}`]);
  expect(shownIn('UTC', { title, show: 'clock' })).toEqual(['03:12:07 UTC', '12 Mar 2026, 03:12 UTC']);
  expect(shownIn('America/New_York', { title: '', show: 'day', text: '2026-03-12' })).toEqual(['11 Mar 2026', '']);
  expect(shownIn('Asia/Kolkata', { title: '', show: 'moment' })[0]).toBe('12 Mar 2026, 08:42 UTC+5:30');
});
