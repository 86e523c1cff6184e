// Examples of what GET /api/groups, /api/budget and /api/runbooks answer.

const at = '2026-03-10T17:30:02.000Z';
const read = '2026-03-10T12:29:00.248Z';
const name = 'agency';

export const budget = {
  name,
  requests_per_minute: 90,
  forecast: {
    mailboxes: 2_000,
    fits: false,
    allowed_per_minute: 90,
    needed_per_minute: 275,
    used_per_minute: 90,
    first_sweep_seconds: 2_700,
    remedy: { requests_per_minute: 306, stats_seconds: 2_760, warmup_seconds: 2_760 },
    text: '2,000 mailboxes at 90 requests a minute: the cadence needs 275 a minute; stats will be up to 46 min old. A key with 306 requests a minute would be enough (plan enterprise: 500). Or choose a cadence with stats every 46 min and warm-up every 46 min.',
  },
  queue_length: 6,
  oldest_due_at: '2026-03-10T17:29:00.000Z',
  throttled_last_hour: 0,
  last_success_at: '2026-03-10T17:29:00.000Z',
  first_sweep: null,
  data: Object.fromEntries(
    ['stats', 'warmup', 'detail', 'dns', 'blacklist'].map((kind) => [
      kind,
      { newest_at: at, oldest_at: read, never_read: 0, max_age_seconds: 2_760 },
    ]),
  ),
};

/** Mailboxes by state. */
export const states = {
  ok: 10,
  near_limit: 0,
  over_limit: 0,
  held: 0,
  recovering: 0,
  paused_by_guard: 1,
  paused_by_others: 0,
  not_running: 0,
  no_warmup: 0,
  not_judged: 0,
};

export const group = {
  name,
  mailboxes: 11,
  states,
  alerts_firing: 1,
  sent: 1_204,
  bounced: 3,
  rate_percent: 0.249_169_435_215_946_8,
};

export const runbook = {
  rule: 'key_read_only',
  means: 'The API refused a change because the key lacks permission. Reading works.',
  done: 'Warmwarden notifies you of breaches on the account, but does NOT ACT on them. It tries to write again every hour.',
  todo: 'Give the key write permission, or configure another key and reload the configuration.',
};
