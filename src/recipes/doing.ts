// `do:`: an operation on the mailbox of each row, through the daemon's one guarded path; or only the plan of it.

import { type MailboxState, mailboxKey } from '../model/mailbox.ts';
import { type CommandOutcome, type OperatorCommands, succeeded } from '../model/operator-command.ts';
import type { Row } from '../model/recipe.ts';
import { subjectOf } from './agreed.ts';
import type { Doing } from './definition.ts';

/** The operator commands that a recipe may use, and the mailbox of a row. Passed in by the daemon. */
export interface Handling {
  readonly commands: Pick<OperatorCommands, 'pause' | 'resume' | 'mode' | 'refresh' | 'silenceAdd'>;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
}

/** What a row says of the operation: the columns operation, outcome and message. */
export interface RowOutcome {
  readonly operation: string;
  /** planned: a dry run. skipped: the operation does not fit this mailbox. */
  readonly outcome: 'planned' | 'done' | 'failed' | 'skipped';
  readonly message: string;
}

export interface Asked {
  readonly apply: boolean;
  readonly by: string;
  readonly recipe: string;
  /** The mailboxes that may be changed; null: any. */
  readonly agreed: ReadonlySet<string> | null;
}

/** Does, or plans, what `doing` says with the mailbox of a row. Never rejects: an operation that throws has failed. */
export async function doForRow(
  doing: Doing,
  row: Row,
  { commands, mailbox }: Handling,
  asked: Asked,
): Promise<RowOutcome> {
  const operation = doing.mode === null ? doing.operation : `${doing.operation} ${doing.mode}`;
  const [account, id] = [String(row['account']), String(row['mailbox_id'])];
  const found = mailbox(account, id);
  if (asked.agreed && !asked.agreed.has(subjectOf(row))) return { operation, outcome: 'skipped', message: notAgreed };
  if (!found) return { operation, outcome: 'skipped', message: `${mailboxKey(account, id)} is not guarded.` };
  if (doing.operation === 'resume' && found.memory?.claim?.kind !== 'pause') {
    return {
      operation,
      outcome: 'skipped',
      message: `${found.email}: Warmwarden did not pause it, so it is left alone.`,
    };
  }
  try {
    const outcome = await perform(doing, found, commands, asked);
    const good = succeeded(outcome) ? (asked.apply ? 'done' : 'planned') : 'failed';
    return { operation, outcome: good, message: outcome.messages.join(' ') };
  } catch (error) {
    return { operation, outcome: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

const notAgreed = 'It was not part of the dry run that was confirmed, so it is left alone.';

async function perform(
  doing: Doing,
  found: MailboxState,
  commands: Handling['commands'],
  { apply, by, recipe }: Asked,
): Promise<CommandOutcome> {
  const mailbox = mailboxKey(found.account, found.id);
  const request = { mailbox, by, reason: `${doing.reason} (recipe ${recipe})`, dryRun: !apply };
  const planned = (effect: string): CommandOutcome => ({ result: 'planned', messages: [`${found.email}: ${effect}`] });
  switch (doing.operation) {
    case 'pause':
      return commands.pause(request);
    case 'resume': {
      // Its turn may come late: by then somebody else may have taken the mailbox over.
      const undoes = found.memory?.claim?.actionId;
      return commands.resume({ ...request, ...(undoes !== undefined && { undoes }) });
    }
    case 'mode':
      if (doing.mode === null) throw new Error('the operation mode has no mode');
      return commands.mode({ ...request, mode: doing.mode });
    case 'refresh':
      return apply ? commands.refresh(request) : planned('Warmwarden will read all its data again.');
    case 'silence': {
      if (doing.forMs === null) throw new Error('the operation silence has no time');
      if (!apply) return planned('Warmwarden will mute its messages; it stays guarded.');
      const match = { account: [found.account], mailbox: [found.id] };
      return commands.silenceAdd({ match, forMs: doing.forMs, by, reason: request.reason });
    }
  }
}
