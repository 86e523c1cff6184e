// `do:`: a hand laid on the mailbox of each row, through the daemon's one guarded path; or only the plan of it.
import type { HandOutcome, Hands } from '../model/hand.ts';
import { type MailboxState, mailboxKey } from '../model/mailbox.ts';
import type { Row } from '../model/recipe.ts';
import type { Doing } from './definition.ts';

/** The hands that a recipe may use, and the mailbox that they would be laid on. Handed in by the daemon. */
export interface Handling {
  readonly hands: Pick<Hands, 'pause' | 'resume' | 'mode' | 'refresh' | 'silence'>;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
}

/** What a row says of the hand: the columns hand, outcome and said. */
export interface Deed {
  readonly hand: string;
  /** planned: a dry run. skipped: the hand does not fit this mailbox. */
  readonly outcome: 'planned' | 'done' | 'failed' | 'skipped';
  readonly said: string;
}

export interface Asked {
  readonly apply: boolean;
  readonly by: string;
  readonly recipe: string;
}

/** Does, or plans, what `doing` says with the mailbox of a row. Never rejects: a hand that throws has failed. */
export async function doForRow(doing: Doing, row: Row, { hands, mailbox }: Handling, asked: Asked): Promise<Deed> {
  const hand = doing.mode === null ? doing.hand : `${doing.hand} ${doing.mode}`;
  const [account, id] = [String(row['account']), String(row['mailbox_id'])];
  const found = mailbox(account, id);
  if (!found) return { hand, outcome: 'skipped', said: `${mailboxKey(account, id)} is not guarded.` };
  if (doing.hand === 'resume' && found.memory?.claim?.kind !== 'pause') {
    return { hand, outcome: 'skipped', said: `${found.email}: Warmwarden did not pause it, so it is left alone.` };
  }
  try {
    const { done, said } = await layHand(doing, found, hands, asked);
    return { hand, outcome: done ? (asked.apply ? 'done' : 'planned') : 'failed', said: said.join(' ') };
  } catch (error) {
    return { hand, outcome: 'failed', said: error instanceof Error ? error.message : String(error) };
  }
}

async function layHand(
  doing: Doing,
  found: MailboxState,
  hands: Handling['hands'],
  { apply, by, recipe }: Asked,
): Promise<HandOutcome> {
  const mailbox = mailboxKey(found.account, found.id);
  const wish = { mailbox, by, reason: `${doing.reason} (recipe ${recipe})`, preview: !apply };
  const planned = (said: string) => ({ done: true, said: [`${found.email}: ${said}`] });
  switch (doing.hand) {
    case 'pause':
      return hands.pause(wish);
    case 'resume':
      return hands.resume(wish);
    case 'mode':
      if (doing.mode === null) throw new Error('the hand mode has no mode');
      return hands.mode({ ...wish, mode: doing.mode });
    case 'refresh':
      return apply ? hands.refresh(wish) : planned('everything about it is asked for again.');
    case 'silence': {
      if (doing.forMs === null) throw new Error('the hand silence has no time');
      if (!apply) return planned('its messages are muted; it is guarded as before.');
      const match = { account: [found.account], mailbox: [found.id] };
      return hands.silence({ match, forMs: doing.forMs, by, reason: wish.reason });
    }
  }
}
