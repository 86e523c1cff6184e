// `warmwarden explain`: the decisions on a mailbox and what was done, in sentences with their numbers.
import { Command } from 'commander';
import type { Action } from '../model/action.ts';
import type { RecordedDecision } from '../model/decision.ts';
import { type MailboxState, namedMailbox } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { Ledger, type LedgerEntries } from '../store/ledger.ts';
import { changeSentence } from '../wording/causes.ts';
import { actionText, explainVerdict, sentence } from '../wording/explain.ts';
import { momentText } from '../wording/phrases.ts';
import { systemClock } from '../world.ts';
import { CommandError } from './command-error.ts';
import { findStore } from './loading.ts';
import { configOption, type JsonOptions, jsonOption } from './options.ts';

const entriesShown = 20;

interface ExplainOptions extends JsonOptions {
  readonly config: string;
  readonly at?: string;
}

export function explainCommand(): Command {
  return new Command('explain')
    .description('why a mailbox is as it is: every decision with its counts, and what was done')
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS')
    .addOption(configOption())
    .option('--at <time>', 'as it was at that moment, for example 2026-03-20T10:02Z')
    .addOption(jsonOption())
    .action(explain);
}

async function explain(name: string, options: ExplainOptions): Promise<void> {
  const at = options.at === undefined ? systemClock().now() : Date.parse(options.at);
  if (Number.isNaN(at))
    throw new CommandError('usage', `--at ${options.at} is not a time: write it as 2026-03-20T10:02Z`);
  const ledger = Ledger.open(findStore(options.config));
  try {
    const found = namedMailbox(name, await ledger.mailboxes());
    if ('wrong' in found) throw new CommandError('unknown_name', found.wrong);
    const { mailbox } = found;
    // A fleet on another clock (a simulation) may be ahead of ours.
    const until = options.at === undefined ? Number.MAX_SAFE_INTEGER : at;
    const entries = await ledger.entriesOf(mailbox, until, entriesShown);
    const lines = options.json ? [JSON.stringify({ mailbox, ...entries }, null, 2)] : story(mailbox, entries);
    process.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    await ledger.close();
  }
}

/** Newest first; an action stands with the time at which it was planned. */
function story(mailbox: MailboxState, { decisions, actions, changes }: LedgerEntries): readonly string[] {
  const told = [
    ...decisions.map((decision) => ({ at: decision.until, lines: decisionLines(decision) })),
    ...actions.map((action) => ({
      at: action.plannedAt,
      lines: [
        actionHead(action),
        ...indented([...action.causes, sentence(actionText(action, action.plannedAt)), ...whyOf(action)]),
      ],
    })),
    ...changes.map((change) => ({ at: change.at, lines: [changeSentence(change)] })),
  ].sort((a, b) => b.at - a.at);
  const head = `${mailbox.email} on account ${mailbox.account}, mode ${mailbox.warmup?.answer.mode ?? 'unknown'}`;
  const claim = mailbox.memory?.claim;
  const claimed = claim ? `; ${claim.kind} by Warmwarden since ${momentText(claim.since)}` : '';
  const former = mailbox.memory?.formerIds ?? [];
  const joined =
    former.length === 0
      ? []
      : [`Its address was guarded before under ${former.join(', ')}: that history is joined below.`];
  if (told.length === 0) return [`${head}${claimed}`, 'Nothing was decided on it by then.'];
  return [`${head}${claimed}`, ...joined, ...told.flatMap(({ lines }) => lines)];
}

/** `22 November 10:02 UTC: pause by ann, confirmed`. */
function actionHead({ plannedAt, kind, targetMode, by, state }: Action): string {
  const what = kind === 'mode' ? `mode ${targetMode}` : kind;
  return `${momentText(plannedAt)}: ${what} by ${by?.name ?? 'Warmwarden'}, ${state}`;
}

/** The words of the person who asked for it. */
function whyOf({ by }: Action): readonly string[] {
  return by && by.reason !== '' ? [sentence(`Reason: ${by.reason}`)] : [];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

function decisionLines({ since, until, count, verdict }: RecordedDecision): readonly string[] {
  return [`${spanOf(since, until, count)}: ${verdict.action}, ${verdict.reason}`, `  ${explainVerdict(verdict)}`];
}

function spanOf(since: EpochMs, until: EpochMs, count: number): string {
  const [first, last] = [momentText(since), momentText(until)];
  const span = first === last ? first : `${first} to ${last}`;
  return count === 1 ? first : `${span}, ${count} answers`;
}
