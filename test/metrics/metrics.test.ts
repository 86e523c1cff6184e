// What a scraper reads: values, absences, labels, formats.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { mailboxGauges } from '../../src/metrics/mailbox-series.ts';
import { systemClock } from '../../src/world/world.ts';
import { isInstalled } from '../support/debian.ts';
import { Scrape } from '../support/scrape.ts';
import { account, alert, bareMailbox, exampleFleet, mailbox, now, row, rows, today } from '../web/example-fleet.ts';
import { ask, metricsOf, metricsSettings, serve, stillWorld, textOf } from '../web/running-server.ts';

/** Prometheus' own checker, where it is installed. */
const promtool = 'promtool';

async function scrape(fleet: Fleet, changes: Parameters<typeof metricsOf>[2] = {}): Promise<Scrape> {
  return new Scrape(await textOf(metricsOf(fleet, stillWorld(), changes)));
}

describe('the series of a mailbox', () => {
  test('carry the verdict, the checks and the age of each answer', async () => {
    const series = await scrape(exampleFleet());
    const of = { mailbox: 'team@northwind.example', account: 'northwind' };
    expect(series.value('window_sent', of)).toBe(214);
    expect(series.value('window_bounced', of)).toBe(2);
    expect(series.value('window_inbox', of)).toBe(194);
    expect(series.value('bounce_ratio', of)).toBeCloseTo(2 / 214, 12);
    expect(series.value('bounce_limit_ratio', of)).toBe(0.01);
    expect(series.value('bounces_until_breach', of)).toBe(1);
    expect(series.value('inbox_ratio', of)).toBeCloseTo(0.95, 12);
    expect(series.value('mailbox_health_score', of)).toBe(92);
    expect(series.value('dns_pass', { ...of, record: 'spf' })).toBe(1);
    expect(series.value('blacklists_checked', of)).toBe(40);
    expect(series.value('guard_state', { ...of, state: 'near_limit' })).toBe(1);
    expect(series.value('guard_state', { ...of, state: 'ok' })).toBe(0);
    expect(series.value('warmup_mode', { ...of, mode: 'balanced' })).toBe(1);
    expect(series.value('observation_timestamp_seconds', { ...of, route: 'stats' })).toBe((now - 240_000) / 1_000);
    expect(series.value('mailbox_info', of)).toBe(1);
  });

  test('say that stale statistics are not judged, also if nothing else moved since the last scrape', async () => {
    const fleet = new Fleet();
    const { account, id: mailboxId, email } = mailbox('m1', 'a@acme.example');
    fleet.putMailbox(mailbox('m1', email));
    const metrics = metricsOf(fleet, stillWorld());
    const isOk = async () =>
      new Scrape(await textOf(metrics)).value('guard_state', { account, mailbox: email, state: 'ok' });
    expect(await isOk()).toBe(1);
    const stale = alert({ rule: 'stale_data', object: 'statistics', mailboxId });
    fleet.putAlert(stale);
    expect(await isOk()).toBe(0);
    fleet.removeAlert(stale.fingerprint);
    expect(await isOk()).toBe(1);
  });

  test('name its tags', async () => {
    const fleet = new Fleet();
    for (const id of ['m1', 'm2']) fleet.putMailbox(bareMailbox(id, `${id}@acme.example`));
    const tagsOf = ({ id }: { readonly id: string }) => (id === 'm1' ? ['client=north', 'vip'] : []);
    const tags = (series: Scrape) => series.samples.filter(({ name }) => name === 'warmwarden_mailbox_tag_info');
    const of = { account: 'acme', mailbox: 'm1@acme.example' };
    expect(tags(await scrape(fleet, { tagsOf })).map(({ labels, value }) => ({ ...labels, is: value }))).toEqual([
      { ...of, tag: 'client', value: 'north', is: 1 },
      { ...of, tag: 'vip', value: 'true', is: 1 },
    ]);
  });

  test('are absent, not 0, while unknown', async () => {
    const fleet = new Fleet();
    fleet.putMailbox(bareMailbox('m1', 'new@acme.example'));
    const names = (await scrape(fleet)).samples.filter((one) => one.labels['mailbox']).map((one) => one.name);
    expect([...new Set(names)].sort()).toEqual([
      'warmwarden_guard_state',
      'warmwarden_mailbox_info',
      'warmwarden_mailbox_status',
    ]);
  });

  test('are absent one by one where an answer is inconclusive', async () => {
    const fleet = new Fleet();
    const whole = mailbox('m1', 'a@acme.example');
    const unclear = { status: 'temperror', pass: null, record: null };
    const fails = { status: 'fail', pass: false, record: null };
    fleet.putMailbox({
      ...whole,
      stats: {
        at: now,
        answer: { rows: [...rows(7).slice(0, -1), row(today, { replied: null, inboxRatePercent: null })] },
      },
      detail: whole.detail && { ...whole.detail, answer: { ...whole.detail.answer, connection: 'unclear' } },
      dns: whole.dns && {
        ...whole.dns,
        answer: { ...whole.dns.answer, records: { spf: unclear, dkim: fails, dmarc: fails } },
      },
      blacklist: whole.blacklist && {
        ...whole.blacklist,
        answer: { ...whole.blacklist.answer, listed: null, found: null },
      },
    });
    const series = await scrape(fleet);
    expect(series.value('dns_pass', { record: 'spf' })).toBeUndefined();
    expect(series.value('dns_pass', { record: 'dkim' })).toBe(0);
    expect(series.value('blacklist_listed')).toBeUndefined();
    expect(series.value('blacklists_found')).toBeUndefined();
    expect(series.value('mailbox_connected')).toBeUndefined();
    expect(series.value('window_replied')).toBeUndefined();
    expect(series.value('reply_ratio')).toBeUndefined();
    expect(series.value('inbox_ratio')).toBeUndefined();
    expect(series.value('spam_ratio')).toBeGreaterThan(0);
  });
});

describe('labels', () => {
  test('survive quotes, backslashes and other scripts, and show what hides', async () => {
    const fleet = new Fleet();
    const odd = ['"quo\\ted"@acme.example', 'пошта@приклад.example', '😀@acme.example'];
    for (const [index, email] of odd.entries()) fleet.putMailbox(mailbox(`m${index}`, email));
    fleet.putMailbox(mailbox('hidden', 'a\u202eb\nc\u0000@acme.example'));
    const series = await scrape(fleet);
    for (const email of odd) expect(series.value('window_sent', { mailbox: email })).toBe(190);
    expect(series.value('window_sent', { mailbox: 'a[U+202E]b[U+000A]c[U+0000]@acme.example' })).toBe(190);
  });

  test('tell two mailboxes of one address apart by their ids, within an account', async () => {
    const fleet = new Fleet();
    fleet.putMailbox(mailbox('m1', 'twin@acme.example'));
    fleet.putMailbox(mailbox('m2', 'twin@acme.example'));
    fleet.putMailbox(mailbox('m3', 'twin@acme.example', { account: 'other' }));
    fleet.putMailbox(mailbox('m4', 'twin@acme.example (m1)'));
    const series = await scrape(fleet);
    const names = series.samples
      .filter((one) => one.name === 'warmwarden_window_sent')
      .map((one) => one.labels['mailbox']);
    expect(names.sort()).toEqual([
      'twin@acme.example',
      'twin@acme.example (m1)',
      'twin@acme.example (m1) (m4)',
      'twin@acme.example (m2)',
    ]);
    const byId = await scrape(fleet, { mailboxLabel: 'id' });
    expect(byId.value('window_sent', { mailbox: 'm2' })).toBe(190);
  });
});

describe('the series of the daemon', () => {
  test('tell the accounts, the alerts and the outbox', async () => {
    const fleet = exampleFleet();
    fleet.putAccount(account('acme', { failingSince: now - 60_000, keyWrites: false }));
    fleet.putAccount(account('unasked', { lastSuccessAt: null, listed: false }));
    fleet.putAlert(alert({ rule: 'stale_data', status: 'pending' }));
    fleet.putAccount(account('rejected', { lastSuccessAt: null, failingSince: now, keyRejected: true }));
    const series = await scrape(fleet);
    expect(series.value('api_up', { account: 'acme' })).toBe(0);
    expect(series.value('account_key_accepted', { account: 'acme' })).toBe(1);
    expect(series.value('account_key_accepted', { account: 'rejected' })).toBe(0);
    expect(series.value('account_key_accepted', { account: 'unasked' })).toBeUndefined();
    expect(series.value('api_up', { account: 'northwind' })).toBe(1);
    expect(series.value('api_up', { account: 'unasked' })).toBeUndefined();
    expect(series.value('mailboxes', { account: 'unasked', state: 'ok' })).toBeUndefined();
    expect(series.value('account_writable', { account: 'acme' })).toBe(0);
    expect(series.value('account_writable', { account: 'northwind' })).toBeUndefined();
    expect(series.value('poll_oldest_due_seconds', { account: 'acme' })).toBe(12);
    expect(series.value('alerts_firing', { account: 'acme', rule: 'dns_failing', severity: 'critical' })).toBe(1);
    expect(series.value('alerts_firing', { rule: 'stale_data' })).toBeUndefined();
    expect(series.value('outbox_pending', { channel: 'ops' })).toBe(0);
    expect(series.value('outbox_oldest_timestamp_seconds')).toBeUndefined();
    expect(series.value('build_info', { version: '0.1.0' })).toBe(1);
  });

  test('count mailboxes that were OK as not judged while their account cannot be read', async () => {
    const fleet = exampleFleet();
    const counted = async (name: string) => {
      const series = await scrape(fleet);
      const of = (state: string) => series.value('mailboxes', { account: name, state });
      return [of('ok'), of('not_judged'), of('paused_by_guard')];
    };
    expect(await counted('acme')).toEqual([8, 0, 1]);
    expect(await counted('northwind')).toEqual([0, 1, 0]);
    fleet.putAccount(account('acme', { failingSince: now - 60_000 }));
    expect(await counted('acme')).toEqual([0, 8, 1]);
    fleet.putAccount(account('acme', { listed: false }));
    expect(await counted('acme')).toEqual([0, 8, 1]);
    fleet.putAccount(account('acme'));
    expect(await counted('acme')).toEqual([8, 0, 1]);
    fleet.putGuarding([{ account: 'acme', startingSince: now - 90_000 }]);
    expect(await counted('acme')).toEqual([0, 8, 1]);
  });

  test('say on how many mailboxes of an account Warmwarden does not act, whatever keeps it from that', async () => {
    const fleet = exampleFleet();
    fleet.putAccount(account('unlisted', { listed: false }));
    const enforced = async (acts: (mailbox: MailboxState) => boolean) => {
      const policyOf = (mailbox: MailboxState) => ({ ...defaultPolicy, enforce: acts(mailbox) });
      const series = await scrape(fleet, { policyOf, enforcing: () => false });
      return ['acme', 'northwind', 'unlisted'].map((name) => [
        series.value('guard_enforcing', { account: name }),
        series.value('mailboxes_not_enforced', { account: name }),
      ]);
    };
    const unlisted = [0, 0];
    expect(await enforced(() => true)).toEqual([[1, 0], [1, 0], unlisted]);
    expect(await enforced(({ id }) => id === 'm5')).toEqual([[1, 9], [0, 2], unlisted]);
    const scope = { kind: 'account', account: 'acme' } as const;
    fleet.putWritesOff({ since: now, until: null, by: 'ann', reason: 'a look', scope });
    expect((await enforced(() => true))[0]).toEqual([0, 10]);
  });

  test('forget an account and a channel that a reload took away', async () => {
    const metrics = metricsOf(exampleFleet(), stillWorld());
    metrics.tally.notification('former', 'sent');
    for (const account of ['acme', 'former']) metrics.tally.request({ account, route: 'stats', code: '503' }, 0.2);
    const series = new Scrape(await textOf(metrics));
    expect(series.value('api_requests_total', { account: 'acme', code: '503' })).toBe(1);
    expect(series.samples.filter(({ labels }) => Object.values(labels).includes('former'))).toEqual([]);
  });

  test('count from 0 what did not happen yet, and then what happens', async () => {
    const metrics = metricsOf(exampleFleet(), stillWorld());
    const { tally } = metrics;
    const paused = { account: 'acme', action: 'pause', outcome: 'confirmed' };
    const before = new Scrape(await textOf(metrics));
    expect(before.value('guard_actions_total', paused)).toBe(0);
    expect(before.value('notifications_total', { channel: 'ops', outcome: 'undelivered' })).toBe(0);
    tally.action('acme', 'pause', 'confirmed');
    tally.decision('acme', 'hold', 'stale_data');
    tally.request({ account: 'acme', route: 'stats', code: '200' }, 0.2);
    tally.notification('ops', 'sent');
    const after = new Scrape(await textOf(metrics));
    expect(after.value('guard_actions_total', paused)).toBe(1);
    expect(after.value('guard_decisions_total', { account: 'acme', action: 'hold', reason: 'stale_data' })).toBe(1);
    expect(after.value('api_requests_total', { account: 'acme', route: 'stats', code: '200' })).toBe(1);
    expect(after.value('api_request_duration_seconds_bucket', { le: '0.25' })).toBe(1);
    expect(after.value('api_request_duration_seconds_bucket', { le: '0.1' })).toBe(0);
    expect(after.value('notifications_total', { outcome: 'sent' })).toBe(1);
  });
});

test('the lag of the event loop says how late it was, and a second scraper reads the same', async () => {
  const metrics = metricsOf(exampleFleet(), stillWorld());
  const clock = systemClock();
  const until = clock.monotonic() + 1_700;
  while (clock.monotonic() < until);
  await clock.sleep(100);
  for (const _scraper of ['first', 'second']) {
    const scrape = new Scrape(await textOf(metrics));
    const most = scrape.value('event_loop_lag_seconds_bucket', { le: '0.5' }) ?? 0;
    expect(scrape.value('event_loop_lag_seconds_count')).toBeGreaterThan(most);
    expect(scrape.samples.filter(({ name }) => name.startsWith('nodejs_eventloop_lag'))).toEqual([]);
  }
});

test('the series of the configuration tell whether the newest one was taken, and when the one in force was', async () => {
  const world = stillWorld();
  const metrics = metricsOf(exampleFleet(), world);
  const read = async () => new Scrape(await textOf(metrics));
  const successful = 'config_last_reload_successful';
  const takenAt = 'config_last_reload_success_timestamp_seconds';
  expect((await read()).value(successful)).toBe(1);
  await world.clock.advance(60_000);
  metrics.configRefused();
  expect((await read()).value(successful)).toBe(0);
  expect((await read()).value(takenAt)).toBe(now / 1_000);
  const policyOf = () => ({ ...defaultPolicy, enforce: false });
  metrics.configured({ ...metricsSettings, mailboxLabel: 'id', policyOf });
  const after = await read();
  expect(after.value(successful)).toBe(1);
  expect(after.value(takenAt)).toBe(now / 1_000 + 60);
  expect(after.value('mailbox_info', { mailbox: 'm3' })).toBe(1);
  expect(after.value('guard_enforcing', { account: 'acme' })).toBe(0);
  expect(after.value('active')).toBe(1);
});

describe('the answer to a scrape', () => {
  test('is Prometheus text', async () => {
    await using server = await serve(exampleFleet());
    const text = await ask(`${server.url}/metrics`);
    expect(text.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text.body.toString()).toContain('# TYPE warmwarden_guard_actions_total counter\n');
  });

  test('has a help and a type before every family, each family once, and no series twice', async () => {
    const body = await textOf(metricsOf(exampleFleet(), stillWorld()));
    const types = [...body.matchAll(/^# HELP (\S+) .+\n# TYPE \1 \w+\n\1/gm)].map(([, name]) => name);
    expect(types).toHaveLength(body.match(/^# TYPE /gm)?.length ?? 0);
    expect(new Set(types).size).toBe(types.length);
    for (const { name } of mailboxGauges) expect(types).toContain(name);
    const samples = body.split('\n').filter((line) => line && !line.startsWith('#'));
    expect(new Set(samples.map((line) => line.replace(/ \S+$/, ''))).size).toBe(samples.length);
  });

  test.skipIf(!isInstalled(promtool))('pleases promtool', async () => {
    const metrics = metricsOf(exampleFleet(), stillWorld());
    const { tally } = metrics;
    tally.request({ account: 'acme', route: 'stats', code: '200' }, 0.2);
    tally.decision('acme', 'none', 'ok');
    const body = await textOf(metrics);
    const check = spawnSync(promtool, ['check', 'metrics'], { input: body, encoding: 'utf8' });
    expect([check.status, check.stdout, check.stderr]).toEqual([0, '', '']);
    const planted = spawnSync(promtool, ['check', 'metrics'], {
      input: '# TYPE a_total gauge\na_total 1\n',
      encoding: 'utf8',
    });
    expect(planted.status).not.toBe(0);
  });
});
