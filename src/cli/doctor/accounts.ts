// The doctor's view of the accounts: whether each API answers, which mailboxes it would guard, and how old the data
// gets. Reads only.
import { type Budget, takeSlot } from '../../api/budget.ts';
import { type Answered, ApiClient } from '../../api/client.ts';
import type { Failure, Result } from '../../api/http/failure.ts';
import { forecastOf, type Gaps, gapsOf, ownLimitsOf } from '../../api/poll/forecast.ts';
import { cutText } from '../../api/stats-days.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { patternsOf, resolvePolicy, routePatterns, selects } from '../../config/mailbox-rules.ts';
import { type Route, routes } from '../../core/answers.ts';
import type { Forecast, ListedMailbox } from '../../core/mailbox.ts';
import { idlePatterns, idleText } from '../../core/mailbox-pattern.ts';
import { noneJudged } from '../../core/not-guarded.ts';
import { daysNeeded } from '../../core/policy.ts';
import { noTally } from '../../core/records.ts';
import { secondMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { mendText, sumText } from '../../core/wording/forecast.ts';
import { counted, firstText, overlapText, roughSpanText, spanText } from '../../core/wording/phrases.ts';
import { cronSchedule } from '../../world/schedule.ts';
import { systemClock, type World, worldOn } from '../../world/world.ts';
import { momentIn } from '../terminal.ts';
import { type Examined, reporter } from './examined.ts';
import type { SeenDaemon } from './network.ts';

const api = reporter('api');
const budget = reporter('budget');
const clock = reporter('clock');

/** Requests per account when a daemon runs: that daemon itself reports the responses that it receives. */
const requestsMade = 2;
/** Mailboxes tried per account when no daemon runs, until one has a warm-up. */
const mailboxesTried = 3;
const namesShown = 10;
/** Tolerated difference, as for the alert clock_off: longer than an answer takes. */
const clocksDifferMs = 60 * secondMs;

interface AskedAccount {
  readonly name: string;
  readonly baseUrl: string;
  /** Answer to GET /v1/health, or why there was none. */
  readonly health: string;
  /** Reason why its mailboxes are not known, or null if they are. */
  readonly failure: string | null;
  readonly listed: readonly ListedMailbox[];
  readonly selected: readonly ListedMailbox[];
  /** Sentences about includes, excludes and overrides that match no mailbox. */
  readonly idleRules: readonly string[];
  /** Failed kinds of requests about a mailbox; `isJudged` if Warmwarden needs the answer to judge. */
  readonly refused: readonly { readonly said: string; readonly isJudged: boolean }[];
  /** Sentence about what the API omits from the statistics, or null if no omission was seen. */
  readonly cut: string | null;
  /** Time by which our clock is ahead of the API's, or null if the API does not report the time or did not answer. */
  readonly clockAheadMs: number | null;
  readonly forecast: Forecast | null;
}

/**
 * Examines accounts with one GET of each kind, or with two GETs an account if a daemon runs, since it reports its own
 * responses. `seen`: the daemon on the same store, which uses the same keys.
 */
export async function examineAccounts(config: Config, seen: SeenDaemon | null): Promise<readonly Examined[]> {
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const gaps = gapsOf(
    Object.fromEntries(routes.map((route) => [route, cronSchedule(config.poll[route])])) as Parameters<
      typeof gapsOf
    >[0],
    world.clock.now(),
  );
  const asking = { config, world, gaps, isBesideDaemon: Boolean(seen?.fleet) };
  const accounts = await Promise.all(config.accounts.map((account) => askAccount(account, asking)));
  const overlaps = overlapsOf(accounts);
  const idle = accounts.every(({ selected }) => selected.length === 0) ? 'problem' : 'warning';
  const isSimulated = seen !== null && Math.abs(seen.clockAheadMs) > clocksDifferMs;
  return [
    ...accounts.flatMap((account, index) => apiOf(account, overlaps[index] ?? [], idle)),
    ...judgingOf(seen),
    ...idleRoutes(config, accounts).map((rule) => api('warning', `Routes: ${rule}.`)),
    ...writingOf(accounts, seen),
    ...accounts.map((account, index) => budgetOf(account, overlaps[index]?.length ?? 0)),
    ...(isSimulated ? [simulatedClock] : accounts.map(clockOf)),
  ];
}

/** Selected mailboxes of each account that an earlier account of the same API guards. */
function overlapsOf(accounts: readonly AskedAccount[]) {
  const guards = new Map<string, string>();
  return accounts.map(({ name, baseUrl, failure, selected }) =>
    (failure === null ? selected : []).flatMap(({ id, email }) => {
      const key = `${baseUrl} ${id} ${email.toLowerCase()}`;
      const guard = guards.get(key);
      if (guard === undefined) guards.set(key, name);
      return guard === undefined ? [] : [{ id, email, account: guard }];
    }),
  );
}

/** Sentences about routes whose mailboxes are in no account; empty if an account's mailboxes are not all known. */
function idleRoutes({ alerts }: Config, accounts: readonly AskedAccount[]): readonly string[] {
  if (accounts.some(({ failure }) => failure !== null)) return [];
  const known = accounts.flatMap(({ selected }) => selected);
  return idlePatterns(routePatterns(alerts), known).map(idleText);
}

interface Asking {
  readonly config: Config;
  readonly world: World;
  readonly gaps: Gaps;
  readonly isBesideDaemon: boolean;
}

/** Asks an account within its own budget. */
async function askAccount(account: AccountConfig, asking: Asking): Promise<AskedAccount> {
  const { config, world, isBesideDaemon } = asking;
  const nothing: AskedAccount = {
    ...{ name: account.name, baseUrl: account.baseUrl, health: 'not asked', failure: null, listed: [], selected: [] },
    ...{ idleRules: [], refused: [], cut: null, clockAheadMs: null, forecast: null },
  };
  const client = new ApiClient({ ...account, account: account.name }, world, noTally);
  const inTurn: InTurn = async (kind, ask) => {
    await takeSlot(client.budget, kind, world.clock);
    return ask();
  };
  try {
    if (isBesideDaemon && (account.requestsPerMinute * client.budget.headroomPpm) / 1e6 < requestsMade) {
      const failure =
        'a daemon runs on this store, and headroom leaves no request for this check; its page shows the account';
      return { ...nothing, failure };
    }
    const answered = await inTurn('health', () => client.health());
    const health = answered.ok ? `health says ${answered.value.answer.status ?? 'nothing'}` : answered.failure.detail;
    const timestamp = answered.ok ? answered.value.answer.timestamp : null;
    const clockAheadMs = answered.ok && timestamp !== null ? answered.value.at - timestamp : null;
    const list = await inTurn('mailboxes', () => client.mailboxes());
    if (!list.ok) return { ...nothing, health, clockAheadMs, failure: reasonOf(list.failure) };
    const { mailboxes: listed, truncated } = list.value.answer;
    const selected = listed.filter((entry) => selects(account, entry));
    const failure = 'the list of mailboxes is incomplete: it says that there are more, or entries cannot be read';
    return {
      ...{ ...nothing, health, clockAheadMs, listed, selected, failure: truncated ? failure : null },
      idleRules: truncated ? [] : idlePatterns(patternsOf(config, account.name), listed).map(idleText),
      ...(isBesideDaemon ? {} : await tryKinds(client, account, selected, inTurn)),
      forecast: forecast(client.budget, selected.length, asking),
    };
  } finally {
    await client.close();
  }
}

type InTurn = <Answer>(kind: Route, ask: () => Answered<Answer>) => Answered<Answer>;

/** Requests each kind of answer once. A mailbox without a warm-up shows nothing, so the next one is tried. */
async function tryKinds(
  client: ApiClient,
  account: AccountConfig,
  selected: readonly ListedMailbox[],
  inTurn: InTurn,
): Promise<Pick<AskedAccount, 'refused' | 'cut'>> {
  const refused: AskedAccount['refused'][number][] = [];
  const failedBy = (results: readonly Result<unknown>[], isJudged: boolean) =>
    refused.push(...results.flatMap((one) => (one.ok ? [] : [{ said: one.failure.detail, isJudged }])));
  for (const [index, entry] of selected.slice(0, mailboxesTried).entries()) {
    const { id } = entry;
    const days = daysNeeded(resolvePolicy(account, entry));
    const judged = [
      await inTurn('warmup', () => client.warmup(id)),
      await inTurn('stats', () => client.stats(id, days)),
    ];
    if (index === 0) {
      const others = [await inTurn('mailbox', () => client.mailbox(id)), await inTurn('dns', () => client.dns(id))];
      failedBy([...others, await inTurn('blacklist', () => client.blacklist(id))], false);
    }
    if (judged.every((one) => !one.ok && one.failure.kind === 'missing')) continue;
    failedBy(judged, true);
    break;
  }
  return { refused, cut: client.statsCut && cutText(client.statsCut) };
}

function forecast(own: Budget, mailboxes: number, { config, gaps }: Asking): Forecast {
  const { spareSharePpm, statsIntervalMinMs } = config.poll;
  return forecastOf({
    mailboxes,
    allowedPerMinute: own.allowedPerMinute,
    headroomPpm: own.headroomPpm,
    sparePerMinute: (own.limitPerMinute * spareSharePpm) / 1e6,
    ownLimits: ownLimitsOf(own),
    gaps,
    earlyMs: statsIntervalMinMs,
  });
}

function reasonOf({ kind, status, detail }: Failure): string {
  if (kind === 'unauthorized') return `the key is rejected (${detail}): check api_key`;
  if (status === 403)
    return `the key cannot read (${detail}): check its read permission, and that the plan has API access`;
  if (status === null) return `${detail}: check base_url, and whether the API is up`;
  return detail;
}

/** Findings about the API of an account. `idle`: the result for an account without a guarded mailbox. */
function apiOf(
  account: AskedAccount,
  overlap: ReturnType<typeof overlapsOf>[number],
  idle: 'problem' | 'warning',
): readonly Examined[] {
  const { name, health, failure, listed, selected, refused } = account;
  const about = (said: string) => `Account ${name}: ${/[.!?]$/.test(said) ? said : `${said}.`}`;
  if (failure !== null && listed.length === 0) return [api('problem', about(`FAILED: ${failure}`))];
  const unjudged = refused.find(({ isJudged }) => isJudged);
  if (unjudged) return [api('problem', about(`NOT GUARDED, ${noneJudged}: ${unjudged.said}`))];
  const counts = `(${health}); ${counted(listed.length, 'mailbox', 'mailboxes')} in the list, ${selected.length} selected`;
  if (failure !== null) return [api('problem', about(`INCOMPLETE: ${failure} ${counts}`))];
  const answers = about(`the API answers ${counts}`);
  const others = listed.filter((entry) => !selected.includes(entry)).map(({ email }) => email);
  // Unselected mailboxes may be selected by another account whose key can also see them.
  const unselected = `this account does not select ${counted(others.length, 'mailbox', 'mailboxes')} that its key can see: ${firstText(others, namesShown)}`;
  const more =
    listed.length === 0
      ? 'its list is empty; check that the key belongs to the right account'
      : 'change mailboxes.include or mailboxes.exclude';
  return [
    selected.length > 0 ? api('ok', answers) : api(idle, `${answers} No mailbox of this account is guarded: ${more}.`),
    ...(others.length > 0 ? [api('ok', about(unselected))] : []),
    ...(overlap.length > 0 ? [api('warning', about(overlapText(overlap)))] : []),
    ...account.idleRules.map((rule) => api('warning', about(rule))),
    ...refused.map(({ said }) => api('warning', about(said))),
    ...(account.cut === null ? [] : [api('warning', about(account.cut))]),
  ];
}

/** Findings of the running daemon about accounts whose API refuses the statistics or the warm-up. */
function judgingOf(seen: SeenDaemon | null): readonly Examined[] {
  return (seen?.fleet.not_guarded ?? []).flatMap(({ account, cause, why }) =>
    cause === 'nothing judged' ? [api('problem', `Account ${account}: NOT GUARDED, ${sentence(why)}`)] : [],
  );
}

/** Findings about the permission to write: how the API answered the last write of the running daemon. */
function writingOf(accounts: readonly AskedAccount[], seen: SeenDaemon | null): readonly Examined[] {
  const answering = accounts.filter(({ failure, listed }) => failure === null || listed.length > 0);
  const known = answering.flatMap(({ name }) => {
    const { writable = null, last_write_at: lastAt = null } =
      seen?.fleet.accounts.find((one) => one.name === name) ?? {};
    if (seen && writable === null && lastAt !== null) {
      const said = `Account ${name}: the API let the last write through on ${momentIn(seen.fleet.time_zone)(lastAt)}.`;
      return [api('ok', `${said} The daemon's next action shows whether the key may still write.`)];
    }
    if (writable === null) return [];
    if (writable) return [api('ok', `Account ${name}: the API let a write of the daemon through.`)];
    const said = `Account ${name} refuses writes, so Warmwarden does not act on breaches there: give its key the permission to write.`;
    return [api('problem', said)];
  });
  if (known.length === answering.length) return known;
  const which = known.length > 0 ? 'any other key' : 'a key';
  const why = 'is not known yet, and cannot be checked without writing: the first action shows it (alert not_guarded)';
  return [...known, api('skipped', `Whether ${which} can write ${why}.`)];
}

function budgetOf({ name, forecast, selected }: AskedAccount, elsewhere: number): Examined {
  if (forecast === null || selected.length === elsewhere)
    return budget('skipped', `Account ${name}: no mailbox is known.`);
  const sweep = `Every mailbox is judged about ${roughSpanText(forecast.firstSweepMs)} after the first start`;
  const sum = `Account ${name}: ${sumText(forecast)}. ${sweep}.`;
  return forecast.fits ? budget('ok', sum) : budget('warning', `${sum} ${mendText(forecast)}`);
}

const simulatedClock = clock(
  'skipped',
  'The daemon on this store runs on a simulated clock, as in the demo, and not on the clock of this machine.',
);

function clockOf({ name, failure, clockAheadMs }: AskedAccount): Examined {
  if (clockAheadMs === null) {
    const why = failure === null ? 'does not report the time' : 'did not answer with the time';
    return clock('skipped', `The API of account ${name} ${why}.`);
  }
  if (Math.abs(clockAheadMs) <= clocksDifferMs)
    return clock('ok', `The clock of this machine agrees with the API of account ${name}.`);
  const span = spanText(Math.abs(clockAheadMs));
  const where = clockAheadMs > 0 ? 'ahead of' : 'behind';
  return clock(
    'warning',
    `The clock of this machine is ${span} ${where} the clock of the API of account ${name}. Synchronize it (\`timedatectl\` shows whether it is synchronized).`,
  );
}
