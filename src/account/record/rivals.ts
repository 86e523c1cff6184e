// Several accounts may see the same mailbox under one API: the same id and the same address. The first account in the
// file whose list has the mailbox guards it, and no other.
import { leave, moveTo } from '../../alerts/engine.ts';
import { domainObject, ipObject } from '../../alerts/rules/finding-rules.ts';
import { type Alert, type AlertChanges, bothChanges } from '../../core/alert.ts';
import { ruleBook } from '../../core/alert-rules.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { ListedMailbox, MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../../core/time.ts';
import { takenNames } from '../../store/accounts.ts';
import type { AccountMove, KnownAccount } from '../../store/writes.ts';

/** An account without a readable list for this time guards no mailbox that another account can read. */
const unreadableForMs = 10 * minuteMs;

interface Rivals {
  readonly fleet: Fleet;
  readonly account: string;
  readonly accounts: readonly string[];
  readonly now: EpochMs;
}

export interface Rival {
  readonly mailbox: MailboxState;
  /** True if the other account keeps the mailbox. Otherwise this account takes over. */
  readonly stays: boolean;
}

export function rivalOf(entry: ListedMailbox, { fleet, account, accounts, now }: Rivals): Rival | null {
  const { id } = entry;
  const own = accounts.indexOf(account);
  const shared = fleet.account(account)?.guardedElsewhere ?? [];
  for (const [place, other] of accounts.entries()) {
    const mailbox = other === account ? undefined : fleet.mailbox(other, id);
    if (!mailbox) continue;
    // The address of a shared mailbox may change, and one list shows the change before the other.
    const wasShared = () => shared.some((one) => one.id === id && one.account === other);
    if (entry.email.toLowerCase() !== mailbox.email.toLowerCase() && !wasShared()) continue;
    const failing = fleet.account(other)?.listFailing;
    const isUnreadable = failing != null && elapsedMs(failing.since, now) >= unreadableForMs;
    const isFirst = place < own && mailbox.missingLists === 0 && !isUnreadable;
    // A change that was sent is read back under the account that sent it.
    const stays = isFirst || mailbox.action?.state === 'open';
    return { mailbox, stays };
  }
  return null;
}

/** Returns true while an earlier account of the file has had no answer yet: its mailboxes are unknown. */
export function mustWait({ fleet, account, accounts }: Omit<Rivals, 'now'>): boolean {
  const earlier = accounts.slice(0, Math.max(0, accounts.indexOf(account)));
  return earlier.some((name) => {
    const state = fleet.account(name);
    return state !== undefined && !state.listed && state.failingSince === null && !state.listFailing;
  });
}

const nameTaken = 'The name of the account is that of another account now, of another API.';

/** Moves alerts with their accounts, and ends those of accounts whose names other accounts have from now on. */
export function alertsOfMoves(
  fleet: Fleet,
  moves: readonly AccountMove[],
  known: readonly KnownAccount[],
  now: EpochMs,
): AlertChanges {
  const moved = moves
    .map((move) => alertsMoved(fleet, { ...move, ids: move.ids && new Set(move.ids) }, now))
    .reduce(bothChanges, { changed: [], dropped: [], transitions: [] });
  const coming = new Set(moved.changed.map(({ fingerprint }) => fingerprint));
  const taken = takenNames(moves, known).flatMap((name) => [...fleet.alertsOf(name)]);
  const ended = leave(taken, now, nameTaken);
  const dropped = ended.dropped.filter((fingerprint) => !coming.has(fingerprint));
  return bothChanges({ ...ended, dropped }, moved);
}

const listedElsewhere = 'The mailbox is guarded under another account of the same API.';

/** Alerts about mailboxes that go, and those of a domain or an IP address without mailboxes that stay. */
export function alertsWithout(
  alerts: Iterable<Alert>,
  gone: ReadonlySet<string>,
  mailboxes: Iterable<MailboxState>,
): readonly Alert[] {
  const stay = [...mailboxes].filter(({ id }) => !gone.has(id));
  const objects = new Set(stay.flatMap((mailbox) => [domainObject(mailbox), ipObject(mailbox)]));
  return [...alerts].filter(({ rule, mailboxId, object }) => {
    if (mailboxId !== null) return gone.has(mailboxId);
    return ruleBook[rule].shows === 'sender' && object !== null && !objects.has(object);
  });
}

/** Moves the alerts about these mailboxes, and those of a domain or an IP address without remaining mailboxes. */
export function alertsMoved(
  fleet: Fleet,
  { from, to, ids }: { readonly from: string; readonly to: string; readonly ids: ReadonlySet<string> | null },
  now: EpochMs,
): AlertChanges {
  const alerts = [...fleet.alertsOf(from)];
  const theirs = ids === null ? alerts : alertsWithout(alerts, ids, fleet.mailboxesOf(from));
  const isMissing = ({ rule, mailboxId }: { rule: string; mailboxId: string | null }) =>
    rule === 'mailbox_missing' && mailboxId !== null && ids !== null;
  return bothChanges(
    moveTo(
      to,
      theirs.filter((alert) => !isMissing(alert)),
      now,
    ),
    leave(theirs.filter(isMissing), now, listedElsewhere),
  );
}
