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
   * Hands what waits for other channels, which the configuration no longer has, to those that its alerts lead to now and
   * that did not get it. Returns the steps of alerts with their new channels, and as orphans what no channel gets.
   */
  keepOnly(
    channels: readonly string[],
    wanted: (alert: Alert) => readonly string[],
  ): { readonly handed: readonly Routed[]; readonly orphans: readonly MutedNews[] } {
    const gone = [...this.#entries].filter(([, { channel }]) => !channels.includes(channel));
    for (const [key] of gone) this.#entries.delete(key);
    const handed: Routed[] = [];
    const orphans: MutedNews[] = [];
    for (const news of gone.flatMap(([, one]) => this.#forHeirs(one))) {
      const { about, to, members, transitions } = news;
      const alerts = [...transitions.map(({ alert }) => alert), ...members];
      if (alerts.length === 0) continue;
      const isNew = (name: string, { fingerprint }: Alert) =>
        !to.includes(name) && !this.#entries.has(keyOf(name, about)) && !this.#facts.isKnown(name, fingerprint);
      const heirs = [...new Set(alerts.flatMap((alert) => wanted(alert).filter((name) => isNew(name, alert))))];
      for (const channel of heirs) this.#keep({ ...news, isKnown: false, channel, to: [...to, ...heirs] });
      if (heirs.length > 0) handed.push(...transitions.map((transition) => ({ transition, to: heirs })));
      const isRead = channels.some((name) => to.includes(name)) || alerts.some((alert) => wanted(alert).length > 0);
      if (!isRead) orphans.push(news);
    }
    return { handed, orphans };
  }

  /**
   * The heirs did not get a beginning that the removed channel got: its end is no news, and its worsening is a beginning. Of
   * an incident that ended, each alert that still fires and each event is news of its own.
   */
  #forHeirs(news: MutedNews): readonly MutedNews[] {
    if (!news.isKnown) return [news];
    const transitions = news.transitions
      .filter(({ kind }) => kind !== 'resolved')
      .map((one) => (one.kind === 'worsened' ? { ...one, kind: 'firing' as const } : one));
    if (news.incident?.step !== 'ended') return [{ ...news, transitions }];
    const single = { ...news, incident: null, members: [] };
    return [...Map.groupBy(this.#newest(transitions), ({ alert }) => alert.fingerprint)].map(([about, steps]) => ({
      ...{ ...single, about },
      transitions: steps,
    }));
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
    const step = incident.step === 'grew' && !isKnown ? 'began' : incident.step;
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
