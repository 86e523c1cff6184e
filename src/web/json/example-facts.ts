// Facts of the examples: a fleet with one mailbox that Warmwarden paused. A test holds each example against its schema.

export const account = 'agency';

export const id = '908a799e-10d0-4eb2-aef3-38c95f830516';

export const email = 'jonas.keller@brightpath.example';

export const at = '2026-03-10T17:30:02.000Z';

export const told = { at, time_zone: 'UTC' };

export const cursor = 'Wy0xNzczMTQ1OTIwMTI0LDEsIjBtbWtsYXM4cy1pMDAwMDAiXQ';

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

export const action = {
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

export const claim = { kind: 'pause', since: '2026-03-10T12:32:00.495Z' };

export const mailbox = {
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

export const decision = {
  since: '2026-03-10T12:40:00.372Z',
  until: '2026-03-10T17:30:00.619Z',
  count: 40,
  first_sent: 116,
  ...pausedVerdict,
  first_days: days,
  days,
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
