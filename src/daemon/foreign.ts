// Shows what other replicas guard, as they stored it, and the transitions that they recorded.

import type { RecorderRooms } from '../account/record/guarded-account.ts';
import type { AccountConfig } from '../config/config.ts';
import { noAccount } from '../core/alert.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import type { Seen } from '../store/moves.ts';
import { accountScope } from '../store/replicas/membership.ts';
import type { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';
import { showAnew, showWritten } from './reload/shown.ts';

/** Between two readings of what others guard; longer, up to the longest, where reading takes more than a twentieth of the time. */
const readEveryMs = 5 * secondMs;
const readingTimes = 20;
const longestReadEveryMs = minuteMs;
/** Between two reads of everything that other replicas guard. In between, only what was written since is read. */
const readAllEveryMs = 5 * minuteMs;

export class Foreign {
  readonly #opened: Opened;
  readonly #rooms: RecorderRooms;
  readonly #notifying: Pick<Notifying, 'isOwn'>;
  #newest = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  /** What the last look showed of other replicas; null: nothing yet. */
  #seen: Seen | null = null;
  #readAllAt = Number.NEGATIVE_INFINITY;

  constructor(opened: Opened, rooms: RecorderRooms, notifying: Pick<Notifying, 'isOwn'>) {
    this.#notifying = notifying;
    this.#opened = opened;
    this.#rooms = rooms;
  }

  /** One look, which reads what is due. Rejects when the store can't be read. */
  async look(): Promise<void> {
    const { store, world } = this.#opened;
    const newest = store.membership.holds('notify') ? await store.outbox.newestTransition() : this.#newest;
    const heard = newest !== this.#newest;
    const begun = world.clock.monotonic();
    if (!heard && begun < this.#readAt) return;
    await this.#read();
    this.#newest = newest;
    const now = world.clock.monotonic();
    this.#readAt = now + Math.min(longestReadEveryMs, Math.max(readEveryMs, (now - begun) * readingTimes));
    if (heard) this.#rooms.onTransitions();
  }

  /** What was seen and is still shown: a reload may have removed an account and added it again. */
  #shown(): Seen | null {
    const { fleet } = this.#opened;
    const seen = this.#seen;
    return seen && { ...seen, accounts: seen.accounts.filter((name) => fleet.mailboxCount(name) > 0) };
  }

  /** Shows the accounts of other replicas as they are stored now. */
  async #read(): Promise<void> {
    const { fleet, live, store, world } = this.#opened;
    const isForeign = (name: string) => !store.membership.holds(accountScope(name));
    const accounts = live.config.accounts.filter(({ name }) => isForeign(name));
    const begun = world.clock.monotonic();
    const isDue = begun >= this.#readAllAt;
    const names = accounts.map(({ name }) => name);
    // This is most of the work, and no one waits for it.
    const { mailboxes, whole, written, mark } = await store.elsewhere.read(names, isDue ? null : this.#shown());
    await this.#rooms.turns.take(async () => {
      const picture = { ...(await store.loadPicture([])), mailboxes };
      const states = new Map((await store.ledgers()).map(({ account, state }) => [account, state]));
      // What came meanwhile is newer than what was read.
      const shown = accounts.filter(({ name }) => isForeign(name));
      const isWhole = ({ name }: AccountConfig) => whole.includes(name);
      showAnew(fleet, picture, shown.filter(isWhole));
      showWritten(
        fleet,
        picture,
        written,
        shown.filter((account) => !isWhole(account)),
      );
      this.#seen = { accounts: shown.map(({ name }) => name), mark };
      if (isDue) this.#readAllAt = begun + readAllEveryMs;
      for (const { name } of shown) {
        const state = states.get(name);
        if (state && fleet.isElsewhere(name)) fleet.putAccount(state);
      }
      const { isOwn } = this.#notifying;
      const stored = new Set(picture.alerts.map(({ fingerprint }) => fingerprint));
      for (const alert of [...fleet.alertsOf(noAccount)])
        if (!stored.has(alert.fingerprint) && !isOwn(alert)) fleet.removeAlert(alert.fingerprint);
      for (const alert of picture.alerts) if (alert.account === noAccount && !isOwn(alert)) fleet.putAlert(alert);
      for (const incident of picture.incidents) fleet.putIncident(incident);
    });
  }
}
