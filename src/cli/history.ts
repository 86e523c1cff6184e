// `warmwarden history`: the audit log with who changed what, when, why, and the outcome.
import { Command } from 'commander';
import { secondMs } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { reasonWords } from '../core/wording/states.ts';
import type { HistoryAnswer, HistoryEntry } from '../web/json/history.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './daemon.ts';
import { duration, printJson, wholeNumber } from './options.ts';
import { momentIn, printLines } from './terminal.ts';

interface HistoryOptions extends DaemonOptions {
  readonly mailbox?: string;
  readonly by?: string;
  readonly since?: number;
  readonly guard?: boolean;
  readonly limit?: number;
}

const mostEntries = 1_000;

export function historyCommand(): Command {
  return withDaemonOptions(new Command('history'))
    .description('show the audit log: who changed what, when, why, and the outcome; the newest first')
    .option('--mailbox <name>', 'only this mailbox')
    .option('--by <name>', 'only this person, or Warmwarden')
    .option('--since <duration>', 'how far back (default: 30d)', duration)
    .option('--limit <number>', `entries to show, 1 to ${mostEntries} (default: 100)`, wholeNumber(1, mostEntries))
    .option('--guard', 'also show what Warmwarden did by itself')
    .action(history);
}

async function history(options: HistoryOptions): Promise<void> {
  const { mailbox, by, since, guard, limit } = options;
  const since_seconds = since && since / secondMs;
  const query = { mailbox, by, since_seconds, guard, limit };
  const answer = (await askFor(addressOf(options), 'history', query)) as HistoryAnswer;
  const { next_cursor: next, ...rest } = answer;
  if (options.json) printJson('history', { ...rest, more: next !== null });
  else printLines(linesOf(answer));
}

const none =
  'No entry matches. Without --since the last 30 days are shown; `--guard` adds what Warmwarden did by itself.';

function linesOf({ entries, next_cursor: next, time_zone: zone }: HistoryAnswer): readonly string[] {
  if (entries.length === 0) return [none];
  const rest = next !== null ? ['There are older entries: --limit shows more of them.'] : [];
  return [...entries.flatMap((entry) => entryLines(entry, momentIn(zone))), ...rest];
}

function entryLines(
  { at, by, command, kind, reason, result, outcome }: HistoryEntry,
  when: (at: string) => string,
): readonly string[] {
  const why = kind === 'guard' ? `Decision: ${reasonWords(reason)}` : reason === '' ? null : `Reason: ${reason}`;
  const came = outcome === '' ? [] : outcome.split('\n').map((line) => `  ${line}`);
  const head = `${when(at)}  ${by}  ${command}  ${result.replaceAll('_', ' ')}`;
  return [head, ...(why === null ? [] : [`  ${why}`]), ...came].map(visibleText);
}
