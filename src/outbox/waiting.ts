// What waits for a channel while there is none at all: what happened, and the end of what people know. Bounded. What fires need
// not wait: whatever channel wants it is notified of it when it comes.
import type { Notification } from '../alerts/notifications.ts';
import type { Announcement, Transition } from '../core/alert.ts';
import type { StoredTransition } from '../core/delivery.ts';
import { dayMs, type EpochMs } from '../core/time.ts';

/** What happened longer ago is on the page only. A moment ahead, before the clock was set back, is not long ago. */
const longestMs = 3 * dayMs;
/** So many wait, the newest. */
const most = 1_000;

interface Look {
  readonly unnotified: readonly StoredTransition[];
  /** What people know, by fingerprint. */
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly now: EpochMs;
}

export class Waiting {
  /** By the id of a transition that the store has as not notified: when it was. */
  readonly #since = new Map<number, EpochMs>();

  /** There is a channel: nothing waits. */
  end(): void {
    this.#since.clear();
  }

  /** Without what waits. What has waited for too long is among them again. */
  others(unnotified: readonly StoredTransition[], now: EpochMs): readonly StoredTransition[] {
    for (const [id, at] of this.#since) if (now - at >= longestMs) this.#since.delete(id);
    return this.#since.size === 0 ? unnotified : unnotified.filter(({ id }) => !this.#since.has(id));
  }

  /** What is left of a look's notifications without a channel: the rest waits from now on. */
  rest(notifications: readonly Notification[], { unnotified, announced, now }: Look): readonly Notification[] {
    const isKnown = (known: Announcement | undefined) => known !== undefined && known.channels?.length !== 0;
    const mayWait = ({ kind, at, alert }: Transition) =>
      now - at < longestMs && (kind === 'event' || (kind === 'resolved' && isKnown(announced.get(alert.fingerprint))));
    const news = new Set(
      notifications.flatMap((one) => one.news.filter(mayWait)).map(({ alert }) => alert.fingerprint),
    );
    const due = new Set(notifications.flatMap(({ ids }) => ids));
    for (const { id, transition } of unnotified)
      if (due.has(id) && news.has(transition.alert.fingerprint)) this.#since.set(id, transition.at);
    const newest = [...this.#since.keys()].sort((one, other) => other - one);
    for (const id of newest.slice(most)) this.#since.delete(id);
    const waits = new Set(
      unnotified.filter(({ id }) => this.#since.has(id)).map(({ transition }) => transition.alert.fingerprint),
    );
    return notifications
      .map((one) => ({
        ...one,
        ids: one.ids.filter((id) => !this.#since.has(id)),
        news: one.news.filter((step) => !(mayWait(step) && waits.has(step.alert.fingerprint))),
      }))
      .filter(({ ids, news: left, late }) => ids.length + left.length + late.length > 0);
  }
}
