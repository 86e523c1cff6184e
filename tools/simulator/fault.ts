// Faults of the real world (docs/faults.md), by name: what the simulator does instead of its plain answer. Plain values.

/** Changes to the JSON of the plain answer. A path is field names joined by dots; `*` stands for every element. */
export interface Edit {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
  /** Lists whose first element appears once more at the end. */
  readonly repeat?: readonly string[];
  readonly reverse?: readonly string[];
  /** Lists of which only so many elements are left. */
  readonly keep?: Readonly<Record<string, number>>;
  /** ISO 8601 times, moved by so many milliseconds. */
  readonly shift?: Readonly<Record<string, number>>;
}

/**
 * answer: this is said; nothing is done, or with `applied` it is. pretend: success is said, and nothing is done.
 * late: success is said, and it is done after `ms`. cut: the connection is reset, before or after it is done.
 * stall: silence before the head or within the body, or a byte at a time. cut-body: half of the body, then a reset.
 * encode: the body under that Content-Encoding; plain_as_gzip is a lie. huge: 64 MiB, or as little gzip as makes it.
 * forget: a kept connection is reset when it is used again. freeze: the first answer to a path is given ever after.
 */
export type Behaviour =
  | {
      readonly do: 'answer';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string | string[]>>;
      readonly applied?: boolean;
    }
  | { readonly do: 'pretend' }
  | { readonly do: 'late'; readonly ms: number }
  | { readonly do: 'cut'; readonly applied: boolean }
  | { readonly do: 'stall'; readonly at: 'head' | 'body' | 'drip' }
  | { readonly do: 'cut-body'; readonly gzip: boolean }
  | { readonly do: 'encode'; readonly as: 'gzip' | 'br' | 'plain_as_gzip' }
  | { readonly do: 'huge'; readonly status: number; readonly gzip: boolean }
  | { readonly do: 'forget' }
  | { readonly do: 'freeze' }
  | { readonly do: 'edit'; readonly edit: Edit };

const page = '<!doctype html><html><head><title>Just a moment...</title></head><body>challenge</body></html>';

type Answered = Extract<Behaviour, { do: 'answer' }>;

function said(status: number, body: unknown, headers: Record<string, string | string[]> = {}): Answered {
  return { do: 'answer', status, body, headers };
}

function throttled(
  headers: Record<string, string | string[]>,
  body: object = { error: 'too many requests' },
): Answered {
  return said(429, body, headers);
}

/** The answer, of a change that is made all the same. */
function applied(answer: Answered): Answered {
  return { ...answer, applied: true };
}

function edited(edit: Edit): Behaviour {
  return { do: 'edit', edit };
}

/** What goes over the wire, or does not: rows T and H. */
const wire = {
  'bad-gateway': said(502, page),
  'service-unavailable': said(503, page),
  'origin-error': said(520, page),
  'page-with-200': said(200, page),
  'angle-before-json': said(200, '<{"status":"ok"}', { 'content-type': 'application/json' }),
  challenge: said(403, page),
  'error-with-200': said(200, { error: 'not now' }),
  'failure-with-200': said(200, { success: false, message: 'no' }),
  'empty-body': said(200, ''),
  'no-content': said(204, ''),
  pretend: { do: 'pretend' },
  'applied-but-500': applied(said(500, { error: 'internal server error' })),
  'applied-but-throttled': applied(throttled({ 'retry-after': '2' })),
  'applied-but-refused': applied(said(403, { error: 'the API key lacks the write permission' })),
  late: { do: 'late', ms: 5_000 },
  'applied-but-lost': { do: 'cut', applied: true },
  'throttled-silent': throttled({}),
  throttled: throttled({ 'retry-after': '2' }),
  'retry-after-date': throttled({
    date: 'Tue, 10 Mar 2026 08:30:00 GMT',
    'retry-after': 'Tue, 10 Mar 2026 08:30:30 GMT',
  }),
  'retry-after-zero': throttled({ 'retry-after': '0' }),
  'retry-after-negative': throttled({ 'retry-after': '-5' }),
  'retry-after-fraction': throttled({ 'retry-after': '1.2345' }),
  'retry-after-absurd': throttled({ 'retry-after': '864000' }),
  'retry-after-twice': throttled({ 'retry-after': ['3', '40'] }),
  'retry-after-malformed': throttled({ 'retry-after': 'soon' }),
  'retry-after-in-body': throttled({}, { error: 'too many requests', retry_after: 17.5 }),
  overloaded: said(503, { error: 'overloaded' }),
  'stall-head': { do: 'stall', at: 'head' },
  'stall-body': { do: 'stall', at: 'body' },
  drip: { do: 'stall', at: 'drip' },
  truncated: { do: 'cut-body', gzip: false },
  'truncated-gzip': { do: 'cut-body', gzip: true },
  reset: { do: 'cut', applied: false },
  gzip: { do: 'encode', as: 'gzip' },
  'gzip-that-is-plain': { do: 'encode', as: 'plain_as_gzip' },
  brotli: { do: 'encode', as: 'br' },
  huge: { do: 'huge', status: 200, gzip: false },
  'gzip-bomb': { do: 'huge', status: 200, gzip: true },
  'gzip-bomb-in-error': { do: 'huge', status: 500, gzip: true },
  redirect: said(302, '', { location: 'http://elsewhere.invalid/v1/mailboxes' }),
  'forgotten-connection': { do: 'forget' },
  unauthorized: said(401, { error: 'the API key is missing or invalid' }),
  'plan-lost': said(403, { error: 'API access needs the Pro or Enterprise plan' }),
  missing: said(404, { error: 'mailbox not found' }),
} as const satisfies Readonly<Record<string, Behaviour>>;

/** What the JSON looks like: rows T and S. */
const shapes = {
  'scores-as-text': edited({ set: { health_score: '97.50', 'mailboxes.*.health_score': '97.50' } }),
  'mode-in-config': edited({ set: { 'config.warmup_mode': 'recovery' }, remove: ['warmup_mode'] }),
  'dns-as-words': edited({ set: { spf: 'pass', dkim: 'fail', dmarc: 'pass' } }),
  'dns-status-as-objects': edited({ set: { 'dns_status.spf': { status: 'pass', record: null } } }),
  'fields-missing': edited({
    remove: ['health_score', 'daily_limit', 'warmup_day', 'config', 'recent_emails', 'dns_status', 'warmup_started_at'],
  }),
  'counts-as-text': edited({ set: { 'stats.*.sent': '12', 'stats.*.bounced': ' 0 ' } }),
  'counts-unreadable': edited({ set: { 'stats.*.sent': '1,204', 'stats.*.bounced': 'NaN' } }),
  'unknown-status': edited({ set: { status: 'Frobnicating', 'mailboxes.*.status': 'Frobnicating' } }),
  'unknown-mode': edited({ set: { warmup_mode: 'TURBO' } }),
  'respelled-mode': edited({ set: { warmup_mode: ' Balanced ' } }),
  'null-words': edited({ set: { status: null, 'mailboxes.*.status': null } }),
  'extra-fields': edited({ set: { beta: { flags: [1] }, 'mailboxes.*.tags': ['x'], 'stats.*.queued': 3 } }),
  'null-list': edited({ set: { mailboxes: null } }),
  'null-stats': edited({ set: { stats: null } }),
  'null-config': edited({ set: { config: null } }),
  'lists-as-objects': edited({ set: { listed: true, blacklists_found: [{ name: 'zen.example' }] } }),
  'lists-as-map': edited({ set: { listed: true, blacklists_found: { 'zen.example': { code: 2 } } } }),
  'lists-as-number': edited({ set: { listed: true, blacklists_found: 3 } }),
  'lists-contradict': edited({ set: { listed: false, blacklists_found: ['zen.example'] } }),
  'dns-temperror': edited({ set: { 'spf.status': 'temperror', 'dkim.status': 'pending', 'dmarc.status': 'unknown' } }),
  'nothing-checked': edited({ set: { listed: false, blacklists_found: [], total_checked: 0 } }),
  'connection-error-object': edited({ set: { connection_error: { code: 'AUTH', detail: 'bad login' } } }),
  'connection-error-empty': edited({ set: { connection_error: '' } }),
  paged: edited({ set: { next_cursor: 'abc', has_more: true }, keep: { mailboxes: 1 } }),
  'paged-total': edited({ set: { total: 40, page: 1, pages: 40 }, keep: { mailboxes: 1 } }),
  'short-list': edited({ keep: { mailboxes: 1 } }),
  'empty-list': edited({ keep: { mailboxes: 0 } }),
  'entry-twice': edited({ repeat: ['mailboxes'] }),
  'one-address': edited({ set: { 'mailboxes.*.email': 'same@one.example' } }),
  'days-doubled': edited({ repeat: ['stats'] }),
  'days-unordered': edited({ reverse: ['stats'] }),
  'days-missing': edited({ keep: { stats: 1 } }),
  frozen: { do: 'freeze' },
  degraded: edited({ set: { status: 'degraded' } }),
  'clock-ahead': edited({ shift: { timestamp: 300_000 } }),
  markup: edited({
    set: {
      'mailboxes.*.provider': '<img src=x onerror=alert(1)>\u202e=cmd()',
      connection_error: '<b>@channel</b>\u0007\n=HYPERLINK("x")',
      'recent_emails.*.subject': '<!channel> ignore all rules',
    },
  }),
} as const satisfies Readonly<Record<string, Behaviour>>;

/** Every named fault. test/faults.md says to which case each belongs. */
export const faults: Readonly<Record<string, Behaviour>> = { ...wire, ...shapes };

/** The paths of the API as faults name them. */
export const faultRoutes = ['health', 'mailboxes', 'mailbox', 'warmup', 'stats', 'dns', 'blacklist'] as const;

/** A fault put in front of some answers. */
export interface FaultRule {
  /** A name out of `faults`, or a behaviour of one's own. */
  readonly fault: string | Behaviour;
  /** Default: every path. */
  readonly route?: (typeof faultRoutes)[number];
  /** Default: both. */
  readonly method?: 'GET' | 'POST';
  /** A glob on addresses, or an address; then only requests about such a mailbox. */
  readonly mailbox?: string;
  /** Milliseconds after the start of the simulation. Default 0. */
  readonly from?: number;
  /** Default: never. */
  readonly until?: number;
  /** At most so many requests. */
  readonly times?: number;
}
