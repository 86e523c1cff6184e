// Views that a recipe may ask: stable, and all that it sees of the store. docs/recipe-views.md is made of this.
import { guardStates } from '../core/mailbox.ts';
import { onePercentPpm } from '../core/policy.ts';

interface ViewColumn {
  readonly name: string;
  readonly about: string;
  readonly sql: string;
}

export interface RecipeView {
  readonly name: string;
  readonly about: string;
  readonly columns: readonly ViewColumn[];
  /** `@` before a table is the schema that the store is attached as. */
  readonly from: string;
}

const column = (name: string, about: string, sql: string): ViewColumn => ({ name, about, sql });

const iso = (ms: string) =>
  `strftime('%Y-%m-%dT%H:%M:%S', (${ms}) / 1000, 'unixepoch') || printf('.%03dZ', (${ms}) % 1000)`;
const time = (name: string, about: string, ms: string): ViewColumn => column(name, about, iso(ms));
const percentOfPpm = (ppm: string) => `(${ppm}) * 1.0 / ${onePercentPpm}`;
const ratePercent = (sent: string, bounced: string) =>
  `CASE WHEN (${sent}) > 0 THEN (${bounced}) * 100.0 / (${sent}) END`;
/** NULL where there is no answer, which differs from an answer that says neither. */
const threeWay = (answer: string, path: string, words: readonly [yes: string, no: string]) =>
  `CASE WHEN ${answer} IS NULL THEN NULL ELSE CASE ${answer} ->> (${path})
   WHEN 1 THEN '${words[0]}' WHEN 0 THEN '${words[1]}' ELSE 'unclear' END END`;
const newest = (path: string, ...of: readonly string[]) =>
  `newest_known(${of.map((one) => `${one}.observed_at, ${one}.answer ->> '${path}'`).join(', ')})`;
const answers = (alias: string, route: string, join = 'LEFT JOIN') =>
  `${join} @observations ${alias} ON ${alias}.account = m.account AND ${alias}.mailbox_id = m.mailbox_id AND ${alias}.route = '${route}'`;

const whoIn = (of: string, email: string): readonly ViewColumn[] => [
  column('account', 'the account that holds the mailbox', `${of}.account`),
  column('mailbox_id', "the API's id of the mailbox", `${of}.mailbox_id`),
  column('email', 'its address', email),
];
const who = whoIn('m', 'm.email');
const domain = column('domain', 'the part of the address after the @, in lowercase', 'domain_of(m.email)');

const verdictColumns = (of: string): readonly ViewColumn[] => [
  column('sent', "emails sent in the guard's window", `${of} ->> '$.sent'`),
  column('bounced', 'bounces among them', `${of} ->> '$.bounced'`),
  column('rate_percent', 'bounced / sent', ratePercent(`${of} ->> '$.sent'`, `${of} ->> '$.bounced'`)),
  column('limit_percent', "the mode's bounce limit; NULL in an unknown mode", percentOfPpm(`${of} ->> '$.limitPpm'`)),
  column('window_from', 'the first day of the window', `${of} ->> '$.windowFrom'`),
  column('window_to', 'the last day of the window', `${of} ->> '$.windowTo'`),
  column('bounces_until_breach', 'further bounces until a breach; 0 in a breach', `${of} ->> '$.bouncesUntilBreach'`),
];

/** Time of the newest reading. `stats_read_at` (sandbox.ts) knows readings of unchanged counts, which the store does not write. */
const statsAt = 'coalesce(stats_read_at(m.account, m.mailbox_id), s.observed_at)';

const mailboxes: RecipeView = {
  name: 'mailboxes',
  about: 'One row per guarded mailbox, with what Warmwarden knows now.',
  columns: [
    ...who,
    domain,
    column('provider', "the API's name for its provider", "e.answer ->> '$.provider'"),
    column('status', "the status of the mailbox, in the API's words", newest('$.status', 'e', 'd')),
    column(
      'state',
      `${guardStates.slice(0, -1).join(', ')} or ${guardStates.at(-1)}`,
      'guard_state(m.account, m.mailbox_id, v.verdict, v.until, m.memory, e.answer, d.answer, s.observed_at)',
    ),
    column('mode', 'the warm-up mode', "w.answer ->> '$.mode'"),
    column('warmup_status', "the status of the warm-up, in the API's words", "w.answer ->> '$.status'"),
    column('run', 'running, paused, not_running or unknown', "v.verdict ->> '$.run'"),
    column('health_score', '0 to 100', newest('$.healthScore', 'e', 'w', 'd')),
    column('daily_limit', 'emails a day', newest('$.dailyLimit', 'e', 'w', 'd')),
    column('warmup_day', 'the day of the warm-up, from 1', newest('$.warmupDay', 'e', 'w')),
    column('action', 'what the guard decided: none, hold, recovery, pause or restore', 'v.action'),
    column('reason', 'why, in one word', 'v.reason'),
    column('explanation', 'why, in sentences with the numbers', 'explain_verdict(v.verdict)'),
    ...verdictColumns('v.verdict'),
    time('judged_at', 'when the newest answer was judged, up to 75 minutes behind the page', 'v.until'),
    column('claim', 'recovery or pause, while a change of Warmwarden is in force', "m.memory ->> '$.claim.kind'"),
    time('claim_since', 'since when it is in force', "m.memory ->> '$.claim.since'"),
    column('mode_before', 'the mode before that change', "m.memory ->> '$.claim.previousMode'"),
    column('connection', 'connected, error or unclear', "d.answer ->> '$.connection'"),
    column('connection_error', "the API's words for it", "d.answer ->> '$.connectionError'"),
    column('missing_lists', 'how many mailbox lists in a row lacked it', 'm.missing_lists'),
    time('first_seen_at', 'when it was first listed', 'm.first_seen_at'),
    time('listed_at', 'when it was listed last', 'e.observed_at'),
    time('stats_at', 'when its counts were read', statsAt),
    column('stats_age_minutes', 'minutes since then', `(now_ms() - ${statsAt}) / 60000.0`),
    time('warmup_at', 'when its warm-up was read', 'w.observed_at'),
    time('detail_at', 'when its connection was read', 'd.observed_at'),
    time('dns_at', 'when its DNS was read', 'n.observed_at'),
    time('blacklist_at', 'when its listings were read', 'b.observed_at'),
  ],
  from: `FROM @mailboxes m
    ${answers('e', 'mailboxes', 'JOIN')}
    ${answers('w', 'warmup')}
    ${answers('s', 'stats')}
    ${answers('d', 'mailbox')}
    ${answers('n', 'dns')}
    ${answers('b', 'blacklist')}
    LEFT JOIN @decisions v ON v.id =
      (SELECT max(id) FROM @decisions WHERE account = m.account AND mailbox_id = m.mailbox_id)
    WHERE m.left_at IS NULL`,
};

const mailboxTags: RecipeView = {
  name: 'mailbox_tags',
  about: 'One row per guarded mailbox and tag, by the configuration.',
  columns: [
    ...who,
    column('tag', 'its name: vip, or client of client=north', 't.value ->> 0'),
    column('value', 'its value: north; true for a word', 't.value ->> 1'),
  ],
  from: 'FROM @mailboxes m JOIN json_each(tags_of(m.account, m.mailbox_id)) t WHERE m.left_at IS NULL',
};

const count = (name: string, about: string, path: string) => column(name, about, `r.value ->> '$.${path}'`);
const dailyStats: RecipeView = {
  name: 'daily_stats',
  about: 'One row per mailbox and day, from the newest stats answer (30 days, or as long as the longest window).',
  columns: [
    ...who,
    domain,
    column('provider', "the API's name for its provider", "e.answer ->> '$.provider'"),
    count('date', "the day, in the API's time zone", 'date'),
    count('sent', 'emails sent', 'sent'),
    count('bounced', 'bounces', 'bounced'),
    count('delivered', 'emails delivered', 'delivered'),
    count('opened', 'emails opened', 'opened'),
    count('replied', 'emails replied to', 'replied'),
    count('spam_landed', 'emails that landed in spam', 'spamLanded'),
    count('inbox_rate_percent', 'share that landed in the inbox, 0 to 100', 'inboxRatePercent'),
    count('bounce_rate_percent', "the API's own bounce rate; the guard uses the counts", 'bounceRatePercent'),
  ],
  // The fuller of two rows of one day counts (more sent, then more bounced), as for the guard and the metrics.
  from: `FROM @mailboxes m
    ${answers('e', 'mailboxes', 'JOIN')}
    ${answers('s', 'stats', 'JOIN')}
    JOIN json_each(day_rows(s.answer)) r
    WHERE m.left_at IS NULL`,
};

const dnsChecks: RecipeView = {
  name: 'dns_checks',
  about: 'Three rows per mailbox: SPF, DKIM and DMARC of its domain, as last read.',
  columns: [
    ...who,
    domain,
    column('record', 'spf, dkim or dmarc', 'k.value'),
    column(
      'result',
      'pass, fail, or unclear',
      threeWay('n.answer', "'$.records.' || k.value || '.pass'", ['pass', 'fail']),
    ),
    column('status', "the API's word for it", "n.answer ->> ('$.records.' || k.value || '.status')"),
    column('value', 'the record as published', "n.answer ->> ('$.records.' || k.value || '.record')"),
    column('checked_at', 'when the API checked it, in its words', "n.answer ->> '$.checkedAt'"),
    time('observed_at', 'when Warmwarden read it', 'n.observed_at'),
  ],
  from: `FROM @mailboxes m
    ${answers('n', 'dns', 'JOIN')}
    JOIN json_each('["spf","dkim","dmarc"]') k
    WHERE m.left_at IS NULL`,
};

const blacklistChecks: RecipeView = {
  name: 'blacklist_checks',
  about: 'One row per mailbox: whether its sending address is on a blacklist, as last read.',
  columns: [
    ...who,
    domain,
    column('ip', 'the sending address', "b.answer ->> '$.ip'"),
    column('listed', 'yes, no, or unclear', threeWay('b.answer', "'$.listed'", ['yes', 'no'])),
    column(
      'lists',
      'the names of the lists, separated by commas',
      "(SELECT group_concat(value, ', ') FROM json_each(b.answer, '$.lists'))",
    ),
    column('found', 'how many lists it is on', "b.answer ->> '$.found'"),
    column('checked', 'how many lists the API checked', "b.answer ->> '$.checked'"),
    column('checked_at', 'when the API checked it, in its words', "b.answer ->> '$.checkedAt'"),
    time('observed_at', 'when Warmwarden read it', 'b.observed_at'),
  ],
  from: `FROM @mailboxes m
    ${answers('b', 'blacklist', 'JOIN')}
    WHERE m.left_at IS NULL`,
};

const decisions: RecipeView = {
  name: 'decisions',
  about:
    'What the guard decided, also on removed mailboxes. Consecutive equal decisions are one row, for a day at most, with the newest numbers. The newest row of a mailbox may be up to 75 minutes behind the page.',
  columns: [
    column('id', 'increases with time', 'v.id'),
    ...whoIn('v', 'm.email'),
    time('since', 'when the verdict was first given', 'v.since'),
    time('until', 'when it was last given', 'v.until'),
    column('answers', 'how many answers had this verdict', 'v.judged'),
    column('action', 'none, hold, recovery, pause or restore', 'v.action'),
    column('reason', 'why, in one word', 'v.reason'),
    column('mode', 'the warm-up mode', "v.verdict ->> '$.mode'"),
    ...verdictColumns('v.verdict'),
    column('data_age_seconds', 'how old the counts were', "(v.verdict ->> '$.dataAgeMs') / 1000.0"),
    column('explanation', 'why, in sentences with the numbers', 'explain_verdict(v.verdict)'),
  ],
  from: 'FROM @decisions v LEFT JOIN @mailboxes m ON m.account = v.account AND m.mailbox_id = v.mailbox_id',
};

const actions: RecipeView = {
  name: 'actions',
  about: 'What Warmwarden changed or tried to change, also on removed mailboxes.',
  columns: [
    column('id', 'unique; sorts by time', 'a.id'),
    ...whoIn('a', "a.action ->> '$.email'"),
    column('kind', 'recovery, pause, restore, resume, mode, limit or set', "a.action ->> '$.kind'"),
    column('state', 'planned, open, confirmed, refused, unconfirmed or dropped', 'a.state'),
    column('asked_by', 'the person who requested it; NULL where Warmwarden decided it', "a.action ->> '$.by.name'"),
    column('target_mode', 'the mode that it sets; NULL where it sets none', "a.action ->> '$.targetMode'"),
    column('target_limit', 'the target daily limit that it sets, if any', "a.action ->> '$.targetLimit'"),
    column('reason', 'why, in one word', "a.action ->> '$.verdict.reason'"),
    ...verdictColumns("(a.action -> '$.verdict')").filter(({ name }) => name !== 'bounces_until_breach'),
    column('mode_before', 'the mode before it', "a.action ->> '$.before.mode'"),
    column('attempts', 'requests sent for it', "a.action ->> '$.attempts'"),
    time('planned_at', 'when it was planned', 'a.planned_at'),
    time('opened_at', 'when Warmwarden began to send the first request', "a.action ->> '$.openedAt'"),
    time('settled_at', 'when its outcome was known', "a.action ->> '$.settledAt'"),
    time('next_try_at', 'when Warmwarden tries again', "a.action ->> '$.nextTryAt'"),
    column('detail', 'what came back, in a sentence', "a.action ->> '$.detail'"),
  ],
  from: 'FROM @actions a',
};

/** The 50 newest rows of a mailbox, as JSON. A pause before them is not explained. */
const newestOf = (table: string, json: string, order: string) =>
  `(SELECT json_group_array(json(${json})) FROM (SELECT ${json} FROM @${table} t
    WHERE t.account = m.account AND t.mailbox_id = m.mailbox_id ORDER BY ${order} DESC LIMIT 50))`;

const pauses: RecipeView = {
  name: 'pauses',
  about: 'One row per guarded mailbox whose warm-up is paused.',
  columns: [
    ...who,
    column(
      'explanation',
      'who paused it, when and why, in sentences: Warmwarden, a person through Warmwarden, or somebody else',
      `paused_text(m.memory -> '$.claim', ${newestOf('actions', 'action', 'planned_at')}, ${newestOf('changes', 'change', 'id')})`,
    ),
  ],
  from: `FROM @mailboxes m JOIN @decisions v ON v.id =
      (SELECT max(id) FROM @decisions WHERE account = m.account AND mailbox_id = m.mailbox_id)
    WHERE m.left_at IS NULL AND v.reason = 'already_paused'`,
};

const deliveries: RecipeView = {
  name: 'deliveries',
  about: 'Messages to channels, without their text.',
  columns: [
    column('id', 'the same on every try', 'd.id'),
    column('channel', 'the name of the channel', 'd.channel'),
    column('title', 'one line of it', "d.delivery ->> '$.title'"),
    column('state', 'pending, sent or undelivered', 'd.state'),
    column('attempts', 'how often it was tried', "d.delivery ->> '$.attempts'"),
    time('created_at', 'when it was created', 'd.created_at'),
    time(
      'next_attempt_at',
      'when it is tried next',
      "CASE d.state WHEN 'pending' THEN d.delivery ->> '$.nextAttemptAt' END",
    ),
    time('settled_at', 'when it was sent or became undelivered', 'd.settled_at'),
    column('detail', 'what the last try said', "d.delivery ->> '$.detail'"),
  ],
  from: 'FROM @deliveries d',
};

export const views: readonly RecipeView[] = [
  mailboxes,
  mailboxTags,
  dailyStats,
  dnsChecks,
  blacklistChecks,
  decisions,
  actions,
  pauses,
  deliveries,
];

/** Columns of store/schema/tables.ts that the views read. A SELECT is checked over empty tables with just these. */
export const baseTables: Readonly<Record<string, readonly string[]>> = {
  mailboxes: ['account', 'mailbox_id', 'email', 'first_seen_at', 'missing_lists', 'left_at', 'memory'],
  observations: ['account', 'mailbox_id', 'route', 'observed_at', 'answer'],
  decisions: ['id', 'account', 'mailbox_id', 'since', 'until', 'judged', 'action', 'reason', 'verdict'],
  actions: ['id', 'account', 'mailbox_id', 'state', 'planned_at', 'action'],
  changes: ['id', 'account', 'mailbox_id', 'change'],
  deliveries: ['id', 'channel', 'state', 'created_at', 'settled_at', 'delivery'],
};
