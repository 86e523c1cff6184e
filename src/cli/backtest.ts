// `warmwarden backtest`: what the guard would have done to the fleet over the API's history.
import { Command } from 'commander';
import { z } from 'zod';
import { takeSlot } from '../api/budget.ts';
import { type Answered, ApiClient } from '../api/client.ts';
import type { AccountConfig } from '../config/config.ts';
import { resolvePolicy, selects } from '../config/mailbox-rules.ts';
import type { GuardActionKind } from '../core/action.ts';
import type { MailboxEntry, Route } from '../core/answers.ts';
import { type Past, type Replay, replayGuard } from '../core/guard/replay.ts';
import { maxPerDay, maxStatsDays } from '../core/policy.ts';
import { noTally } from '../core/records.ts';
import { secondMs } from '../core/time.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { counted, countedOf } from '../core/wording/phrases.ts';
import { reasonWords } from '../core/wording/states.ts';
import { jsonOf } from '../world/schema/json.ts';
import { systemClock, type World, worldOn } from '../world/world.ts';
import { loadConfigured } from './configuration.ts';
import { exitDone, exitFailed } from './errors.ts';
import { type Answers, type ConfigOptions, configOption, jsonOption, wholeNumber } from './options.ts';
import { replayTotals } from './shapes/shapes.ts';
import { tableLines } from './terminal.ts';

/** Mailboxes read at the same time: enough to use up a budget of 500 a minute on a slow API. */
const lanes = 4;
const attempts = 3;
const waitBetweenAttemptsMs = 2 * secondMs;

const assumptions: readonly string[] = [
  "today's mode was the mode on all days, and the warm-up ran on all of them: the API does not give earlier values",
  'a day is judged when it is over, and an action counts from the next day on; the daemon acts within the day',
  `in recovery at most ${maxPerDay.recovery} emails a day are sent, and the same share of them bounces; after a pause none until the end, because only a person resumes; after a restore, what was really sent`,
  'every bounce belongs to an email of the same day',
  'enforce is true, only the guard changes anything, and the circuit breaker, which looks at the whole fleet, holds nothing',
];

export interface BacktestOptions extends ConfigOptions {
  readonly days: number;
}

interface Surroundings {
  readonly world: World;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

export function backtestCommand(): Command {
  return new Command('backtest')
    .description("show what the guard would have done over the API's history, assuming today's modes")
    .addOption(configOption())
    .option('--days <number>', `days of history, 1 to ${maxStatsDays}`, wholeNumber(1, maxStatsDays), maxStatsDays)
    .addOption(jsonOption())
    .action(async (options: BacktestOptions) => {
      if (process.stderr.isTTY) process.stderr.write('Reading the history, within the limit of requests.\n');
      process.exitCode = await backtest(options, {
        world: worldOn(systemClock(), { level: 'silent', format: 'json' }),
        print: (text) => process.stdout.write(text),
        complain: (text) => process.stderr.write(text),
      });
    });
}

type BacktestAnswer = Answers['backtest'];
type Backtested = BacktestAnswer['mailboxes'][number];
type Totals = BacktestAnswer['totals'];

/** Returns the exit code: 0 done, 1 if something could not be read. Throws a CommandError for a wrong file. */
export async function backtest(options: BacktestOptions, surroundings: Surroundings): Promise<number> {
  const { world, print } = surroundings;
  const { json = false, days } = options;
  // The JSON answer contains the failures.
  const complain = json ? () => {} : surroundings.complain;
  const { config } = loadConfigured(options.config, ['accounts', 'guard', 'proxy']);
  const read = await Promise.all(config.accounts.map((account) => backtestAccount(account, { world, days })));
  const failures = read.flatMap(({ failure }) => failure ?? []);
  const mailboxes = read.flatMap((one) => one.mailboxes);
  const totals = sumOf(mailboxes.flatMap(({ replay }) => replay ?? []));
  const outcome = { days, assumptions, failures, mailboxes, totals };
  for (const failure of failures) complain(`${failure}\n`);
  if (json) print(`${JSON.stringify(outcome, null, 2)}\n`);
  else if (mailboxes.length > 0) print(outcomeText(outcome));
  const unread = mailboxes.filter(({ failure }) => failure !== undefined).length;
  if (unread > 0) complain(`Not read: ${countedOf(unread, mailboxes.length, 'mailbox', 'mailboxes')}\n`);
  return failures.length + unread > 0 ? exitFailed : exitDone;
}

interface HistoryReading {
  readonly world: World;
  /** Days of history, 1 to 90. */
  readonly days: number;
}

/** Backtests the mailboxes in the order of the list. Never rejects for an API failure. */
async function backtestAccount(
  account: AccountConfig,
  reading: HistoryReading,
): Promise<{ readonly mailboxes: readonly Backtested[]; readonly failure: string | null }> {
  const api = new ApiClient({ ...account, account: account.name }, reading.world, noTally);
  const said = (failure: string) => `account ${account.name}: ${failure}`;
  try {
    const list = await ask(api, reading.world, 'mailboxes', () => api.mailboxes());
    if (!list.ok) return { mailboxes: [], failure: said(list.failure.detail) };
    const entries = list.value.answer.mailboxes.filter((entry) => selects(account, entry));
    const mailboxes: Backtested[] = [];
    const left = entries.entries();
    const lane = async () => {
      for (const [index, entry] of left)
        mailboxes[index] = replayed(account, entry, await readPast(api, reading, entry.id));
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    if (list.value.answer.truncated)
      return { mailboxes, failure: said('its list of mailboxes has further pages, which are left out') };
    return { mailboxes, failure: entries.length === 0 ? said('no mailbox of its list is selected') : null };
  } finally {
    await api.close();
  }
}

async function readPast(
  api: ApiClient,
  { world, days }: HistoryReading,
  id: string,
): Promise<Past | { failure: string }> {
  const warmup = await ask(api, world, 'warmup', () => api.warmup(id));
  if (!warmup.ok) return { failure: warmup.failure.detail };
  const stats = await ask(api, world, 'stats', () => api.stats(id, days));
  if (!stats.ok) return { failure: stats.failure.detail };
  const { rows } = stats.value.answer;
  if (rows === null) return { failure: 'its statistics are not a list of days' };
  const { mode, config } = warmup.value.answer;
  return { mode, weekdaysOnly: config.weekdaysOnly === true, rows, now: stats.value.at };
}

/** Sends one request in its slot of the budget. Retries a failure that may be temporary. */
async function ask<Answer>(api: ApiClient, world: World, kind: Route, send: () => Answered<Answer>): Answered<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    await takeSlot(api.budget, kind, world.clock);
    const result = await send();
    if (result.ok || attempt === attempts) return result;
    const { kind: failure } = result.failure;
    if (failure !== 'throttled' && failure !== 'unavailable') return result;
    if (failure === 'unavailable') await world.clock.sleep(waitBetweenAttemptsMs);
  }
}

function replayed(account: AccountConfig, entry: MailboxEntry, past: Awaited<ReturnType<typeof readPast>>): Backtested {
  const name = { account: account.name, id: entry.id, email: entry.email };
  if ('failure' in past) return { ...name, failure: past.failure, replay: null };
  return { ...name, mode: past.mode, replay: replayJson(replayGuard(resolvePolicy(account, entry), past)) };
}

function replayJson({ actions, ...replay }: Replay) {
  return {
    ...jsonOf(z.strictObject(replayTotals), replay),
    from: replay.from,
    to: replay.to,
    actions: actions.map(({ date, kind, verdict }) => {
      const { reason, sent, bounced } = verdict;
      return { date, action: kind, reason, sent, bounced, explanation: explainVerdict(verdict) };
    }),
  };
}

function sumOf(counts: readonly Totals[]): Totals {
  const names = Object.keys(replayTotals) as (keyof typeof replayTotals)[];
  const sum = (name: keyof typeof replayTotals) => counts.reduce((all, one) => all + one[name], 0);
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as Totals;
}

const actionWords: Readonly<Record<GuardActionKind, string>> = {
  recovery: 'switch to recovery',
  pause: 'pause',
  restore: 'restore',
};

/** Table, then the story of every mailbox on which the guard would have acted, then the assumptions. */
function outcomeText({ days, mailboxes, totals }: BacktestAnswer): string {
  const numbers = ['INTERVENTIONS', 'RECOVERY', 'PAUSED', 'HELD', 'BOUNCES AVOIDED', 'SENDS LOST'];
  const titles = ['MAILBOX', 'MODE', ...numbers];
  const countsOf = (counts: Totals) => [
    String(counts.interventions),
    `${counts.days_in_recovery} d`,
    `${counts.days_paused} d`,
    `${counts.days_held} d`,
    `${counts.bounces_avoided} of ${counts.bounced}`,
    `${counts.sends_lost} of ${counts.sent}`,
  ];
  const rows = mailboxes.map((mailbox) =>
    mailbox.replay
      ? [nameOf(mailbox), mailbox.mode ?? 'unknown', ...countsOf(mailbox.replay)]
      : [nameOf(mailbox), 'not read'],
  );
  return `${[
    `What the guard would have done in the last ${counted(days, 'day')}: ${counted(mailboxes.length, 'mailbox', 'mailboxes')}.`,
    tableLines({ titles, rows: [...rows, ['total', '', ...countsOf(totals)]], numbers }).join('\n'),
    ...mailboxes.flatMap(storyOf),
    `Assumed:\n${assumptions.map((assumption) => `- ${assumption}`).join('\n')}`,
  ].join('\n\n')}\n`;
}

function nameOf({ account, email }: Backtested): string {
  return `${account}/${email}`;
}

/** Actions that the guard would have taken on a mailbox, and why; empty if there are none. */
function storyOf(mailbox: Backtested): readonly string[] {
  const lines = mailbox.replay?.actions.map(
    ({ date, action, reason, explanation }) =>
      `  ${date} ${actionWords[action as GuardActionKind]} (${reasonWords(reason)}). ${explanation}`,
  ) ?? [`  not read: ${mailbox.failure}`];
  return lines.length === 0 ? [] : [[nameOf(mailbox), ...lines].join('\n')];
}
