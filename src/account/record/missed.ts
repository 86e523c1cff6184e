// Of the mailboxes that were reported as missing: which are back, and which are no longer waited for. Pure.
import type { Alert } from '../../core/alert.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { dayMs, type EpochMs } from '../../core/time.ts';

/** How long a missing mailbox is waited for. */
const missedForMs = 7 * dayMs;

export const noLongerMissed =
  'Warmwarden no longer expects the mailbox: it was missing for a week, or the configuration excludes it.';

export const notNamed = 'The configuration no longer names the mailbox.';

type Named = Pick<MailboxState, 'account' | 'id' | 'email'>;

interface MailboxList {
  readonly arrived: readonly Named[];
  readonly selects: (mailbox: Named) => boolean;
  /** The mailboxes that the configuration names one by one: they are waited for as long as it does. */
  readonly expected: readonly string[];
  readonly now: EpochMs;
}

/** `alerts`: those of one account. A mailbox is back under its id, or under its address with another id (S9). */
export function missedMailboxes(
  alerts: readonly Alert[],
  { arrived, selects, expected, now }: MailboxList,
): { readonly back: readonly Named[]; readonly forgotten: readonly Alert[] } {
  const reported = alerts.filter(({ rule, status }) => rule === 'mailbox_missing' && status === 'firing');
  if (reported.length === 0) return { back: [], forgotten: [] };
  const named = new Set(expected.flatMap((name) => [name, name.toLowerCase()]));
  const here = new Set(arrived.flatMap(({ id, email }) => [id, email.toLowerCase()]));
  const back: Named[] = [];
  const forgotten: Alert[] = [];
  for (const alert of reported) {
    const { account, mailboxId: id, email } = alert;
    if (id === null || email === null) continue;
    if (here.has(id) || here.has(email.toLowerCase())) back.push({ account, id, email });
    else if (!selects({ account, id, email })) forgotten.push(alert);
    else if (now - alert.since > missedForMs && !named.has(id) && !named.has(email.toLowerCase()))
      forgotten.push(alert);
  }
  return { back, forgotten };
}
