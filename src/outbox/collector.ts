// Turns recorded transitions, and what goes on for long, into deliveries once their groups have waited long enough.
import { type EarlyStep, earlySteps } from '../alerts/engine.ts';
import { groupOf, joinedGroups, MessageParts } from '../alerts/grouping.ts';
import { hasCause, isExplained, isStoodFor } from '../alerts/incidents.ts';
import { type Notification, notificationsOf, type Routed, withRunbook } from '../alerts/notifications.ts';
import { type AlertRoute, channelsFor, isForPeople, joinedChannels, mutes, pauseEnd } from '../alerts/routing.ts';
import { isDisarming } from '../alerts/rules/protection-rule.ts';
import type { Alert, Announcement, Severity, Transition } from '../core/alert.ts';
import type { NewDelivery, StoredTransition } from '../core/delivery.ts';
import type { RuleSettings } from '../core/rule-settings.ts';
import { dayMs, type EpochMs, minuteMs } from '../core/time.ts';
import { deliveryOf, notificationLogAfter, type RoutedGroup } from './delivery-of.ts';
import {
  type IncidentNews,
  type IncidentReaders,
  type IncidentsOfLook,
  lookAtIncidents,
  newsOfIncident,
} from './incidents.ts';
import type { RecordingParts } from './outbox-store.ts';

/** How messages are grouped and where they go. */
export interface NotifySettings {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** After this a firing alert is announced again; null: never. */
  readonly repeatIntervalMs: Readonly<Record<Severity, number | null>>;
  /** Without any: every channel gets warning and critical. */
  readonly routes: readonly AlertRoute[];
  readonly rules: Pick<RuleSettings, 'timeZone'>;
}

export interface CollectorParts extends RecordingParts {
  readonly settings: () => NotifySettings;
  /** The base_url of an account; null when it is not configured. */
  readonly apiOf: (account: string) => string | null;
  /** Base of the links to the page; null when there is no page. */
  readonly pageUrl: string | null;
}

/** What one look led to. */
interface LookOutcome {
  readonly notifications: readonly Notification[];
  readonly early: readonly EarlyStep[];
  readonly incidents: IncidentsOfLook;
  readonly firing: readonly Alert[];
}

/** Transitions that one look takes. */
const lookLimit = 10_000;
/** A look without any reason, in case that a wake was missed. Reminders come by it. */
export const idleMs = 30_000;
/** More groups than this that are due at once make one message for a channel: the count and the worst. */
const maxMessagesALook = 4;
/** The group of such a message. */
const manyGroup = 'many';
/** So long after its cause ended an alert may still be its consequence: the next round of polls ends it. */
const aftermathMs = 30 * minuteMs;

export class Collector {
  readonly #parts: CollectorParts;
  /** What people know, by fingerprint; null until the store was asked. */
  #announced: Map<string, Announcement> | null = null;
  /** The time as it was at the last look. */
  #seenAt = Number.POSITIVE_INFINITY;
  /** When each group was announced last. */
  readonly #lastNotified = new Map<string, EpochMs>();
  /** Until when the aftermath of an account's outage explains its old data. */
  readonly #explainedUntil = new Map<string, EpochMs>();
  /** What waits for a channel. */
  readonly #waiting = new WaitingForChannel();
  /** Who waits for the next look, in which no group waits. */
  readonly #hurried: (() => void)[] = [];
  /** The next look, on the monotonic scale. */
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Something was committed. It waits for group_wait anyway, so a look before that would be in vain. */
  noticed(): void {
    const { world, settings } = this.#parts;
    this.#lookAt = Math.min(this.#lookAt, world.clock.monotonic() + settings().groupWaitMs);
  }

  /** The next look is now, and makes messages of what waits for its group. Resolves after it, however it went. */
  hurry(): Promise<void> {
    this.#lookAt = Number.NEGATIVE_INFINITY;
    return new Promise((resolve) => this.#hurried.push(resolve));
  }

  /** Whether people were notified through the channel that the alert fires. Nobody was before the first look. */
  hasNotified(channel: string, alert: Alert): boolean {
    const known = this.#announced?.get(alert.fingerprint);
    return known !== undefined && (known.channels ?? this.#wantedBy(alert)).includes(channel);
  }

  /** Protection that is switched off is for every person, whatever the routes; a recipe only acts. */
  #wantedBy(alert: Alert): readonly string[] {
    const channels = this.#parts.channels();
    if (isDisarming(alert)) return channels.filter(isForPeople).map(({ name }) => name);
    return channelsFor(alert, this.#parts.settings().routes, channels);
  }

  /** One look, if it is time. Returns how long to wait for the next one, milliseconds. */
  async step(): Promise<number> {
    const { clock } = this.#parts.world;
    const early = this.#lookAt - clock.monotonic();
    if (early > 0) return early;
    // What is committed while we look moves this down again.
    this.#lookAt = clock.monotonic() + idleMs;
    const hurried = this.#hurried.splice(0);
    try {
      const next = await this.#look(hurried.length > 0);
      this.#lookAt = Math.min(this.#lookAt, clock.monotonic() + next);
    } catch (error) {
      this.#lookAt = Number.NEGATIVE_INFINITY;
      throw error;
    } finally {
      for (const done of hurried) done();
    }
    return Math.max(0, this.#lookAt - clock.monotonic());
  }

  /** Records what is due. Returns when something may be due next, milliseconds from now. */
  async #look(hurries: boolean): Promise<number> {
    const { settings, fleet } = this.#parts;
    const announced = await this.#known();
    // Before the transitions are read: what fires here has its transition among them, or people know of it.
    // That the store fails was announced without it; its beginning is recorded with its end.
    const isRecorded = ({ rule, status }: Alert) => status === 'firing' && rule !== 'store_failing';
    const firing = [...fleet.alerts()].filter(isRecorded);
    const unnotified = await this.#unnotified();
    const now = this.#now(announced);
    const { repeatIntervalMs, ...waits } = settings();
    const { groupWaitMs, groupIntervalMs } = hurries ? { groupWaitMs: 0, groupIntervalMs: 0 } : waits;
    const full = unnotified.length >= lookLimit;
    const lastNotified = (group: string) => this.#lastNotified.get(group);
    const keptFrom = (account: string) => fleet.sweep(account)?.keptFrom ?? null;
    const incidents = lookAtIncidents(fleet, { firing, unnotified, now }, this.#parts.apiOf);
    const timing = { now, groupWaitMs, groupIntervalMs, lastNotified, full, keptFrom, incidents };
    const muted = this.#mutes(now);
    const { notifications, nextDueAt } = notificationsOf({
      unnotified,
      announced,
      firing,
      muted,
      wanted: (alert) => this.#wantedBy(alert).length > 0,
      joined: (alert) => this.#joined(alert, announced).length > 0,
      repeatIntervalMs,
      timing,
    });
    const isHeard = this.#parts.channels().length > 0;
    const made = isHeard ? notifications : this.#waiting.rest(notifications, { unnotified, announced, now });
    const all = [...made, ...this.#pauseEnds(announced, now)];
    const early = earlySteps({
      unnotified,
      due: new Set(all.flatMap(({ ids }) => ids)),
      announced,
      muted,
      keepers: this.#parts.channels().flatMap(({ name, keepsOpen }) => (keepsOpen ? [name] : [])),
    });
    await this.#record({ notifications: all, early, incidents, firing }, announced, now);
    return full ? 0 : Math.min(idleMs, (nextDueAt ?? Number.POSITIVE_INFINITY) - now);
  }

  async #unnotified(): Promise<readonly StoredTransition[]> {
    const { world, store } = this.#parts;
    const all = await store.outbox.unnotifiedTransitions(lookLimit);
    if (this.#parts.channels().length > 0) this.#waiting.end();
    return this.#waiting.others(all, world.clock.now());
  }

  async #known(): Promise<Map<string, Announcement>> {
    if (this.#announced) return this.#announced;
    const { announcements, groups } = await this.#parts.store.outbox.loadNotificationLog();
    for (const { group, at } of groups) this.#lastNotified.set(group, at);
    this.#announced = new Map(announcements.map((one) => [one.fingerprint, one]));
    return this.#announced;
  }

  /**
   * The time. When the clock was set back, what was announced later than that, by the clock as it was, counts as announced now: its
   * reminder is due after its interval, neither at once nor when the clock has caught up.
   */
  #now(announced: Map<string, Announcement>): EpochMs {
    const now = this.#parts.world.clock.now();
    if (now < this.#seenAt)
      for (const [fingerprint, one] of announced) if (one.at > now) announced.set(fingerprint, { ...one, at: now });
    this.#seenAt = now;
    return now;
  }

  /** What nobody is notified of at that moment: silenced, or explained by an API that is down or just was. */
  #mutes(now: EpochMs): (alert: Alert) => boolean {
    const { fleet } = this.#parts;
    const current = (fingerprint: string) => fleet.alert(fingerprint);
    for (const account of new Set([...fleet.wideAlerts()].map((alert) => alert.account))) {
      if (hasCause(account, current)) this.#explainedUntil.set(account, now + aftermathMs);
    }
    const silences = fleet.silences(now);
    return (alert) =>
      isExplained(alert, this.#explainedUntil.get(alert.account) ?? Number.NEGATIVE_INFINITY, now) ||
      isStoodFor(alert, current) ||
      silences.some(({ match }) => mutes(match, alert));
  }

  /** The ends of pauses that a channel follows. */
  #pauseEnds(announced: ReadonlyMap<string, Announcement>, now: EpochMs): readonly Notification[] {
    const { fleet } = this.#parts;
    const silences = fleet.silences(now);
    const facts = {
      now,
      mailbox: (account: string, id: string) => fleet.mailbox(account, id),
      silenced: (alert: Alert) => silences.some(({ match }) => mutes(match, alert)),
    };
    const ends = [...announced.values()].map((one) => pauseEnd(one, facts)).filter((end) => end !== null);
    return ends.map((end) => ({ group: groupOf(end.alert), ids: [], news: [end], late: [] }));
  }

  async #record(
    { notifications, early, incidents, firing }: LookOutcome,
    announced: Map<string, Announcement>,
    now: EpochMs,
  ) {
    const routed: readonly RoutedGroup[] = notifications.map(({ group, news }) => ({
      group,
      news: news.map((one) => this.#route(one, announced)),
      inIncident: incidents.all.some(({ id }) => id === group),
    }));
    const late = notifications
      .flatMap((one) => one.late)
      .map((one) => ({ ...this.#route(one, announced), to: this.#joined(one.alert, announced) }));
    const readers = this.#readers(firing, now);
    const ofIncidents = incidents.all.flatMap((incident) => {
      const news = routed.find(({ group }) => group === incident.id)?.news ?? [];
      return newsOfIncident(incident, news, readers) ?? [];
    });
    const plain = routed.filter(({ inIncident }) => !inIncident);
    const deliveries = [
      ...this.#deliveriesOfIncidents(ofIncidents),
      ...this.#deliveriesOf(plain, now),
      ...this.#deliveriesOf(early.map(aloneInItsGroup), now),
      ...this.#deliveriesOf(late.map(aloneInItsGroup), now),
    ];
    const announcedIncidents = new Map(ofIncidents.map(({ incident }) => [incident.id, incident]));
    const changed = incidents.all
      .filter((one) => announcedIncidents.has(one.id) || incidents.changed.includes(one))
      .map((one) => announcedIncidents.get(one.id) ?? one);
    if (notifications.length === 0 && early.length === 0 && changed.length === 0) return;
    const followers = this.#parts.channels().filter(({ followsPauses }) => followsPauses === true);
    const notificationLog = notificationLogAfter(
      { groups: routed, early, late, incidents: ofIncidents },
      { before: announced, now, followers: followers.map(({ name }) => name) },
    );
    const transitionIds = notifications.flatMap(({ ids }) => ids);
    const record = { transitionIds, deliveries, notificationLog, incidents: changed, now };
    await this.#parts.store.outbox.recordDeliveries(record);
    for (const one of notificationLog.announced) announced.set(one.fingerprint, one);
    for (const fingerprint of notificationLog.ended) announced.delete(fingerprint);
    for (const group of notificationLog.groups) this.#lastNotified.set(group, now);
    for (const one of changed) this.#parts.fleet.putIncident(one);
    const critical = routed.flatMap(({ news }) =>
      news.flatMap(({ transition, to }) => (transition.alert.severity === 'critical' ? to : [])),
    );
    if (deliveries.length > 0) this.#parts.recorded(new Set(critical));
  }

  #readers(firing: readonly Alert[], now: EpochMs): IncidentReaders {
    const { channels, settings, pageUrl, fleet, apiOf, world } = this.#parts;
    const { routes, rules } = settings();
    const words = { zone: rules.timeZone, pageUrl, command: world.command };
    return { now, fleet, apiOf, channels: channels(), routes, firing, ...words };
  }

  #deliveriesOfIncidents(news: readonly IncidentNews[]): readonly NewDelivery[] {
    return news
      .flatMap(({ messages }) => messages)
      .flatMap(({ channel: name, message }) => {
        const channel = this.#parts.channels().find((one) => one.name === name);
        return (channel && deliveryOf(channel, message, this.#parts.world.log)) ?? [];
      });
  }

  /** Channels for a transition. The end of an alert goes to the channels that got its beginning and not yet its end, whatever the routes are now. */
  #route(transition: Transition, announced: ReadonlyMap<string, Announcement>): Routed {
    const { channels: known, closed = [] } = announced.get(transition.alert.fingerprint) ?? {};
    const isEnd = transition.kind === 'resolved' && known;
    const isReopened = transition.kind === 'firing' && closed.length > 0 && !transition.alert.unstable;
    const others = isReopened ? closed : this.#wantedBy(transition.alert);
    const to = isEnd ? known.filter((name) => !closed.includes(name)) : others;
    return { transition: withRunbook(transition, this.#parts.pageUrl), to };
  }

  #joined(alert: Alert, announced: ReadonlyMap<string, Announcement>): readonly string[] {
    const { channels, settings } = this.#parts;
    return joinedChannels(alert, announced.get(alert.fingerprint), settings().routes, channels());
  }

  /** One message a group and channel; of a storm one message a channel. */
  #deliveriesOf(groups: readonly Pick<RoutedGroup, 'group' | 'news'>[], now: EpochMs): readonly NewDelivery[] {
    const deliveries: NewDelivery[] = [];
    for (const channel of this.#parts.channels()) {
      const wanted: { readonly group: string; readonly transitions: readonly Transition[] }[] = [];
      for (const { group, news } of groups) {
        const transitions = news.filter(({ to }) => to.includes(channel.name)).map(({ transition }) => transition);
        if (transitions.some(({ foretold }) => !(foretold && channel.forPeople))) wanted.push({ group, transitions });
      }
      const storm = wanted.length > maxMessagesALook;
      const messages = storm
        ? [{ group: manyGroup, transitions: wanted.flatMap((one) => one.transitions) }]
        : joinedGroups(wanted);
      for (const { group, transitions } of messages) {
        const parts = new MessageParts();
        for (const one of transitions) parts.put(one);
        const message = parts.message(group, now);
        const delivery = message && deliveryOf(channel, message, this.#parts.world.log);
        if (delivery) deliveries.push(delivery);
      }
    }
    return deliveries;
  }
}

function aloneInItsGroup(one: Routed): Pick<RoutedGroup, 'group' | 'news'> {
  return { group: groupOf(one.transition.alert), news: [one] };
}

// What waits for a channel while there is none at all: what happened, and the end of what people know. Bounded. What fires need not
// wait: whatever channel wants it is notified of it when it comes.

/** What happened longer ago is on the page only. A moment ahead, before the clock was set back, is not long ago. */
const longestWaitMs = 3 * dayMs;
/** So many wait, the newest. */
const mostWaiting = 1_000;

interface LookResult {
  readonly unnotified: readonly StoredTransition[];
  /** What people know, by fingerprint. */
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly now: EpochMs;
}

class WaitingForChannel {
  /** By the id of a transition that the store has as not notified: when it was. */
  readonly #since = new Map<number, EpochMs>();

  /** There is a channel: nothing waits. */
  end(): void {
    this.#since.clear();
  }

  /** Without what waits. What has waited for too long is among them again. */
  others(unnotified: readonly StoredTransition[], now: EpochMs): readonly StoredTransition[] {
    for (const [id, at] of this.#since) if (now - at >= longestWaitMs) this.#since.delete(id);
    return this.#since.size === 0 ? unnotified : unnotified.filter(({ id }) => !this.#since.has(id));
  }

  /** What is left of a look's notifications without a channel: the rest waits from now on. */
  rest(notifications: readonly Notification[], { unnotified, announced, now }: LookResult): readonly Notification[] {
    const isKnown = (known: Announcement | undefined) => known !== undefined && known.channels?.length !== 0;
    const mayWait = ({ kind, at, alert }: Transition) =>
      now - at < longestWaitMs &&
      (kind === 'event' || (kind === 'resolved' && isKnown(announced.get(alert.fingerprint))));
    const news = new Set(
      notifications.flatMap((one) => one.news.filter(mayWait)).map(({ alert }) => alert.fingerprint),
    );
    const due = new Set(notifications.flatMap(({ ids }) => ids));
    for (const { id, transition } of unnotified)
      if (due.has(id) && news.has(transition.alert.fingerprint)) this.#since.set(id, transition.at);
    const newest = [...this.#since.keys()].sort((one, other) => other - one);
    for (const id of newest.slice(mostWaiting)) this.#since.delete(id);
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
