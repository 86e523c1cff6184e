// The daemon as a process against an API that a program of others serves from files: what it announces, asks for and does there.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ForeignApi, type ForeignMailbox } from '../support/foreign-api.ts';
import { type Running, runDaemon, Workplace } from '../support/process.ts';
import { type ReceivedAlert, Receiver } from '../support/receiver.ts';
import { scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

const hourMs = 3_600_000;
const everyTwoSeconds = '*/2 * * * * *';
const kinds = ['health', 'mailboxes', 'stats', 'warmup', 'mailbox', 'dns', 'blacklist'];
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const days = (sent: readonly number[], bounced: readonly number[]) =>
  sent.map((count, index) => ({ sent: count, bounced: bounced[index] ?? 0 }));

const workplace = new Workplace();
let api: ForeignApi;
let receiver: Receiver;
let daemon: Running;
let few: ForeignMailbox;
let found: ForeignMailbox;
let cached: ForeignMailbox;
let old: ForeignMailbox;
let changed: ForeignMailbox;

const notified = (mailbox: ForeignMailbox, rule: string): readonly ReceivedAlert[] =>
  receiver.alerts().filter((alert) => alert.rule === rule && alert.title.includes(mailbox.email.split('@')[1] ?? ''));

/** Resolves when the mailbox was asked for that path so many times more. */
async function rounds(mailbox: ForeignMailbox, path: string, more: number): Promise<void> {
  const before = api.asked(mailbox, path).length;
  await until(`${more} more requests`, () => api.asked(mailbox, path).length >= before + more);
}

beforeAll(async () => {
  [api, receiver] = await Promise.all([ForeignApi.start(), Receiver.start()]);
  // One bounce in 85 emails is 1.18 %; six in 97, the limit of recovery mode being 0.3 %.
  few = api.add('few', { mode: 'slow', days: days([12, 12, 12, 12, 12, 12, 13], [0, 0, 1]) });
  found = api.add('found', { mode: 'recovery', days: days([13, 14, 14, 14, 14, 14, 14], [0, 2, 2, 2]) });
  cached = api.add('cached');
  old = api.add('old', { dns: { spf: 'pass', checkedAt: ago(30 * hourMs) } });
  changed = api.add('changed', { mode: 'slow', days: days([10, 10, 10, 10, 10, 10, 10], []) });
  api.publish();
  const config = workplace.configure({
    accounts: [
      {
        name: 'foreign',
        base_url: api.url,
        api_key: `sk_live_${'k'.repeat(32)}`,
        requests_per_minute: 6_000,
        headroom: '0%',
      },
    ],
    poll: Object.fromEntries(kinds.map((kind) => [kind, everyTwoSeconds])),
    alerts: {
      channels: [{ name: 'hook', type: 'webhook', url: receiver.hookUrl, secret: receiver.secret }],
      routes: [{ match: {}, channels: ['hook'] }],
      group_wait: '0s',
      group_interval: '1s',
    },
    store: { url: 'sqlite:./data/warmwarden.db' },
    server: { listen: '127.0.0.1:0' },
    log: { level: 'debug' },
  });
  daemon = runDaemon(config);
  await daemon.onDuty();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  workplace[Symbol.dispose]();
});

it('is never silent over the limit: too few bounces to act on are announced as info, and shown', async () => {
  const alert = await until('the announcement', () => notified(few, 'bounce_over_limit')[0]);
  expect(alert).toMatchObject({ severity: 'info', mailbox: few.email });
  expect(alert.sentences[0]).toMatch(/^1 bounce in 85 emails .*1\.18 %, over the slow limit of 0\.5 %/);
  const metrics = await scrape(await daemon.onDuty());
  expect(metrics.value('guard_state', { mailbox: few.email, state: 'over_limit' })).toBe(1);
  expect(await (await fetch(`${await daemon.onDuty()}/`)).text()).toContain('Over limit');
});

it('announces a breach found in recovery mode at once, and pauses with the next bounce', async () => {
  const alert = await until('the finding', () => notified(found, 'bounce_over_limit')[0]);
  expect(alert).toMatchObject({ severity: 'warning', mailbox: found.email });
  await rounds(found, '/v1/stats', 3);
  expect(api.requests.filter((request) => request.startsWith('post'))).toEqual([]);
  found.days = days([14, 14, 14, 14, 14, 14, 14], [1, 2, 2, 2]);
  api.publish();
  await until('the pause', () => api.requests.some((request) => request.startsWith('post /v1/warmup')));
  found.status = 'paused';
  api.publish();
  const acted = await until('its announcement', () => notified(found, 'guard_acted')[0]);
  expect(acted.numbers).toMatchObject({ action: 'pause', outcome: 'confirmed', mode_before: 'recovery' });
  await rounds(found, '/v1/stats', 3);
  expect(api.requests.filter((request) => request.startsWith('post'))).toEqual(['post /v1/warmup']);
});

it('sees one measurement once, asks for a fresh one once, and announces what two measurements show', async () => {
  const fresh = () => api.asked(cached, '/v1/dns').filter((request) => request.includes('refresh=true'));
  await rounds(cached, '/v1/dns', 2);
  expect(fresh()).toEqual([]);
  cached.dns = { spf: 'fail', checkedAt: ago(60_000) };
  api.publish();
  await rounds(cached, '/v1/dns', 4);
  expect([notified(cached, 'dns_failing'), fresh().length]).toEqual([[], 1]);
  cached.dns = { spf: 'fail', checkedAt: ago(1_000) };
  api.publish();
  const alert = await until('the failure', () => notified(cached, 'dns_failing')[0]);
  expect(alert.numbers).toMatchObject({ checked_at: cached.dns.checkedAt, spf_status: 'fail' });
  const metrics = await scrape(await daemon.onDuty());
  const labels = { mailbox: cached.email, route: 'dns' };
  expect(metrics.value('measurement_timestamp_seconds', labels)).toBe(Date.parse(cached.dns.checkedAt) / 1_000);
  expect(fresh()).toHaveLength(1);
});

it('announces a measurement that is old although a fresh one was asked for', async () => {
  const alert = await until('the old check', () => notified(old, 'stale_data')[0]);
  expect(alert).toMatchObject({ severity: 'warning', title: `${old.email}: the DNS check is out of date` });
  expect(api.asked(old, '/v1/dns').filter((request) => request.includes('refresh=true'))).toHaveLength(1);
  old.dns = { spf: 'pass', checkedAt: ago(0) };
  api.publish();
  await until('its end', () => notified(old, 'stale_data').some(({ status }) => status === 'resolved'));
});

it('announces what others raise and pause, and writes nothing', async () => {
  await rounds(changed, '/v1/warmup', 2);
  Object.assign(changed, { mode: 'aggressive', targetDailyLimit: 60 });
  api.publish();
  const raised = await until('what was raised', () => notified(changed, 'changed_by_others')[0]);
  expect([raised.severity, raised.numbers['changed']]).toEqual(['info', 'mode_raised,limit_raised']);
  changed.status = 'paused';
  api.publish();
  const paused = await until('the pause', () => notified(changed, 'changed_by_others')[1]);
  expect(paused.title).toBe(`${changed.email}: warm-up paused by others`);
  expect(api.requests.filter((request) => request.startsWith('post')).length).toBeLessThanOrEqual(1);
});
