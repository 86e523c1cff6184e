// Steps that a receiver that keeps alerts open hears of at once, while people wait for the message of the group: an alert ended, and
// fires again after that. Pure.
import type { Alert, Announcement, Transition } from '../model/alert.ts';
import type { StoredTransition } from '../model/delivery.ts';
import type { Routed } from './notifications.ts';
import { eachInPieces } from './pieces.ts';
import { endAsTold } from './quiet-ends.ts';

export interface EarlyFacts {
  /** In the order of their ids. */
  readonly unnotified: readonly StoredTransition[];
  /** Ids of those that are announced now. */
  readonly due: ReadonlySet<number>;
  /** Announcements that people have got, by fingerprint. */
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly muted: (alert: Alert) => boolean;
  /** Names of channels whose receivers keep alerts open. */
  readonly keepers: readonly string[];
  /** Called between pieces of long lists: lets others have a turn. */
  readonly pause: () => Promise<void>;
}

/** A step for some channels, and what people know after it. */
export interface EarlyStep extends Routed {
  readonly announcement: Announcement;
}

export async function earlySteps({ unnotified, due, announced, muted, keepers, pause }: EarlyFacts) {
  const latest = new Map<string, Transition>();
  if (keepers.length > 0)
    await eachInPieces(unnotified, pause, ({ id, transition }) => {
      if (!due.has(id)) latest.set(transition.alert.fingerprint, transition);
    });
  const steps: EarlyStep[] = [];
  for (const transition of latest.values()) {
    const known = announced.get(transition.alert.fingerprint);
    if (!known || known.onlyInIncident) continue;
    const { closed = [], ...rest } = known;
    if (transition.kind === 'resolved') {
      const to = (known.channels ?? []).filter((name) => keepers.includes(name) && !closed.includes(name));
      if (to.length > 0)
        steps.push({
          transition: endAsTold(transition, known),
          to,
          announcement: { ...rest, closed: [...closed, ...to] },
        });
    } else if (closed.length > 0 && !muted(transition.alert))
      steps.push({ transition: { ...transition, kind: 'firing' }, to: closed, announcement: rest });
  }
  return steps;
}
