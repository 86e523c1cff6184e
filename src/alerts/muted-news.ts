// News that waits for the end of a channel's mute time: one entry for each alert and incident, with its latest step. Each
// step of an event waits: a second pause is other news. Pure.
import type { Alert, Transition } from '../core/alert.ts';
import type { MutedNews, MutedNewsChanges } from '../core/records.ts';
import type { EpochMs } from '../core/time.ts';
import { type GroupMessage, incidentMessageOf, messageOf } from './grouping.ts';
import { type Routed, withNewestFacts } from './notifications.ts';

/** Entries by channel and subject. */
export type WaitingNews = ReadonlyMap<string, MutedNews>;

interface MutableChannel {
  readonly name: string;
  readonly keepsOpen?: boolean;
}

export interface IncidentReport {
  readonly message: GroupMessage;
  /** Mailboxes that the channel may see, as alerts. */
  readonly members: readonly Alert[];
  /** True if the channel was notified of the incident before. */
  readonly isKnown: boolean;
}

interface MuteFacts {
  readonly now: EpochMs;
  readonly isMuted: (channel: string, alert: Alert) => boolean;
  readonly isSilenced: (alert: Alert) => boolean;
  /** True from the beginning of an alert until its end is news. */
  readonly isAnnounced: (fingerprint: string) => boolean;
  /** True if the channel was notified of the alert, or is about to be. */
  readonly isKnown: (channel: string, fingerprint: string) => boolean;
  /** Firing alerts by fingerprint. */
  readonly firing: ReadonlyMap<string, Alert>;
}

/** Mailboxes of a waiting incident whose routes decide when its mute time ends. */
const maxMembers = 20;

const keyOf = (channel: string, about: string) => `${channel} ${about}`;

export function waitingNews(entries: Iterable<MutedNews>): WaitingNews {
  return new Map([...entries].map((one) => [keyOf(one.channel, one.about), one]));
}

/** True if everything that the channel is to read about the alert waits. */
export function isUnheard(waiting: WaitingNews, channel: string, fingerprint: string): boolean {
  if (waiting.get(keyOf(channel, fingerprint))?.isKnown === false) return true;
  const isHere = ({ incident, isKnown, transitions, ...one }: MutedNews) =>
    incident !== null &&
    !isKnown &&
    one.channel === channel &&
    transitions.some(({ alert }) => alert.fingerprint === fingerprint);
  return [...waiting.values()].some(isHere);
}

/** Changes of one look, which take effect once they are stored. */
export class MuteLook {
  readonly #stored: WaitingNews;
  readonly #facts: MuteFacts;
  readonly #entries: Map<string, MutedNews>;

  constructor(stored: WaitingNews, facts: MuteFacts) {
    this.#stored = stored;
    this.#facts = facts;
    this.#entries = new Map(stored);
  }

  after(): WaitingNews {
    return this.#entries;
  }

  /** Returns null if nothing changed. */
  changes(): MutedNewsChanges | null {
    const kept = [...this.#entries.values()].filter((one) => this.#stored.get(keyOf(one.channel, one.about)) !== one);
    const dropped = [...this.#stored].flatMap(([key, one]) => (this.#entries.has(key) ? [] : [one]));
    return kept.length + dropped.length === 0 ? null : { kept, dropped };
  }

  /**
   * Returns the step as the channel gets it now, or null if it waits, or is never sent. Reminders do not wait. `to`: every
   * channel that gets the step.
   */
  step({ name, keepsOpen }: MutableChannel, step: Transition, to: readonly string[]): Transition | null {
    const { fingerprint: about } = step.alert;
    const earlier = this.#entries.get(keyOf(name, about));
    const isMuted = this.#facts.isMuted(name, step.alert);
    const { foretold, ...loud } = step;
    const isNewHere = step.movedFrom !== undefined && isUnheard(this.#stored, name, step.movedFrom);
    const next = isNewHere ? loud : step;
    if (!earlier && !isMuted) return next;
    if (step.kind === 'reminder') return null;
    const isKnown = earlier?.isKnown ?? (this.#facts.isKnown(name, about) && !isUnheard(this.#stored, name, about));
    const news = { channel: name, about, isKnown, ...this.#waitOf(earlier, to) };
    if (step.kind === 'event') {
      if (!isMuted) return next;
      this.#keep({ ...news, transitions: [...(earlier?.transitions ?? []), next], incident: null, members: [] });
      return null;
    }
    this.#entries.delete(keyOf(name, about));
    const isEnd = step.kind === 'resolved';
    if (isEnd && !isKnown && (keepsOpen || foretold)) return null;
    const sum = summed(next, earlier?.transitions[0], isKnown);
    // The end of what a receiver keeps open disturbs no person, and an open page would.
    if (!isMuted || (isEnd && keepsOpen)) return sum;
    this.#keep({ ...news, transitions: [sum], incident: null, members: [] });
    return null;
  }

  /** Like `step`, for a message about an incident. */
  incident(
    channel: MutableChannel,
    { message, members, isKnown }: IncidentReport,
    to: readonly string[],
  ): GroupMessage | null {
    const { incident, transitions, at } = message;
    const { name, keepsOpen } = channel;
    if (incident === null)
      return messageOf(
        message.group,
        transitions.flatMap((one) => this.step(channel, one, to) ?? []),
        at,
      );
    const steps = new Map(transitions.map((one) => [one.alert.fingerprint, one]));
    for (const fingerprint of steps.keys()) this.#entries.delete(keyOf(name, fingerprint));
    const { id: about } = incident;
    const earlier = this.#entries.get(keyOf(name, about));
    const news: MutedNews = {
      ...{
        channel: name,
        about,
        isKnown: earlier?.isKnown ?? isKnown,
        ...this.#waitOf(earlier, to),
        incident,
        members: members.slice(0, maxMembers),
      },
      transitions: [
        ...(earlier?.transitions.filter(({ alert }) => !steps.has(alert.fingerprint)) ?? []),
        ...transitions,
      ],
    };
    const isMuted = this.#isMuted({ ...news, transitions, members });
    if (!earlier && !isMuted) return message;
    this.#entries.delete(keyOf(name, about));
    const isKnownEnd = incident.step === 'ended' && keepsOpen && news.isKnown;
    if (!isMuted || isKnownEnd) return this.#incidentMessage(channel, news, at);
    this.#keep(news);
    return null;
  }

  /** Takes out what no longer waits: messages about incidents, and the steps of all other alerts. */
  takeDue(channel: MutableChannel, now: EpochMs) {
    const due = [...this.#entries].filter(([, one]) => one.channel === channel.name && !this.#waits(one));
    for (const [key] of due) this.#entries.delete(key);
    const news = due.map(([, one]) => one);
    return {
      incidents: news.flatMap((one) => (one.incident && this.#incidentMessage(channel, one, now)) ?? []),
      steps: news.flatMap(({ incident, transitions }) => (incident ? [] : this.#newest(transitions))),
      since: Math.min(...news.flatMap(({ incident, since }) => (incident ? [] : since))),
    };
  }

  /**
   * Takes out what waits for channels that the configuration no longer has, as news for the heirs of each alert that do not
   * know it. What is silenced waits on, and so does what `heirsOf` has no heirs for (null).
   */
  handOver(
    channels: readonly string[],
    heirsOf: (alert: Alert, to: readonly string[]) => readonly string[] | null,
  ): readonly Routed[] {
    const handed = new Map<string, Routed>();
    for (const [key, news] of this.#entries) {
      if (channels.includes(news.channel)) continue;
      const waiting: Transition[] = [];
      for (const transition of news.transitions.filter((one) => this.#isForHeirs(one, news))) {
        const { kind, at, alert } = transition;
        const isQuiet = kind !== 'resolved' && this.#facts.isSilenced(alert);
        const heirs = isQuiet ? null : heirsOf(alert, news.to);
        if (heirs === null) {
          waiting.push(transition);
          continue;
        }
        const to = heirs.filter((name) => !news.to.includes(name) && !this.#facts.isKnown(name, alert.fingerprint));
        const step = summed(withNewestFacts(transition, this.#facts.firing), undefined, false);
        const id = `${alert.fingerprint} ${kind === 'event' ? at : ''}`;
        if (to.length > 0) handed.set(id, { transition: step, to });
      }
      if (waiting.length === 0) this.#entries.delete(key);
      else if (waiting.length < news.transitions.length) this.#keep({ ...news, transitions: waiting });
    }
    return [...handed.values()];
  }

  /** False for the end of what the removed channel knew, and for the beginning of what ended since. */
  #isForHeirs({ kind, alert }: Transition, { isKnown }: MutedNews): boolean {
    if (kind === 'event') return true;
    const isOver = !this.#facts.isAnnounced(alert.fingerprint);
    return kind === 'resolved' ? isOver && !isKnown : !isOver;
  }

  #waitOf(earlier: MutedNews | undefined, to: readonly string[]): Pick<MutedNews, 'since' | 'to'> {
    return { since: earlier?.since ?? this.#facts.now, to: [...new Set([...(earlier?.to ?? []), ...to])] };
  }

  #keep(news: MutedNews): void {
    this.#entries.set(keyOf(news.channel, news.about), news);
  }

  /**
   * An alert that ended waits for its end, which comes with the news of its group. A silence of some mailboxes of an
   * incident keeps nothing of the others back.
   */
  #waits(news: MutedNews): boolean {
    const { incident, transitions } = news;
    const isEnding = incident === null && this.#newest(transitions).length === 0;
    const begun = transitions.filter(({ kind }) => kind !== 'resolved');
    const isQuiet = begun.length > 0 && begun.every(({ alert }) => this.#facts.isSilenced(alert));
    return isEnding || isQuiet || this.#isMuted(news);
  }

  #isMuted({ channel, transitions, members }: MutedNews): boolean {
    const alerts = [...transitions.map(({ alert }) => alert), ...members];
    return alerts.length > 0 && alerts.every((alert) => this.#facts.isMuted(channel, alert));
  }

  #incidentMessage({ keepsOpen }: MutableChannel, news: MutedNews, now: EpochMs): GroupMessage | null {
    const { about, isKnown, incident, since: waitedSince } = news;
    const newest = this.#newest(news.transitions);
    if (incident === null) return messageOf(about, newest, now);
    const isUnknownEnd = incident.step === 'ended' && keepsOpen && !isKnown;
    if (isUnknownEnd)
      return messageOf(
        about,
        newest.filter((one) => one.kind !== 'resolved'),
        now,
      );
    const step = incident.step === 'ended' || isKnown ? incident.step : 'began';
    return { ...incidentMessageOf({ ...incident, step }, newest, now), waitedSince };
  }

  /** Steps with the newest facts, without beginnings of alerts that have ended since. */
  #newest(steps: readonly Transition[]): readonly Transition[] {
    const { firing } = this.#facts;
    return steps
      .filter(({ kind, alert }) => kind === 'resolved' || kind === 'event' || firing.has(alert.fingerprint))
      .map((one) => withNewestFacts(one, firing));
  }
}

/** Returns the step that replaces the earlier one, which waited. `isKnown`: the channel was notified before. */
function summed(step: Transition, earlier: Transition | undefined, isKnown: boolean): Transition {
  if (isKnown) return earlier?.kind === 'worsened' && step.kind === 'firing' ? { ...step, kind: 'worsened' } : step;
  if (step.kind === 'resolved') return { ...step, brief: true };
  return step.kind === 'worsened' ? { ...step, kind: 'firing' } : step;
}
