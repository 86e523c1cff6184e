// What a person's release changes: the breaker that holds a fleet, or the contest over one mailbox.
import { release } from '../guard/breaker.ts';
import { afterRelease, isContested, recentReversals } from '../guard/memory.ts';
import { heldEntries } from '../model/breaker.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import type { ReleaseRecord, StoredBreaker } from '../store/records.ts';
import { type BreakerRooms, type BreakerSettings, heldAlert, showBreaker, showStored } from './breakers.ts';
import type { RecorderRooms } from './guarded-account.ts';

/**
 * Opens the way for everything that the breaker of `api` holds. Returns the keys of the mailboxes that were held; null,
 * and nothing is released, when these are not the ones that `agreed` names (null: whatever is held).
 */
export function releaseBreaker(
  rooms: BreakerRooms,
  settings: BreakerSettings,
  agreed: readonly string[] | null,
): Promise<readonly string[] | null> {
  return rooms.turns.take(async () => {
    const { fleet, store } = rooms;
    const { api } = settings;
    const decide = () => {
      const before = fleet.breaker(api);
      const held = heldEntries(before).map(({ key }) => key);
      if (before.openSince === null) return { held: [], record: null };
      if (agreed && !sameKeys(held, agreed)) return { held: null, record: null };
      const state = release(before);
      const alerts = heldAlert(rooms, state, settings);
      const record: ReleaseRecord = { mailbox: null, breaker: { api, state, before, again }, alerts };
      return { held, record };
    };
    const again = async (stored: StoredBreaker): Promise<ReleaseRecord | null> => {
      showStored(fleet, api, stored);
      decided = decide();
      return decided.record;
    };
    let decided = decide();
    if (decided.record) await store.recordRelease(decided.record);
    const { held, record } = decided;
    if (record?.breaker) showBreaker(rooms, api, record.breaker.state, record.alerts);
    return held;
  });
}

/** What a release of the contest over a mailbox would end: the reversals that count, and whether they hold it. */
export function contestOver({ memory }: MailboxState, now: EpochMs) {
  return { reversals: memory ? recentReversals(memory, now) : [], isHeld: memory !== null && isContested(memory, now) };
}

/** The guard may act on a mailbox again although others reversed its changes. False when none of that counts any more. */
export function releaseContest(rooms: RecorderRooms, mailbox: MailboxState): Promise<boolean> {
  return rooms.turns.take(async () => {
    const { fleet, group, store, world } = rooms;
    const before = group.mailbox(mailbox.account, mailbox.id);
    if (!before?.memory || contestOver(before, world.clock.now()).reversals.length === 0) return false;
    const after = { ...before, memory: afterRelease(before.memory) };
    const alerts = { changed: [], dropped: [], transitions: [] };
    await store.recordRelease({ mailbox: after, breaker: null, alerts });
    fleet.putMailbox(after);
    return true;
  });
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  const wanted = new Set(other);
  return one.length === other.length && one.every((key) => wanted.has(key));
}
