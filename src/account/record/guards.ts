// Several accounts may see the same mailbox under one API: the same id, and the same address. It is guarded once: by the first account
// in the file whose list has it.
import { leave, moveTo } from '../../alerts/engine.ts';
import { domainObject, ipObject } from '../../alerts/rules/finding-rules.ts';
import { type Alert, type AlertChanges, bothChanges } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { isSameAddress, type MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, elapsedMs, minuteMs } from '../../core/time.ts';

/** An account that has not read its list for so long guards nothing that another one can read. */
const unreadableForMs = 10 * minuteMs;

/** A mailbox as a list names it. */
type Like = Pick<MailboxState, 'id' | 'email'>;

interface Rivals {
  readonly fleet: Fleet;
  readonly account: string;
  /** All under the API, in the order of the file. */
  readonly accounts: readonly string[];
  readonly now: EpochMs;
}

/** A mailbox of this account's list as another account has it. */
export interface Rival {
  readonly mailbox: MailboxState;
  /** The other account goes on guarding it; otherwise this one takes over. */
  readonly stays: boolean;
}

/** null: no other account has it. */
export function rivalOf(entry: Like, { fleet, account, accounts, now }: Rivals): Rival | null {
  const { id } = entry;
  const own = accounts.indexOf(account);
  const shared = fleet.account(account)?.guardedElsewhere ?? [];
  for (const [place, other] of accounts.entries()) {
    const mailbox = other === account ? undefined : fleet.mailbox(other, id);
    if (!mailbox) continue;
    // The address of a mailbox that both had may change, and one list shows it before the other does.
    const wasShared = () => shared.some((one) => one.id === id && one.account === other);
    if (!isSameAddress(entry, mailbox) && !wasShared()) continue;
    const isFirst = place < own && mailbox.missingLists === 0 && !isUnreadable(fleet, other, now);
    // A change that was sent is read back under the account that sent it.
    const stays = isFirst || mailbox.action?.state === 'open';
    return { mailbox, stays };
  }
  return null;
}

/** Accounts that have the id with another address: behind a gateway, two services may give the same ids. */
export function namesakesOf(entry: Like, { fleet, account, accounts }: Omit<Rivals, 'now'>): readonly string[] {
  return accounts.filter((other) => {
    const mailbox = other === account ? undefined : fleet.mailbox(other, entry.id);
    return mailbox !== undefined && !isSameAddress(entry, mailbox);
  });
}

function isUnreadable(fleet: Fleet, account: string, now: EpochMs): boolean {
  const failing = fleet.account(account)?.listFailing;
  return failing != null && elapsedMs(failing.since, now) >= unreadableForMs;
}

/** An account that comes earlier in the file has not answered yet since its polling began: whom it guards is not known. */
export function mustWait({ fleet, account, accounts }: Omit<Rivals, 'now'>): boolean {
  const earlier = accounts.slice(0, Math.max(0, accounts.indexOf(account)));
  return earlier.some((name) => {
    const state = fleet.account(name);
    return state !== undefined && !state.listed && state.failingSince === null;
  });
}

const nameTaken = 'The name of the account is that of another account now, of another API.';

/** The alerts of accounts end whose names others have from now on; `moved`: what comes in their place. */
export function alertsOfTaken(alerts: Iterable<Alert>, moved: AlertChanges, now: EpochMs): AlertChanges {
  const coming = new Set(moved.changed.map(({ fingerprint }) => fingerprint));
  const ended = leave(alerts, now, nameTaken);
  const dropped = ended.dropped.filter((fingerprint) => !coming.has(fingerprint));
  return bothChanges({ ...ended, dropped }, moved);
}

const listedElsewhere = 'The mailbox is guarded under another account of the same API.';

/** The alerts about mailboxes that another account guards from now on, and those of a domain or an ip that nobody is left of. */
export function alertsMoved(
  fleet: Fleet,
  { from, to, ids }: { readonly from: string; readonly to: string; readonly ids: ReadonlySet<string> | null },
  now: EpochMs,
): AlertChanges {
  const stay = ids === null ? [] : [...fleet.mailboxesOf(from)].filter(({ id }) => !ids.has(id));
  const objects = new Set(stay.flatMap((mailbox) => [domainObject(mailbox), ipObject(mailbox)]));
  const theirs = [...fleet.alertsOf(from)].filter(({ rule, mailboxId, object }) => {
    if (ids === null) return true;
    if (mailboxId !== null) return ids.has(mailboxId);
    return (rule === 'dns_failing' || rule === 'blacklisted') && object !== null && !objects.has(object);
  });
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
