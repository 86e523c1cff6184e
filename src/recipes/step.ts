// `do:`: an operation on the mailbox of each row, through the daemon's one guarded path; or only the plan of it.

import { type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { errorText } from '../core/nearest.ts';
import { type CommandOutcome, type OperatorCommands, succeeded } from '../core/operator-command.ts';
import type { Row } from '../core/recipe.ts';
import { withoutFolders } from '../core/wording/phrases.ts';
import { subjectOf } from './approval.ts';
import type { Step } from './definition.ts';

/** The operator commands that a recipe may use, and the mailbox of a row. Passed in by the daemon. */
export interface CommandAccess {
  readonly commands: Pick<OperatorCommands, 'pause' | 'resume' | 'mode' | 'limit' | 'refresh' | 'silenceAdd'>;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
}

/** What a row says of the operation: the columns operation, outcome and message. */
export interface RowOutcome {
  readonly operation: string;
  /** planned: a dry run. skipped: the operation does not fit this mailbox. */
  readonly outcome: 'planned' | 'done' | 'failed' | 'skipped';
  readonly message: string;
}

export interface StepContext {
  readonly apply: boolean;
  readonly by: string;
  readonly recipe: string;
  /** The mailboxes that may be changed; null: any. */
  readonly approved: ReadonlySet<string> | null;
  /** The words that start this program. */
  readonly command: string;
}

/**
 * Does, or plans, what `do:` says with the mailbox of a row. Never rejects: an operation that throws has failed.
 * The holder of a recipe key reads the message: it has no paths of this machine.
 */
export async function performStep(
  step: Step,
  row: Row,
  { commands, mailbox }: CommandAccess,
  context: StepContext,
): Promise<RowOutcome> {
  const target = step.mode ?? step.limit;
  const operation = target === null ? step.operation : `${step.operation} ${target}`;
  const [account, id] = [String(row['account']), String(row['mailbox_id'])];
  const found = mailbox(account, id);
  if (context.approved && !context.approved.has(subjectOf(row)))
    return { operation, outcome: 'skipped', message: notAgreed };
  if (!found) return { operation, outcome: 'skipped', message: `${mailboxKey(account, id)} is not guarded.` };
  if (step.operation === 'resume' && found.memory?.claim?.kind !== 'pause') {
    return {
      operation,
      outcome: 'skipped',
      message: `${found.email}: Warmwarden did not pause it, so it is left alone.`,
    };
  }
  try {
    const outcome = await perform(step, found, commands, context);
    const good = succeeded(outcome) ? (context.apply ? 'done' : 'planned') : 'failed';
    return {
      operation,
      outcome: good,
      message: outcome.messages.join(' ').replaceAll(`\`${context.command} `, '`warmwarden '),
    };
  } catch (error) {
    return { operation, outcome: 'failed', message: withoutFolders(errorText(error)) };
  }
}

const notAgreed = 'It was not part of the dry run that was confirmed, so it is left alone.';

async function perform(
  step: Step,
  found: MailboxState,
  commands: CommandAccess['commands'],
  { apply, by, recipe }: StepContext,
): Promise<CommandOutcome> {
  const mailbox = mailboxKey(found.account, found.id);
  const request = { mailbox, by, reason: `${step.reason} (recipe ${recipe})`, dryRun: !apply };
  const planned = (effect: string): CommandOutcome => ({ result: 'planned', messages: [`${found.email}: ${effect}`] });
  switch (step.operation) {
    case 'pause':
      return commands.pause(request);
    case 'resume': {
      // Its turn may come late: by then somebody else may have taken the mailbox over.
      const undoes = found.memory?.claim?.actionId;
      return commands.resume({ ...request, ...(undoes !== undefined && { undoes }) });
    }
    case 'mode':
      if (step.mode === null) throw new Error('the operation mode has no mode');
      return commands.mode({ ...request, mode: step.mode });
    case 'limit':
      if (step.limit === null) throw new Error('the operation limit has no limit');
      return commands.limit({ ...request, limit: step.limit });
    case 'refresh':
      return apply ? commands.refresh(request) : planned('Warmwarden will read all its data again.');
    case 'silence': {
      if (step.forMs === null) throw new Error('the operation silence has no time');
      if (!apply) return planned('Warmwarden will mute its messages; it stays guarded.');
      const match = { account: [found.account], mailbox: [found.id] };
      return commands.silenceAdd({ match, forMs: step.forMs, by, reason: request.reason });
    }
  }
}
