// `warmwarden explain`: the decisions and actions on a mailbox, in sentences with their numbers.
import { Command } from 'commander';
import { sentence } from '../core/wording/explain.ts';
import { counted, visibleText } from '../core/wording/phrases.ts';
import { decisionWords } from '../core/wording/states.ts';
import { type Explanation, maxEntriesShown } from '../web/json/mailbox.ts';
import { addressOf, askFor, type DaemonOptions, withDaemonOptions } from './daemon.ts';
import { printJson, wholeNumber } from './options.ts';
import { momentIn, printLines } from './terminal.ts';

interface ExplainOptions extends DaemonOptions {
  readonly limit?: number;
}

export function explainCommand(): Command {
  return withDaemonOptions(new Command('explain'))
    .description('show why a mailbox is in its state: every decision with its counts, and what was done')
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS')
    .option(
      '--limit <number>',
      `decisions, actions and changes to show, 1 to ${maxEntriesShown} of each (default: 20)`,
      wholeNumber(1, maxEntriesShown),
    )
    .action(explain);
}

async function explain(name: string, options: ExplainOptions): Promise<void> {
  const query = { mailbox: name, limit: options.limit };
  const answer = (await askFor(addressOf(options), 'explain', query)) as Explanation;
  if (options.json) return void printJson('explain', answer);
  printLines(story(answer).map(visibleText));
}

type When = (at: string) => string;

/** Story of a mailbox, newest first by the time at the beginning of each line. */
function story(answer: Explanation): readonly string[] {
  const { mailbox, decisions, actions, changes, more, time_zone: zone } = answer;
  const when = momentIn(zone);
  const prevented = isPrevented(answer) ? decisions[0] : null;
  const entries = [
    ...decisions.map((one) => ({ at: one.since, lines: decisionLines(one, { when, isOff: one === prevented }) })),
    ...actions.map((action) => ({ at: action.planned_at, lines: actionLines(action, when) })),
    ...changes.map((change) => ({ at: change.seen_at, lines: [change.text] })),
  ].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  const { disconnected, not_guarded: notGuarded, held, paused } = mailbox;
  const head = [disconnected, notGuarded, headOf(mailbox, when), held, paused].filter((line) => line !== null);
  if (entries.length === 0) return [...head, 'Nothing was decided on it yet.'];
  const { former_ids: former } = mailbox;
  const joined =
    former.length === 0
      ? []
      : [`Its address was guarded before under ${former.join(', ')}: that history is joined below.`];
  const older = more ? ['There are older entries: --limit shows more of them.'] : [];
  return [...head, ...joined, ...entries.flatMap(({ lines }) => lines), ...older];
}

function headOf({ email, account, mode, claim }: Explanation['mailbox'], when: When): string {
  const claimed = claim ? `; ${claim.kind} by Warmwarden since ${when(claim.since)}` : '';
  return `${email} on account ${account}, mode ${mode ?? 'unknown'}${claimed}`;
}

/** Lines of an action: what, by whom, its state; then possible causes, the effect, and the person's words. */
function actionLines(action: Explanation['actions'][number], when: When): readonly string[] {
  const {
    planned_at: at,
    kind,
    target_mode: mode,
    target_limit: limit,
    target_settings: settings,
    by,
    state,
    causes,
    text,
  } = action;
  const target = { mode, limit, set: settings }[kind];
  const what = target === undefined ? kind : `${kind} ${target}`;
  const why = by && by.reason !== '' ? [sentence(`Reason: ${by.reason}`)] : [];
  const below = [...causes, sentence(text), ...why].map((line) => `  ${line}`);
  return [`${when(at)}: ${what} by ${by?.name ?? 'Warmwarden'}, ${state}`, ...below];
}

type Decision = Explanation['decisions'][number];

/** True if the newest decision wants an action, and nothing carries it out because enforcement or writes are off. */
function isPrevented({ mailbox, decisions: [newest], actions }: Explanation): boolean {
  if (!newest || mailbox.enforced || newest.action === 'none' || newest.action === 'hold') return false;
  const { action: kind, since } = newest;
  return !actions.some((one) => one.kind === kind && !one.by && one.state !== 'dropped' && one.planned_at >= since);
}

function decisionLines(
  { since, until, count, first_sent: firstSent, ...verdict }: Decision,
  { when, isOff }: { readonly when: When; readonly isOff: boolean },
): readonly string[] {
  const [first, last] = [when(since), when(until)];
  const span = first === last ? first : `${first} to ${last}`;
  const at = count === 1 ? span : `${span}, ${count} answers`;
  const grown = firstSent === verdict.sent ? [] : [`  At first: ${counted(firstSent, 'email')} in the window.`];
  const words = isOff
    ? `NOT DONE: ${decisionWords(verdict)}, because enforcement or writes are off`
    : decisionWords(verdict);
  return [`${at}: ${words}`, `  ${verdict.explanation}`, ...grown];
}
