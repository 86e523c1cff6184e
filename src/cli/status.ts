// `warmwarden status`: the fleet in the terminal, worst first; as the running daemon knows it.
import { styleText } from 'node:util';
import { Command } from 'commander';
import type { FleetAnswer } from '../web/json/fleet.ts';
import { systemClock } from '../world/world.ts';
import { printJson } from './options.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './sources/daemon-client.ts';
import { NoDaemonError } from './sources/sign-of-life.ts';
import { type Screen, statusText } from './status/table.ts';
import { exitDone, exitFailed, showError } from './terminal/command-error.ts';
import { screenColumns, screenRows, showsColours } from './terminal/outputs.ts';

/** How often `--watch` looks. */
const lookEveryMs = 2_000;
/** Lines of a terminal that the prompt needs. */
const spareRows = 1;
const clearScreen = '\x1b[H\x1b[J';

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
  if (!options.watch) return show(options);
  for (;;) {
    // A daemon that restarts is watched further.
    await show(options).catch((error: unknown) => {
      if (!(error instanceof NoDaemonError)) throw error;
      process.exitCode = showError(error, { json: Boolean(options.json), debug: false });
    });
    await clock.sleep(lookEveryMs);
  }
}

async function show(options: StatusOptions): Promise<void> {
  const screen = screenFor(options);
  const answer = await fleetOf(options, Boolean(options.json) || screen.rows === null);
  process.exitCode = guardsAll(answer) ? exitDone : exitFailed;
  if (options.watch && process.stdout.isTTY) process.stdout.write(clearScreen);
  const { next_cursor: _, ...whole } = answer;
  if (options.json) printJson('status', whole);
  else process.stdout.write(statusText(answer, screen));
}

/**
 * Whether what is configured is guarded at this moment. An account that can't be read is not, or has not been read
 * yet, whoever is to blame, nor one of which no mailbox can be judged, nor one whose key may not write, nor a mailbox that it includes by name and no list has.
 */
function guardsAll(answer: FleetAnswer): boolean {
  const { accounts, not_guarded: notGuarded, store_failure: storeFailure } = answer;
  if (storeFailure !== null) return false;
  const isRead = accounts.every(
    ({ listed, unlisted, failing_since: since }) => listed && unlisted.length === 0 && since === null,
  );
  const isPolled = notGuarded.length === 0;
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

/** Answer of the running daemon: its first page, or all pages as one. */
async function fleetOf(options: DaemonOptions, all: boolean): Promise<FleetAnswer> {
  const address = addressOf({ ...options, mayBeUsual: true });
  const page = (query: Readonly<Record<string, string>>) => askFor(address, 'fleet', query) as Promise<FleetAnswer>;
  const first = await page({});
  if (!all) return first;
  const mailboxes = [...first.mailboxes];
  for (let cursor = first.next_cursor; cursor !== null; ) {
    const next = await page({ cursor });
    mailboxes.push(...next.mailboxes);
    cursor = next.next_cursor;
  }
  return { ...first, mailboxes, next_cursor: null };
}
