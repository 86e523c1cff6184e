// Recipes on a whole daemon: the rows of every built-in one against what the API and the page say, and what `do:` does.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/core/answers.ts';
import { hourMs, secondMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { amelia, jonas } from '../account/duty.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const keys = { viewer: 'ww_viewer', operator: 'ww_operator' };
const file = {
  recipes: {
    api_keys: [
      { name: 'bot', sha256: sha256(keys.viewer), plan: 'agency', role: 'viewer' },
      { name: 'boss', sha256: sha256(keys.operator), plan: 'agency', role: 'operator' },
    ],
  },
  retention: { messages: '10d' },
};
const hourly = Object.fromEntries(routes.map((route) => [route, '0 * * * *']));
const poll = { ...hourly, mailboxes: '*/30 * * * *', stats: '*/20 * * * *' };

type Json = Record<string, unknown>;
interface RunAnswer extends Json {
  readonly id: string;
  readonly status: string;
  readonly rows: readonly Json[];
  readonly error: string | null;
}

let stage: MovedDaemon;

function ask(path: string, { key = keys.viewer, ...init }: RequestInit & { key?: string | null } = {}) {
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return fetch(`${stage.url()}${path}`, { ...init, headers: { ...authorization, ...init.headers } });
}

async function api<Body>(path: string): Promise<Body> {
  return (await (await ask(path)).json()) as Body;
}

async function run(recipe: string, parameters: Json = {}): Promise<RunAnswer> {
  const ended = await endOf(recipe, parameters);
  expect([ended.status, ended.error]).toEqual(['succeeded', null]);
  return ended;
}

async function endOf(recipe: string, parameters: Json = {}, key = keys.viewer): Promise<RunAnswer> {
  const body = JSON.stringify({ parameters });
  const triggered = await ask(`/v1/recipes/${recipe}/runs`, { method: 'POST', body, key });
  expect(triggered.status).toBe(202);
  const location = triggered.headers.get('location') ?? '';
  return until(`the end of ${recipe}`, async () => {
    const answer = await api<RunAnswer>(location);
    return ['queued', 'running'].includes(answer.status) ? undefined : answer;
  });
}

interface FleetAnswer {
  readonly accounts: readonly Json[];
  readonly mailboxes: readonly (Json & { readonly verdict: Json | null })[];
  readonly total: number;
}

beforeAll(async () => {
  stage = await startMovedDaemon({ scenario: scenarios['bounce-storm'], poll, file });
  // 15:30: one mailbox is in recovery, one paused, a domain's DKIM fails, another is listed, a login is lost.
  await stage.run(7 * hourMs);
  // The store has the newest answers within a second.
  await stage.run(secondMs);
});
afterAll(() => stage[Symbol.asyncDispose]());

describe('the rows of a built-in recipe are what the API says', () => {
  test('fleet-overview: every mailbox with its state, counts and limit', async () => {
    const fleet = await api<FleetAnswer>('/api/fleet');
    const { rows } = await run('fleet-overview');
    expect(rows).toHaveLength(fleet.total);
    for (const { id, email, state, mode, stats_at, verdict } of fleet.mailboxes) {
      const { sent, bounced, rate_percent, limit_percent, reason } = verdict ?? {};
      const counts = { sent, bounced, rate_percent, limit_percent, reason };
      expect(rows.find((row) => row['mailbox_id'] === id)).toMatchObject({ email, state, mode, stats_at, ...counts });
    }
  });

  test('breaches: the changes that the API took', async () => {
    const { rows } = await run('breaches');
    const taken = stage.posts.map(({ email, change }) => [
      email,
      change === 'pause' ? 'pause' : 'recovery',
      'confirmed',
    ]);
    expect(rows.map((row) => [row['email'], row['kind'], row['state']]).reverse()).toEqual(taken);
    expect(taken.map(([email]) => email)).toEqual([amelia, jonas]);
  });

  test('why-paused: the decision with its sentences, as the page explains it', async () => {
    const mailbox = stage.mailbox(jonas);
    const page = await api<{ decisions: readonly Json[] }>(`/api/explain?mailbox=agency/${mailbox.id}&limit=50`);
    const { rows } = await run('why-paused', { mailbox: jonas });
    const since = page.decisions.filter(({ reason }) => reason === 'already_paused').length;
    expect(since).toBeGreaterThan(0);
    expect(rows.map((row) => [row['reason'], row['explanation']])).toEqual(
      page.decisions.slice(since, since + 20).map((decision) => [decision['reason'], decision['explanation']]),
    );
    expect(rows[0]).toMatchObject({ action: 'pause', reason: 'emergency', state_now: 'paused_by_guard' });
  });

  test('a name that nothing has is a failure, and not an empty answer', async () => {
    const { id } = stage.mailbox(jonas);
    for (const mailbox of [`agency/${jonas.toUpperCase()}`, id])
      expect((await run('why-paused', { mailbox })).rows).not.toEqual([]);
    expect((await run('resume-ours', { domain: 'Northbeam.example' })).rows).toEqual([]);
    expect((await run('fleet-overview', { account: 'agency' })).rows).not.toEqual([]);
    for (const [recipe, parameters, named] of [
      ['why-paused', { mailbox: 'typo@northbeam.example' }, 'mailbox called "typo@northbeam.example"'],
      ['pause-domain', { domain: 'nothbeam.example' }, 'domain called "nothbeam.example"'],
      ['fleet-overview', { account: 'agencies' }, 'account called "agencies"'],
    ] as const) {
      const { status, rows, error } = await endOf(recipe, parameters, keys.operator);
      expect([recipe, status, rows, error]).toEqual([recipe, 'failed', [], `Warmwarden guards no ${named}`]);
    }
  });

  test('dns-problems, blacklisted and disconnected: the incidents of the scenario', async () => {
    const dns = await run('dns-problems');
    expect(dns.rows.map((row) => [row['domain'], row['record']])).toEqual([['fernhill.example', 'dkim']]);
    const fleet = await api<FleetAnswer>('/api/fleet');
    const failing = fleet.mailboxes.filter((mailbox) => (mailbox['dns_failing'] as readonly string[]).includes('dkim'));
    expect(dns.rows[0]?.['mailboxes']).toBe(failing.length);
    const listed = fleet.mailboxes.filter((mailbox) => Number(mailbox['listings']) > 0).map(({ email }) => email);
    const blacklisted = await run('blacklisted');
    expect(blacklisted.rows.map((row) => row['email']).sort()).toEqual(listed.sort());
    expect(blacklisted.rows[0]).toMatchObject({ lists: 'zen.spamhaus.org', found: 1 });
    const disconnected = await run('disconnected');
    expect(disconnected.rows).toMatchObject([
      { email: 'samuel.ito@quarrystone.example', connection_error: 'IMAP login failed: invalid credentials' },
    ]);
  });

  test('placement, domain-health and weekly-report: sums of the days that the API gave', async () => {
    const days = [...stage.fleet().mailboxes()].flatMap((mailbox) => {
      const rows = mailbox.stats?.answer.rows ?? [];
      return rows
        .filter(({ date }) => date !== null && date > '2026-03-03')
        .map((row) => ({ ...row, provider: mailbox.entry.answer.provider }));
    });
    const sum = (rows: readonly { readonly sent: number | null }[]) =>
      rows.reduce((all, { sent }) => all + (sent ?? 0), 0);
    const placement = await run('placement');
    expect(placement.rows.length).toBeGreaterThan(1);
    for (const row of placement.rows) {
      expect(row['sent']).toBe(sum(days.filter(({ provider }) => provider === row['provider'])));
    }
    const [week] = (await run('weekly-report')).rows;
    expect(week).toMatchObject({ sent: sum(days), paused: 1, to_recovery: 1, paused_now: 1, in_recovery_now: 1 });
    const fleet = await api<FleetAnswer>('/api/fleet');
    const domains = (await run('domain-health')).rows;
    const sent = fleet.mailboxes.reduce((all, { verdict }) => all + Number(verdict?.['sent'] ?? 0), 0);
    expect(domains.reduce((all, row) => all + Number(row['sent']), 0)).toBe(sent);
    expect(domains[0]).toMatchObject({ domain: 'fernhill.example', dns_failing: 'dkim' });
  });
});
