// Examples of what GET /api/... answers, from a fleet with one mailbox that Warmwarden paused. A test holds each against its schema.
import { budget, group, runbook, states } from './fleet-view-examples.ts';

const account = 'agency';
const id = '908a799e-10d0-4eb2-aef3-38c95f830516';
const email = 'jonas.keller@brightpath.example';
const at = '2026-03-10T17:30:02.000Z';
const told = { at, time_zone: 'UTC' };
const cursor = 'Wy0xNzczMTQ1OTIwMTI0LDEsIjBtbWtsYXM4cy1pMDAwMDAiXQ';

const counts = {
  wanted: 'pause',
  mode: 'aggressive',
  run: 'running',
  sent: 116,
  bounced: 3,
  rate_percent: 2.586206896551724,
  limit_percent: 2,
  window_from: '2026-03-04',
  window_to: '2026-03-10',
  window_days: 7,
  emergency: false,
  bounces_until_breach: 0,
  data_age_seconds: 0,
  warnings: [],
};

const pauseVerdict = {
  action: 'pause',
  reason: 'emergency',
  ...counts,
  emergency: true,
  explanation: '3 bounces in 30 emails since 9 March: 10 %. This is an emergency in any mode.',
};

const pausedVerdict = {
  action: 'none',
  reason: 'already_paused',
  ...counts,
  wanted: 'none',
  run: 'paused',
  explanation: 'The warm-up is already paused, so there is nothing to decide.',
};

const action = {
  id: '0mmklas8s-i00000',
  account,
  mailbox_id: id,
  email,
  kind: 'pause',
  state: 'confirmed',
  attempts: 1,
  planned_at: '2026-03-10T12:32:00.124Z',
  settled_at: '2026-03-10T12:32:00.495Z',
  next_try_at: null,
  detail: 'read back: status paused',
  verdict: pauseVerdict,
};

const claim = { kind: 'pause', since: '2026-03-10T12:32:00.495Z' };

const mailbox = {
  account,
  id,
  email,
  name: email,
  state: 'paused_by_guard',
  mode: 'aggressive',
  health_score: 86.53,
  dns_failing: [],
  dns_inconclusive: [],
  listings: 0,
  stats_at: '2026-03-10T17:30:00.248Z',
  claim,
  paused_by: null,
  alerts: [],
  verdict: { at: '2026-03-10T17:30:00.619Z', ...pausedVerdict },
};

const days = [
  { date: '2026-03-09', sent: 18, bounced: 1 },
  { date: '2026-03-10', sent: 12, bounced: 2 },
];

const decision = {
  since: '2026-03-10T12:40:00.372Z',
  until: '2026-03-10T17:30:00.619Z',
  count: 40,
  first_sent: 116,
  ...pausedVerdict,
  first_days: days,
  days,
};

const silence = {
  id: 'tboz61i0',
  match: { rule: ['dns_*'] },
  by: 'anna',
  reason: 'DNS moves',
  from: '2026-03-10T16:30:01.000Z',
  until: '2026-03-10T20:30:01.000Z',
};

const silenced = { by: silence.by, until: silence.until };

const alert = {
  fingerprint: 'dns_failing|agency||fernhill.example',
  rule: 'dns_failing',
  severity: 'critical',
  status: 'firing',
  account,
  accounts: [account],
  mailbox_id: null,
  email: null,
  object: 'fernhill.example',
  since: '2026-03-10T12:17:00.248Z',
  firing_at: '2026-03-10T12:18:00.248Z',
  title: 'fernhill.example: SPF and DKIM do not pass',
  sentences: ['The API reports "fail" for SPF and shows no record.'],
  numbers: {},
};

const incident = {
  id: 'inc_pT3VbGvnmHq2Jc8cYx1dA',
  title:
    'Provider google: 16 mailboxes on 5 domains over their bounce limits since 10 March 01:40 UTC: block (policy_block)',
  advice: 'Read the bounce messages of one mailbox, and check the sending rules and the status page of google.',
  cause: { attribute: 'provider', value: 'google' },
  bounce_kind: 'block (policy_block)',
  severity: 'critical',
  began_at: '2026-03-10T01:40:00.000Z',
  ended_at: null,
  notified_at: '2026-03-10T01:45:30.000Z',
  mailboxes: 16,
  domains: 5,
  states: { not_acted: 0, failed: 0, held: 9, paused: 2, recovery: 5, burst: 0 },
  members: [
    {
      account,
      mailbox_id: 'mbx_7',
      email: 'ann@fernhill.example',
      state: 'held',
      since: '2026-03-10T01:44:10.000Z',
      sent: 52,
      bounced: 6,
      severity: 'critical',
    },
  ],
};

const briefAlert = { rule: alert.rule, severity: alert.severity, since: alert.since, title: alert.title, silenced };

const fleet = {
  ...told,
  headline: '1 critical alert. 1 mailbox paused by Warmwarden, 10 OK.',
  advice: 'Start with the critical alert below.',
  tone: 'alarm',
  states,
  incidents: [],
  alerts: [briefAlert],
  alerts_firing: 1,
  alert_groups: [{ ...briefAlert, count: 1 }],
  not_guarded: [],
  accounts: [
    {
      name: account,
      requests_per_minute: 485,
      limit_per_minute: 500,
      last_success_at: '2026-03-10T17:29:00.000Z',
      failing_since: null,
      last_failure: null,
      key_rejected: false,
      writable: true,
      judging_failure: null,
      listed: true,
      unlisted: [],
      guarded_elsewhere: [],
      health: 'ok',
      queue_length: 6,
      oldest_due_at: '2026-03-10T17:30:00.000Z',
      last_write_at: '2026-03-10T12:32:00.495Z',
      first_sweep: null,
    },
  ],
  channels: [
    {
      name: 'hook',
      type: 'webhook',
      pending: 0,
      oldest_pending_at: null,
      undelivered: 0,
      last_success_at: '2026-03-10T12:32:30.495Z',
      failing_since: null,
      last_failure: null,
    },
  ],
  replicas: [{ name: 'warden-0:1', silent: false, accounts: 1, notifies: true, this_one: true }],
  replica_troubles: [],
  store_failure: null,
  writes_off: [],
  actions: [action],
  total: 11,
  mailboxes: [mailbox],
  next_cursor: cursor,
};

const read = '2026-03-10T12:29:00.248Z';
const dnsRecord = { status: 'pass', pass: true, record: 'v=spf1 ip4:203.0.113.83 -all' };

const wholeMailbox = {
  ...mailbox,
  first_seen_at: '2026-03-10T08:30:00.000Z',
  missing_lists: 0,
  entry: {
    at: read,
    answer: {
      id,
      email,
      provider: 'microsoft',
      status: 'active',
      health_score: 86.53,
      daily_limit: 27,
      warmup_day: 8,
    },
  },
  warmup: null,
  stats: {
    at: read,
    answer: {
      rows: [
        {
          date: '2026-03-09',
          sent: 18,
          bounced: 1,
          delivered: 17,
          opened: 9,
          replied: 4,
          spam_landed: 0,
          inbox_rate_percent: 100,
          bounce_rate_percent: 5.6,
          health_score: 90.77,
        },
      ],
    },
  },
  detail: {
    at: read,
    answer: {
      status: 'active',
      health_score: 90.77,
      daily_limit: 27,
      connection: 'connected',
      connection_error: null,
    },
  },
  dns: {
    at: read,
    answer: {
      domain: 'brightpath.example',
      checked_at: '2026-03-10T11:45:40.570Z',
      records: { spf: dnsRecord, dkim: dnsRecord, dmarc: dnsRecord },
    },
  },
  blacklist: {
    at: read,
    answer: {
      domain: 'brightpath.example',
      ip: '203.0.113.83',
      checked_at: '2026-03-10T11:45:40.570Z',
      listed: false,
      lists: [],
      found: 0,
      checked: 24,
    },
  },
  action,
  changes: [],
  decisions: [decision],
};

const explanation = {
  ...told,
  mailbox: { account, id, email, mode: 'aggressive', claim, paused: null, former_ids: [], recent_emails: [] },
  decisions: [decision],
  actions: [
    {
      ...action,
      target_mode: null,
      target_limit: null,
      by: null,
      causes: ['The last 2 bounces were hard (invalid_recipient).'],
      text: 'Warmwarden paused the warm-up at 12:32 UTC, confirmed after 0.2 s.',
    },
  ],
  changes: [],
  moment: null,
  more: true,
};

const entry = {
  at: '2026-03-10T12:32:00.124Z',
  kind: 'guard',
  by: 'Warmwarden',
  operation: 'pause',
  command: `pause ${email}`,
  account,
  mailboxes: [email],
  reason: 'emergency',
  result: 'confirmed',
  outcome: 'Warmwarden paused the warm-up at 12:32 UTC, confirmed after 0.2 s.',
  ended_at: '2026-03-10T12:32:00.495Z',
};

const delivery = {
  id: 'msg_WtDobcbShAEDCZGm48rwHfAdVT9',
  channel: 'hook',
  title: `Critical: ${email}: warm-up paused`,
  state: 'sent',
  attempts: 1,
  created_at: '2026-03-10T12:32:30.495Z',
  next_attempt_at: null,
  settled_at: '2026-03-10T12:32:30.495Z',
  detail: null,
};

const pastAlert = {
  ...alert,
  status: 'resolved',
  ended_at: '2026-03-10T15:02:00.248Z',
  is_event: false,
  messages: [delivery],
};

const replica = {
  id: '5f0c2d6e-8b1f-4d7c-9a43-2f1e6b7a9c10',
  name: 'warden-0:1',
  version: '1.0.0',
  started_at: '2026-03-10T06:00:00.000Z',
  silent: false,
  accounts: ['acme'],
  configured_accounts: ['acme', 'beta'],
  notifies: true,
  config_digest: 'k1yZtq0x7dGm3N0nYh2l7lFQy2YxJmJ0e1QmF1jv4hU',
  reload_failure: null,
  this_one: true,
};

/** By path. */
export const answerExamples: Readonly<Record<string, unknown>> = {
  '/api/fleet': fleet,
  '/api/groups': { at, by: 'account', total: 1, groups: [group], next_cursor: null },
  '/api/trend': { at, days: [{ date: '2026-03-10', sent: 412, bounced: 3, acted: 1, held: 0 }] },
  '/api/budget': { at, accounts: [budget], next_cursor: null },
  '/api/configuration': {
    total: 1,
    settings: [{ name: 'guard.min_bounces', value: '3', from: 'line 12' }],
    next_cursor: null,
  },
  '/api/runbooks': { runbooks: [runbook] },
  '/api/mailboxes/{account}/{id}': wholeMailbox,
  '/api/explain': explanation,
  '/api/alerts': {
    ...told,
    incidents: [],
    total: 1,
    alerts: [{ ...alert, silenced }],
    silences: [silence],
    next_cursor: null,
  },
  '/api/past-alerts': { at, alerts: [pastAlert], next_cursor: null },
  '/api/incidents': { ...told, incidents: [incident], next_cursor: null },
  '/api/replicas': { at, troubles: [], replicas: [replica] },
  '/api/silences': { time_zone: told.time_zone, silences: [silence], next_cursor: null },
  '/api/history': { time_zone: told.time_zone, entries: [entry], next_cursor: cursor },
  '/api/deliveries': { deliveries: [delivery], next_cursor: null },
};
