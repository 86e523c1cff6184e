// `warmwarden status`: the fleet in the terminal, worst first; of the running daemon, or as its store knew it last.
import { styleText } from 'node:util';
import { Command } from 'commander';
import type { FleetAnswer } from '../web/json/fleet-answer.ts';
import { systemClock } from '../world/world.ts';
import { printJson } from './options.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './sources/daemon-client.ts';
import { joined } from './status/pages.ts';
import { type Screen, statusText } from './status/table.ts';
import { exitDone, exitFailed } from './terminal/command-error.ts';
import { screenColumns, screenRows, showsColours } from './terminal/outputs.ts';

/** How often `--watch` looks. */
const lookEveryMs = 2_000;
/** Lines of a terminal that the prompt needs. */
const spareRows = 1;
const clearScreen = '\x1b[H\x1b[J';

/** With `guarded` false nothing polls the mailboxes: no daemon runs. */
type StatusAnswer = FleetAnswer & { readonly guarded: boolean };

interface StatusOptions extends DaemonOptions {
  readonly watch?: boolean;
  readonly all?: boolean;
}

export function statusCommand(): Command {
  return withDaemonOptions(new Command('status'))
    .description(
      'show the fleet, the worst first: what is wrong, what was done, how old the data is; exits with 1 when mailboxes are not guarded',
    )
    .option('--watch', 'refresh every 2 seconds')
    .option('--all', 'show every mailbox, also those that do not fit the screen')
    .action(status);
}

async function status(options: StatusOptions): Promise<void> {
  const clock = systemClock();
  do {
    const screen = screenFor(options);
    const answer = await wholeFleet(options, Boolean(options.json) || screen.rows === null);
    process.exitCode = guardsAll(answer) ? exitDone : exitFailed;
    if (options.watch && process.stdout.isTTY) process.stdout.write(clearScreen);
    const { next_cursor: _, ...whole } = answer;
    if (options.json) printJson('status', whole);
    else process.stdout.write(statusText(answer, screen));
    if (options.watch) await clock.sleep(lookEveryMs);
  } while (options.watch);
}

/**
 * Whether what is configured is guarded at this moment. An account that can't be read is not, or has not been read
 * yet, whoever is to blame, nor one of which no mailbox can be judged, nor one whose key may not write, nor a mailbox that it includes by name and no list has.
 */
function guardsAll(answer: StatusAnswer): boolean {
  const { guarded, accounts, alert_groups: alerts, not_guarded: notGuarded, store_failure: storeFailure } = answer;
  if (!guarded || storeFailure !== null) return false;
  const isRead = accounts.every(
    ({ listed, unlisted, failing_since: since }) => listed && unlisted.length === 0 && since === null,
  );
  const isPolled = notGuarded.length === 0 && !alerts.some(({ rule }) => rule === 'account_unguarded');
  // Absent: an earlier daemon answered.
  const isJudged = accounts.every(({ judging_failure: failure = null }) => failure === null);
  return isRead && isPolled && isJudged && accounts.every(({ writable }) => writable !== false);
}

function screenFor({ all, watch }: StatusOptions): Screen {
  const colour = showsColours();
  const rows = screenRows();
  return {
    columns: screenColumns(),
    rows: rows !== null && (watch || !all) ? rows - spareRows : null,
    style: (style, text) => (colour ? styleText(style, text, { validateStream: false }) : text),
  };
}

/** The running daemon's answer, or what the store knows while nothing is guarded. */
async function wholeFleet(options: DaemonOptions, all: boolean): Promise<StatusAnswer> {
  const address = addressOf({ ...options, mayBeUsual: true });
  const page = (query: Readonly<Record<string, string>>) =>
    askFor(address, 'fleet', query) as Promise<FleetAnswer | null>;
  const first = await page({});
  if (!first) {
    // Loaded when nobody guards: beside a daemon the store is not needed.
    const { lastKnown } = await import('./status/last-known.ts');
    return { ...(await lastKnown(options, all)), guarded: false };
  }
  if (!all) return { ...first, guarded: true };
  return { ...(await joined(first, (cursor) => page({ cursor }))), guarded: true };
}
