// `warmwarden backtest`: what this guard, or another one, would have done to the fleet over the API's history.

import { Command } from 'commander';
import type { AccountConfig, Config } from '../config/config.ts';
import { resolvePolicy } from '../config/mailbox-rules.ts';
import type { GuardActionKind } from '../core/action.ts';
import { replayGuard } from '../core/guard/replay.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { counted, countedOf } from '../core/wording/phrases.ts';
import { reasonWords } from '../core/wording/states.ts';
import { systemClock, type World, worldOn } from '../world/world.ts';
import { type MailboxHistory, readAccount } from './backtest/fleet-history.ts';
import {
  assumptions,
  type BacktestedMailbox,
  type Outcome,
  outcomeJson,
  type Totals,
  totalsOf,
} from './backtest/outcome.ts';
import { configOption, jsonOption } from './options.ts';
import { loadConfigured } from './sources/configured.ts';
import { guardOf } from './sources/guard-of.ts';
import { exitDone, exitFailed } from './terminal/command-error.ts';
import { screenColumns } from './terminal/outputs.ts';
import { type Column, tableText } from './terminal/table.ts';
import { wholeNumber } from './terminal/wrapped.ts';

// A backtest as a table for the terminal, with the story of every mailbox that was stepped in for.

const actionWords: Readonly<Record<GuardActionKind, string>> = {
  recovery: 'switch to recovery',
  pause: 'pause',
  restore: 'restore',
};

type Line = readonly string[];

/** A column of names on a screen that is too narrow keeps so many letters. */
const leastLetters = 16;
const numbers = (title: string): Column => ({ title, numbers: true });

/** Plain text that ends with a line break; the table is no wider than the screen. */
function outcomeText(outcome: Outcome, width: number): string {
  const several = outcome.guards.length > 1;
  const columns: readonly Column[] = [
    { title: 'MAILBOX', least: leastLetters },
    { title: 'MODE' },
    ...(several ? [{ title: 'GUARD', least: leastLetters }] : []),
    ...['INTERVENTIONS', 'RECOVERY', 'PAUSED', 'HELD', 'BOUNCES AVOIDED', 'SENDS LOST'].map(numbers),
  ];
  const lines = [
    ...outcome.mailboxes.flatMap((mailbox) => mailboxLines(outcome, mailbox)),
    ...outcome.guards.map((_, index) => ['total', '', ...countsLine(outcome, index, totalsOf(outcome, index))]),
  ];
  const stories = outcome.mailboxes.flatMap((mailbox) => storyOf(outcome, mailbox));
  return [
    `What the guard would have done in the last ${counted(outcome.days, 'day')}: ${counted(outcome.mailboxes.length, 'mailbox', 'mailboxes')}.`,
    tableText(columns, lines, width).trimEnd(),
    ...stories,
    `Assumed:\n${assumptions.map((assumption) => `- ${assumption}`).join('\n')}`,
  ]
    .join('\n\n')
    .concat('\n');
}

function nameOf({ mailbox }: BacktestedMailbox): string {
  return `${mailbox.account.name}/${mailbox.email}`;
}

function mailboxLines(outcome: Outcome, tested: BacktestedMailbox): readonly Line[] {
  const { past } = tested.mailbox;
  if ('failure' in past) return [[nameOf(tested), 'not read']];
  return tested.replays.map((replay, index) => [
    index === 0 ? nameOf(tested) : '',
    index === 0 ? (past.mode ?? 'unknown') : '',
    ...countsLine(outcome, index, replay),
  ]);
}

function countsLine(outcome: Outcome, index: number, counts: Totals): Line {
  const guard = outcome.guards[index] ?? '';
  return [
    ...(outcome.guards.length > 1 ? [guard] : []),
    String(counts.interventions),
    `${counts.daysInRecovery} d`,
    `${counts.daysPaused} d`,
    `${counts.daysHeld} d`,
    `${counts.bouncesAvoided} of ${counts.bounced}`,
    `${counts.sendsLost} of ${counts.sent}`,
  ];
}

/** What would have been done to a mailbox, and why; nothing for one that was left alone. */
function storyOf(outcome: Outcome, tested: BacktestedMailbox): readonly string[] {
  const { past } = tested.mailbox;
  if ('failure' in past) return [`${nameOf(tested)}\n  not read: ${past.failure}`];
  const lines = tested.replays.flatMap((replay, index) =>
    replay.actions.map(({ date, kind, verdict }) => {
      const guard = outcome.guards.length > 1 ? ` ${outcome.guards[index]}:` : '';
      return `  ${date}${guard} ${actionWords[kind]} (${reasonWords(verdict.reason)}). ${explainVerdict(verdict)}`;
    }),
  );
  return lines.length === 0 ? [] : [[nameOf(tested), ...lines].join('\n')];
}

/** The API gives no more. */
const maxDays = 90;

export interface BacktestOptions {
  readonly config: string;
  readonly days: number;
  readonly guard?: string;
  readonly json?: boolean;
}

/** Where a backtest lives: its time, and where its words go. */
interface Surroundings {
  readonly world: World;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Shows how far it is, on one line that is written again; null where nobody watches. */
  readonly progress: ((text: string) => void) | null;
}

/** The command; main.ts mounts it. */
export function backtestCommand(): Command {
  return new Command('backtest')
    .description("show what the guard would have done over the API's history, assuming today's modes")
    .addOption(configOption('the configuration: accounts, guard and overrides'))
    .option('--days <number>', `days of history, 1 to ${maxDays}`, wholeNumber(1, maxDays), maxDays)
    .option('--guard <file>', 'compare with the guard section of this file; overrides stay those of --config')
    .addOption(jsonOption())
    .action(async (options: BacktestOptions) => {
      const terminal = process.stderr.isTTY === true;
      process.exitCode = await backtest(options, {
        world: worldOn(systemClock(), { level: 'silent', format: 'json' }),
        print: (text) => process.stdout.write(text),
        complain: (text) => process.stderr.write(text),
        progress: terminal ? (text) => process.stderr.write(`\r\x1b[K${text}`) : null,
      });
    });
}

/** One of the guards that are compared. */
interface ComparedGuard {
  readonly name: string;
  /** The account with this guard's settings. */
  readonly of: (account: AccountConfig) => AccountConfig;
}

/** Runs a backtest; its exit code: 0 done, 1 when something could not be read. Throws a CommandError for a mistake in a file. */
export async function backtest(options: BacktestOptions, surroundings: Surroundings): Promise<number> {
  const { print } = surroundings;
  // In JSON what failed is part of the answer.
  const complain = options.json ? () => {} : surroundings.complain;
  const { config } = loadConfigured(options.config, ['accounts', 'guard', 'proxy']);
  const outcome = await backtestFleet(config, guardsOf(options), options.days, surroundings);
  for (const failure of outcome.failures) complain(`${failure}\n`);
  if (outcome.mailboxes.length > 0 || options.json) {
    print(options.json ? `${JSON.stringify(outcomeJson(outcome), null, 2)}\n` : outcomeText(outcome, screenColumns()));
  }
  const unread = outcome.mailboxes.filter(({ mailbox }) => 'failure' in mailbox.past).length;
  if (unread > 0) complain(`Not read: ${countedOf(unread, outcome.mailboxes.length, 'mailbox', 'mailboxes')}\n`);
  return outcome.failures.length + unread > 0 ? exitFailed : exitDone;
}

function guardsOf({ config, guard: file }: BacktestOptions): readonly ComparedGuard[] {
  const own: ComparedGuard = { name: config, of: (account) => account };
  if (file === undefined) return [own];
  const guard = guardOf(file);
  return [own, { name: file, of: (account) => ({ ...account, guard }) }];
}

/** Reads all accounts at once, each within its own budget, and replays every mailbox. */
async function backtestFleet(
  config: Config,
  guards: readonly ComparedGuard[],
  days: number,
  { world, progress }: Surroundings,
): Promise<Outcome> {
  const counts = new Map<string, { readonly found: number; readonly done: number }>();
  const onProgress = (account: string) => (found: number, done: number) => {
    counts.set(account, { found, done });
    const all = [...counts.values()].reduce((sum, one) => ({
      found: sum.found + one.found,
      done: sum.done + one.done,
    }));
    progress?.(`reading the history: ${all.done} of ${counted(all.found, 'mailbox', 'mailboxes')}`);
  };
  progress?.('reading the lists of mailboxes');
  const histories = await Promise.all(
    config.accounts.map((account) => readAccount(account, { world, days, onProgress: onProgress(account.name) })),
  );
  progress?.('');
  return {
    days,
    guards: guards.map(({ name }) => name),
    mailboxes: histories.flatMap(({ mailboxes }) => mailboxes.map((mailbox) => replayMailbox(mailbox, guards))),
    failures: histories.flatMap(({ failure }) => failure ?? []),
  };
}

function replayMailbox(mailbox: MailboxHistory, guards: readonly ComparedGuard[]): BacktestedMailbox {
  const { account, past } = mailbox;
  if ('failure' in past) return { mailbox, replays: [] };
  return { mailbox, replays: guards.map((guard) => replayGuard(resolvePolicy(guard.of(account), mailbox), past)) };
}
