// Turns recorded transitions, and alerts that last, into deliveries once their groups have waited long enough.

import { alertFor, messageFor, type PartContext, withStanding } from '../alerts/client-part.ts';
import { type EarlyStep, earlySteps } from '../alerts/engine.ts';
import { type GroupMessage, groupOf, messageOf, partsOf } from '../alerts/grouping.ts';
import { isUnheard, MuteLook, type WaitingNews, waitingNews } from '../alerts/muted-news.ts';
import { type Notification, notificationsOf, type Routed, withLinks, withTags } from '../alerts/notifications.ts';
import {
  type AlertRoute,
  channelsFor,
  isMuted,
  isReadByPeople,
  joinedAs,
  mutes,
  type RoutingFacts,
  readersOf,
} from '../alerts/routing.ts';
import { isOutage } from '../alerts/rules/account-rules.ts';
import type { Channel } from '../channels/channel.ts';
import { type AlertTemplate, inOwnWords } from '../channels/template.ts';
import type { Alert, Announcement, Transition } from '../core/alert.ts';
import { type RuleSettings, ruleBook, type Severity } from '../core/alert-rules.ts';
import type { NewDelivery, StoredTransition } from '../core/delivery.ts';
import { dayMs, type EpochMs, type MuteTime, minuteMs, muteTimesOn } from '../core/time.ts';
import { deliveryOf, notificationLogAfter, type RoutedGroup } from './delivery-of.ts';
import {
  type IncidentNews,
  type IncidentReaders,
  type IncidentsOfLook,
  lookAtIncidents,
  newsOfIncident,
} from './incidents.ts';
import type { RecordingParts } from './outbox-store.ts';

export interface NotifySettings {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatIntervalMs: Readonly<Record<Severity, number | null>>;
  readonly routes: readonly AlertRoute[];
  readonly muteTimes: readonly MuteTime[];
  readonly rules: Pick<RuleSettings, 'timeZone'>;
  readonly templates: readonly AlertTemplate[];
}

export interface CollectorParts extends RecordingParts {
  readonly settings: () => NotifySettings;
  readonly apiOf: (account: string) => string | null;
  readonly pageUrl: string | null;
}

interface LookOutcome {
  readonly notifications: readonly Notification[];
  /** News for the heirs of removed channels, which has a look of its own. */
  readonly handed?: readonly Routed[];
  readonly early: readonly EarlyStep[];
  readonly incidents: Pick<IncidentsOfLook, 'all' | 'changed'>;
  readonly firing: readonly Alert[];
  readonly mutes: MuteLook;
}

const lookLimit = 10_000;
/** Interval of the looks without a wake-up, in case that one was missed. Reminders depend on it. */
export const idleMs = 30_000;
/** Groups due at once that get a message each; more share one message with their count and the worst. */
const maxMessagesALook = 4;
const manyGroup = 'many';
/** Period after the end of a cause in which an alert may still be its consequence: the next round of polls ends it. */
const aftermathMs = 30 * minuteMs;

export class Collector {
  readonly #parts: CollectorParts;
  #announced: Map<string, Announcement> | null = null;
  #waiting: WaitingNews = new Map();
  /** Fingerprints of alerts that wait for a channel that may show them. Each is logged once. */
  readonly #unread = new Set<string>();
  #seenAt = Number.POSITIVE_INFINITY;
  readonly #lastNotified = new Map<string, EpochMs>();
  /** End of the aftermath of an account's outage, which explains its old data. */
  readonly #explainedUntil = new Map<string, EpochMs>();
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** News waits for group_wait anyway, so an earlier look would find nothing to send. */
  noticed(): void {
    const { world, settings } = this.#parts;
    this.#lookAt = Math.min(this.#lookAt, world.clock.monotonic() + settings().groupWaitMs);
  }

  /** True if people were notified through the channel that the alert fires. False before the first look. */
  hasNotified(channel: string, alert: Alert): boolean {
    const known = this.#announced?.get(alert.fingerprint);
    if (known === undefined || isUnheard(this.#waiting, channel, alert.fingerprint)) return false;
    return (known.channels ?? this.#wantedBy(alert)).includes(channel);
  }

  /** Numbers of alerts and incidents that wait for the end of a mute time, by channel. */
  waiting(): ReadonlyMap<string, number> {
    const byChannel = Map.groupBy(this.#waiting.values(), ({ channel }) => channel);
    return new Map([...byChannel].map(([channel, news]) => [channel, news.length]));
  }

  /** The alert as the channel's receiver may read it, with its links and in the configured words. */
  shownTo(channel: string, alert: Alert): Alert {
    const shown = alertFor(channel, alert, this.#partContext());
    return this.#worded(channel, { kind: 'firing', at: alert.since, alert: shown });
  }

  #worded(channel: string, transition: Transition): Alert {
    const { templates, rules } = this.#parts.settings();
    const linked = {
      ...transition,
      alert: withTags(withLinks(transition.alert, this.#parts.pageUrl), this.#parts.fleet),
    };
    const alert = inOwnWords(linked, templates, rules.timeZone);
    return withStanding(channel, { ...transition, alert }, this.#partContext());
  }

  #partContext(): PartContext {
    const { fleet, settings, world } = this.#parts;
    const { routes, rules } = settings();
    return { fleet, routes, zone: rules.timeZone, now: world.clock.now() };
  }

  #routing(): RoutingFacts {
    const { channels, fleet, settings, world } = this.#parts;
    return { routes: settings().routes, channels: channels(), fleet, now: world.clock.now() };
  }

  #wantedBy(alert: Alert): readonly string[] {
    return channelsFor(alert, this.#routing());
  }

  async step(): Promise<number> {
    const { clock } = this.#parts.world;
    const early = this.#lookAt - clock.monotonic();
    if (early > 0) return early;
    // A commit during the look brings this forward again.
    this.#lookAt = clock.monotonic() + idleMs;
    try {
      const next = await this.#look();
      this.#lookAt = Math.min(this.#lookAt, clock.monotonic() + next);
    } catch (error) {
      this.#lookAt = Number.NEGATIVE_INFINITY;
      throw error;
    }
    return Math.max(0, this.#lookAt - clock.monotonic());
  }

  async #look(): Promise<number> {
    const { settings, fleet } = this.#parts;
    const announced = await this.#known();
    // Firing alerts are read before the transitions, so that each has its transition among them, or is already
    // announced. A failing store is announced without the store; its beginning is recorded with its end.
    const isRecorded = ({ rule, status }: Alert) => status === 'firing' && rule !== 'store_failing';
    const firing = [...fleet.alerts()].filter(isRecorded);
    const now = this.#now(announced);
    const mutes = this.#lookAtMutes(firing, announced, now);
    const handed = mutes.handOver(this.#names(), (alert, to) => this.#heirsOf(alert, to));
    if (handed.length > 0) {
      const others = { notifications: [], early: [], incidents: { all: [], changed: [] } };
      await this.#record({ ...others, handed, firing, mutes }, announced, now);
      return 0;
    }
    const unnotified = await this.#parts.store.outbox.unnotifiedTransitions(lookLimit);
    const { repeatIntervalMs, groupWaitMs, groupIntervalMs } = settings();
    const full = unnotified.length >= lookLimit;
    const lastNotified = (group: string) => this.#lastNotified.get(group);
    const keptFrom = (account: string) => fleet.sweep(account)?.since ?? null;
    const incidents = lookAtIncidents(fleet, { firing, unnotified, now }, this.#parts.apiOf);
    const timing = { now, groupWaitMs, groupIntervalMs, lastNotified, full, keptFrom, incidents };
    const muted = this.#mutes(now);
    const { notifications, nextDueAt } = notificationsOf({
      unnotified,
      announced,
      firing,
      muted,
      wanted: (alert) => this.#wantedBy(alert).length > 0,
      joined: (alert) => joinedAs(alert, announced.get(alert.fingerprint), this.#wantedBy(alert), this.#routing()),
      repeatIntervalMs,
      timing,
    });
    const isHeard = this.#parts.channels().length > 0;
    const all = isHeard ? notifications : unheard({ unnotified, announced, firing, now });
    const early = earlySteps({
      unnotified,
      due: new Set(all.flatMap(({ ids }) => ids)),
      announced,
      muted,
      keepers: this.#parts.channels().flatMap(({ name, keepsOpen }) => (keepsOpen ? [name] : [])),
    });
    await this.#record({ notifications: all, early, incidents, firing, mutes }, announced, now);
    const hasProgress = all.some(({ ids }) => ids.length > 0);
    return full && hasProgress ? 0 : Math.min(idleMs, (nextDueAt ?? Number.POSITIVE_INFINITY) - now);
  }

  async #known(): Promise<Map<string, Announcement>> {
    if (this.#announced) return this.#announced;
    const { announcements, groups, muted } = await this.#parts.store.outbox.loadNotificationLog();
    for (const { group, at } of groups) this.#lastNotified.set(group, at);
    this.#waiting = waitingNews(muted);
    this.#announced = new Map(announcements.map((one) => [one.fingerprint, one]));
    return this.#announced;
  }

  /** If the clock was set back, an announcement in the future counts as made now: its reminder waits its interval. */
  #now(announced: Map<string, Announcement>): EpochMs {
    const now = this.#parts.world.clock.now();
    if (now < this.#seenAt)
      for (const [fingerprint, one] of announced) if (one.at > now) announced.set(fingerprint, { ...one, at: now });
    this.#seenAt = now;
    return now;
  }

  /** Predicate for alerts that are silenced, or explained by an API that is or recently was down. */
  #mutes(now: EpochMs): (alert: Alert) => boolean {
    const { fleet } = this.#parts;
    for (const alert of fleet.wideAlerts()) {
      if (isOutage(alert) && alert.status === 'firing') this.#explainedUntil.set(alert.account, now + aftermathMs);
    }
    const silences = fleet.silences(now);
    return (alert) =>
      (ruleBook[alert.rule].isExplainedByOutage === true && now < (this.#explainedUntil.get(alert.account) ?? 0)) ||
      silences.some(({ match }) => mutes(match, alert, fleet));
  }

  async #record(
    { notifications, handed = [], early, incidents, firing, mutes: look }: LookOutcome,
    announced: Map<string, Announcement>,
    now: EpochMs,
  ) {
    const routed = notifications.map(({ group, news }) => ({
      group,
      news: news.map((one) => this.#route(one, announced)),
      inIncident: incidents.all.some(({ id }) => id === group),
    }));
    if (handed.length > 0) routed.push({ group: manyGroup, news: [...handed], inIncident: false });
    const heard = (news: readonly Routed[]) => news.flatMap((one) => this.#heard(one, announced, look));
    const readers = this.#readers(firing, now);
    const ofIncidents = incidents.all.flatMap((incident) => {
      const news = routed.find(({ group }) => group === incident.id)?.news ?? [];
      return newsOfIncident(incident, news, readers) ?? [];
    });
    const plain = routed
      .filter(({ inIncident }) => !inIncident)
      .map(({ group, news }) => ({ group, news: heard(news) }))
      .filter(({ news }) => news.length > 0);
    const atOnce = early.map((one) => ({ group: groupOf(one.transition.alert), news: heard([one]) }));
    const deliveries = [
      ...this.#deliveriesOfIncidents(ofIncidents, look),
      ...this.#deliveriesOf(plain, now),
      ...this.#deliveriesOf(atOnce, now),
      ...this.#deliveriesAfterMutes(look, now),
    ];
    const muted = look.changes();
    const announcedIncidents = new Map(ofIncidents.map(({ incident }) => [incident.id, incident]));
    const changed = incidents.all
      .filter((one) => announcedIncidents.has(one.id) || incidents.changed.includes(one))
      .map((one) => announcedIncidents.get(one.id) ?? one);
    if (notifications.length === 0 && early.length === 0 && changed.length === 0 && muted === null) return;
    const sent = new Set(plain.map(({ group }) => group));
    const groups: readonly RoutedGroup[] = routed.map((one) => ({ ...one, isSent: sent.has(one.group) }));
    const notificationLog = notificationLogAfter({ groups, early, incidents: ofIncidents }, { before: announced, now });
    const transitionIds = notifications.flatMap(({ ids }) => ids);
    const record = { transitionIds, deliveries, notificationLog, incidents: changed, now };
    await this.#parts.store.outbox.recordDeliveries(muted ? { ...record, muted } : record);
    if (muted) this.#waiting = look.after();
    for (const one of notificationLog.announced) announced.set(one.fingerprint, one);
    for (const fingerprint of notificationLog.ended) announced.delete(fingerprint);
    for (const group of notificationLog.groups) this.#lastNotified.set(group, now);
    for (const one of changed) this.#parts.fleet.putIncident(one);
    if (deliveries.length > 0) this.#parts.recorded();
  }

  #readers(firing: readonly Alert[], now: EpochMs): IncidentReaders {
    const { channels, settings, pageUrl, fleet, apiOf } = this.#parts;
    const { routes, rules } = settings();
    return { now, zone: rules.timeZone, fleet, apiOf, channels: channels(), routes, firing, pageUrl };
  }

  #names(): readonly string[] {
    return this.#parts.channels().map(({ name }) => name);
  }

  #lookAtMutes(firing: readonly Alert[], announced: ReadonlyMap<string, Announcement>, now: EpochMs): MuteLook {
    const { settings, fleet } = this.#parts;
    const { routes, muteTimes } = settings();
    const on = new Set(muteTimesOn(muteTimes, now).map(({ name }) => name));
    return new MuteLook(this.#waiting, {
      now,
      isMuted: (channel, alert) => isMuted(channel, alert, { routes, fleet, now, on }),
      isSilenced: this.#mutes(now),
      isAnnounced: (fingerprint) => announced.has(fingerprint),
      isKnown: (name, fingerprint) => {
        const { channels = [], closed = [] } = announced.get(fingerprint) ?? {};
        return channels?.includes(name) !== false && !closed.includes(name);
      },
      firing: new Map(firing.map((alert) => [alert.fingerprint, alert])),
    });
  }

  /** Channels for what waits for a removed one, or null if none may show it. `to`: channels that the news went to. */
  #heirsOf(alert: Alert, to: readonly string[]): readonly string[] | null {
    const wanted = this.#wantedBy(alert);
    const isRead = this.#parts.channels().some((one) => isReadByPeople(one) && [...wanted, ...to].includes(one.name));
    if (isRead) return wanted;
    const readers = readersOf(alert, this.#routing());
    if (readers.length > 0) return [...wanted, ...readers];
    const { fingerprint, facts } = alert;
    const { log } = this.#parts.world;
    if (!this.#unread.has(fingerprint)) log.warn({ title: facts.title }, 'An alert waits for a channel.');
    this.#unread.add(fingerprint);
    return null;
  }

  /** News without the channels that are muted: those with the same step together. */
  #heard({ transition, to }: Routed, announced: ReadonlyMap<string, Announcement>, look: MuteLook): readonly Routed[] {
    const { alert, kind } = transition;
    const { channels: known } = announced.get(alert.fingerprint) ?? {};
    // A hold is new to a client whose first mailbox is held now.
    const first: Transition = { ...transition, kind: 'firing' };
    const isWorseHold = kind === 'worsened' && ruleBook[alert.rule].shows === 'hold';
    const steps = this.#parts.channels().flatMap((channel) => {
      const isFirst = isWorseHold && known?.includes(channel.name) === false;
      const step = to.includes(channel.name) ? look.step(channel, isFirst ? first : transition, to) : null;
      return step ? [{ name: channel.name, step }] : [];
    });
    const byStep = Map.groupBy(steps, ({ step }) => step);
    return [...byStep].map(([step, some]) => ({ transition: step, to: some.map(({ name }) => name) }));
  }

  /** Makes a message for each channel whose mute time is over, beside those about incidents. */
  #deliveriesAfterMutes(look: MuteLook, now: EpochMs): readonly NewDelivery[] {
    return this.#parts.channels().flatMap((channel) => {
      const { incidents, steps, since } = look.takeDue(channel, now);
      const [first = manyGroup, ...others] = new Set(steps.map(({ alert }) => groupOf(alert)));
      const news = steps.map((transition) => ({ transition, to: [channel.name] }));
      return [
        ...incidents.flatMap((message) => this.#deliveriesFor(channel, message)),
        ...this.#deliveriesOf([{ group: others.length === 0 ? first : manyGroup, news }], now, since),
      ];
    });
  }

  #deliveriesOfIncidents(news: readonly IncidentNews[], look: MuteLook): readonly NewDelivery[] {
    return news.flatMap(({ messages }) => {
      const to = messages.map(({ channel }) => channel);
      return messages.flatMap(({ channel: name, ...report }) => {
        const channel = this.#parts.channels().find((one) => one.name === name);
        const message = channel && look.incident(channel, report, to);
        return message ? this.#deliveriesFor(channel, message) : [];
      });
    });
  }

  /** The end of an alert goes to the channels that got its beginning, whatever the routes are now. */
  #route(transition: Transition, announced: ReadonlyMap<string, Announcement>): Routed {
    const { channels: known, closed = [] } = announced.get(transition.alert.fingerprint) ?? {};
    const isEnd = transition.kind === 'resolved' && known;
    const isReopened = transition.kind === 'firing' && closed.length > 0 && !transition.alert.unstable;
    const others = isReopened ? closed : this.#wantedBy(transition.alert);
    const fresh = transition.escalated ? others.filter((name) => !known?.includes(name)) : others;
    const to = isEnd ? known.filter((name) => !closed.includes(name)) : fresh;
    return { transition, to };
  }

  #deliveriesFor(channel: Channel, message: GroupMessage): readonly NewDelivery[] {
    return partsOf(message, channel.maxAlerts).flatMap((part) => {
      const shown = messageFor(channel.name, part, this.#partContext());
      const transitions = shown.transitions.map((one) => ({ ...one, alert: this.#worded(channel.name, one) }));
      return deliveryOf(channel, part, { ...shown, transitions }, this.#parts.world.log) ?? [];
    });
  }

  /** `waitedSince`: for news that waited for the end of a mute time. */
  #deliveriesOf(
    groups: readonly Pick<RoutedGroup, 'group' | 'news'>[],
    now: EpochMs,
    waitedSince?: EpochMs,
  ): readonly NewDelivery[] {
    const deliveries: NewDelivery[] = [];
    for (const channel of this.#parts.channels()) {
      const wanted: { readonly group: string; readonly transitions: readonly Transition[] }[] = [];
      for (const { group, news } of groups) {
        const transitions = news.filter(({ to }) => to.includes(channel.name)).map(({ transition }) => transition);
        if (transitions.some(({ foretold }) => !(foretold && channel.skipsForetoldEnds)))
          wanted.push({ group, transitions });
      }
      const storm = wanted.length > maxMessagesALook;
      const messages = storm ? [{ group: manyGroup, transitions: wanted.flatMap((one) => one.transitions) }] : wanted;
      for (const { group, transitions } of messages) {
        const message = messageOf(group, transitions, now);
        const waited = waitedSince === undefined ? {} : { waitedSince };
        if (message) deliveries.push(...this.#deliveriesFor(channel, { ...message, ...waited }));
      }
    }
    return deliveries;
  }
}

/** Longest wait of news for a first channel; older news is on the page only. */
const longestWaitMs = 3 * dayMs;

interface UnheardNews {
  readonly unnotified: readonly StoredTransition[];
  readonly announced: ReadonlyMap<string, Announcement>;
  readonly firing: readonly Alert[];
  readonly now: EpochMs;
}

/** Transitions that do not wait for a first channel. What fires waits, whatever its age. */
function unheard({ unnotified, announced, firing, now }: UnheardNews): readonly Notification[] {
  const fires = new Set(firing.map(({ fingerprint }) => fingerprint));
  const latest = new Map(unnotified.map(({ transition }) => [transition.alert.fingerprint, transition.kind]));
  const cameAndWent = (name: string) =>
    latest.get(name) === 'resolved' && (announced.get(name)?.channels ?? []).length === 0;
  const over = unnotified.filter(({ transition: { at, alert } }) => {
    const isOld = now - at >= longestWaitMs && !fires.has(alert.fingerprint);
    return isOld || cameAndWent(alert.fingerprint);
  });
  // An end that nobody is told of is an end all the same: the alert may fire again.
  const ends = over.map(({ transition }) => transition).filter(({ kind }) => kind === 'resolved');
  return over.length === 0 ? [] : [{ group: manyGroup, ids: over.map(({ id }) => id), news: ends }];
}
