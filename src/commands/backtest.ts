// `warmwarden backtest`: what this guard, or another one, would have done to the fleet over the API's history.
import { Command } from 'commander';
import type { AccountConfig, Config } from '../config/config.ts';
import { resolvePolicy } from '../config/mailbox-rules.ts';
import { replayGuard } from '../guard/replay.ts';
import { exitDone, exitFailed } from '../terminal/exit-codes.ts';
import { screenColumns } from '../terminal/screen.ts';
import { wholeNumber } from '../terminal/whole-number.ts';
import { counted, countedOf } from '../wording/phrases.ts';
import { systemClock, type World, worldOn } from '../world.ts';
import { type MailboxHistory, readAccount } from './backtest/fleet-history.ts';
import { type BacktestedMailbox, type Outcome, outcomeJson } from './backtest/outcome.ts';
import { outcomeText } from './backtest/table.ts';
import { configOption, jsonOption } from './options.ts';
import { guardOf } from './sources/guard-of.ts';
import { loadConfigured } from './sources/loading.ts';

/** The API gives no more. */
const maxDays = 90;

export interface BacktestOptions {
  readonly config: string;
  readonly days: number;
  readonly guard?: string;
  readonly json?: boolean;
}

/** Where a backtest lives: its time, and where its words go. */
export interface Surroundings {
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
  const { config } = loadConfigured(options.config, ['accounts', 'guard', 'proxy', 'proxy_file']);
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
