// Sends the digest when its time comes, and once after a downtime that swallowed it.
import type { NewDelivery } from '../model/delivery.ts';
import { type EpochMs, minuteMs } from '../model/time.ts';
import { cronSchedule, type Schedule } from '../schedule.ts';
import { deliveryId } from './delivery-of.ts';
import { digestOf } from './digest.ts';
import type { RecordingParts } from './parts.ts';

export interface DigestSettings {
  /** Cron in the time zone. */
  readonly at: string;
  readonly timeZone: string;
  /** Names of channels. */
  readonly channels: readonly string[];
}

export interface DigesterParts extends RecordingParts {
  readonly settings: () => DigestSettings | null;
}

export class Digester {
  readonly #parts: DigesterParts;
  /** Until when the newest digest reached; null before the store was asked. */
  #until: EpochMs | null = null;
  /** Up to there no digest was due: what was asked once is not asked again. */
  #askedUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: DigesterParts) {
    this.#parts = parts;
  }

  /** Records the digest that is due. Returns how long to wait for the next look, milliseconds. */
  async step(): Promise<number> {
    const settings = this.#parts.settings();
    if (!settings) return minuteMs;
    const now = this.#parts.world.clock.now();
    const schedule = cronSchedule(settings.at, settings.timeZone);
    this.#until ??= await this.#parts.store.outbox.digestedUntil();
    // The first one reaches back to the moment when somebody began to want one.
    if (this.#until === null) await this.#record([], now);
    else if (this.#isDue(schedule, this.#until, now) && !sameMinute(this.#until, now, settings.timeZone)) {
      await this.#record(await this.#deliveries(settings, this.#until, now), now);
    }
    this.#askedUntil = now;
    return schedule.stepMs - (now % schedule.stepMs);
  }

  #isDue(schedule: Schedule, until: EpochMs, now: EpochMs): boolean {
    // A clock that was set back has asked about the future.
    const asked = this.#askedUntil > now ? Number.NEGATIVE_INFINITY : this.#askedUntil;
    return schedule.dueBetween(Math.max(Math.min(until, now), asked), now);
  }

  async #deliveries(settings: DigestSettings, since: EpochMs, now: EpochMs): Promise<readonly NewDelivery[]> {
    const { store, fleet, channels } = this.#parts;
    const waiting = [...fleet.channels()].filter(({ pending }) => pending > 0);
    const notice = digestOf(await store.outbox.digestFacts(since), {
      since,
      now,
      timeZone: settings.timeZone,
      mailboxes: [...fleet.mailboxes()],
      alerts: fleet.alerts(),
      incidents: fleet.incidents(),
      waiting,
    });
    return channels().flatMap((channel) => {
      const rendered = settings.channels.includes(channel.name) ? channel.renderNotice(notice) : null;
      if (!rendered) return [];
      const id = deliveryId([channel.name, 'digest', String(now)]);
      return [{ id, channel: channel.name, group: 'digest', alerts: [], ...rendered }];
    });
  }

  async #record(deliveries: readonly NewDelivery[], until: EpochMs): Promise<void> {
    await this.#parts.store.outbox.recordDigest({ deliveries, until });
    this.#until = until;
    if (deliveries.length > 0) this.#parts.recorded();
  }
}

/** When the clocks go back an hour comes twice; its digest need not. */
function sameMinute(one: EpochMs, other: EpochMs, timeZone: string): boolean {
  const format = new Intl.DateTimeFormat('en', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return format.format(one) === format.format(other);
}
