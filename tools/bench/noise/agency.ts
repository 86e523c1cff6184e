// The mailboxes of an agency, simulated: what each sends and what bounces, a quarter of an hour at a time, as its mode says then.
import type { MailboxEntry, RecentBounce, StatsRow, WarmupAnswer } from '../../../src/core/answers.ts';
import { isWarmupMode, type WarmupMode } from '../../../src/core/policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, minuteMs } from '../../../src/core/time.ts';
import { type Chance, seededChance, seedOf } from '../guard/chance.ts';
import { ramps, volumeOf } from '../guard/history.ts';

export const slotMs = 15 * minuteMs;
/** Emails leave from 8 to 18 o'clock. */
export const firstSlot = 32;
export const sendingSlots = 40;
export const slotsADay = 96;
/** A Monday. */
const firstDay: IsoDate = '2026-01-05';
export const firstDayMs = Date.parse(`${firstDay}T00:00:00Z`);
/** A healthy mailbox's bounces. */
const healthyRate = 0.001;
const recentShown = 5;
const rowsShown = 30;
const usualScore = 95;
const scoreOfBounce = 6;
const scoredDays = 3;

/** What bounces of whom from `from` to `until`. */
export interface Trouble {
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly hits: (mailbox: SimulatedMailbox) => boolean;
  /** Of every email. */
  readonly rate: number;
  readonly bounce: RecentBounce;
}

export class SimulatedMailbox {
  readonly id: string;
  readonly email: string;
  readonly domain: string;
  readonly provider: string;
  readonly #chance: Chance;
  readonly #rows: StatsRow[] = [];
  #bySlot: readonly number[] = [];
  #recent: readonly RecentBounce[] = [];
  #mode: WarmupMode;
  #paused = false;

  constructor(number: number, mode: WarmupMode, seed: number) {
    const domain = Math.floor(number / 5);
    this.id = `m${number}`;
    this.domain = `d${domain}.example`;
    this.email = `box${number}@${this.domain}`;
    // A fifth of the domains is at google: a block there hits a hundred of 500 mailboxes.
    this.provider = domain % 5 === 0 ? 'google' : domain % 5 < 3 ? 'microsoft' : 'other';
    this.#mode = mode;
    this.#chance = seededChance(seedOf(seed, mode, number));
  }

  get isRunning(): boolean {
    return !this.#paused;
  }

  change(targetMode: string | null): void {
    if (targetMode === null) this.#paused = true;
    else if (isWarmupMode(targetMode)) this.#mode = targetMode;
  }

  /** A new day: how many emails leave in which quarter of an hour. */
  begin(day: number): void {
    const volume = this.#paused ? 0 : volumeOf(this.#mode, day, this.#chance);
    const slots = new Array<number>(slotsADay).fill(0);
    const phase = this.#chance();
    for (let mail = 0; mail < volume; mail += 1) {
      const slot = firstSlot + Math.floor(((mail + phase) * sendingSlots) / volume);
      slots[Math.min(slot, slotsADay - 1)] = (slots[Math.min(slot, slotsADay - 1)] ?? 0) + 1;
    }
    this.#bySlot = slots;
    this.#rows.push({
      date: addDays(firstDay, day),
      sent: 0,
      bounced: 0,
      delivered: 0,
      opened: 0,
      replied: 0,
      spamLanded: 0,
      inboxRatePercent: null,
      bounceRatePercent: null,
      healthScore: this.#score(),
    });
  }

  /** What leaves in a quarter of an hour; whether any of it bounced. */
  send(slot: number, now: EpochMs, troubles: readonly Trouble[]): boolean {
    const row = this.#rows.at(-1);
    const count = this.#paused ? 0 : (this.#bySlot[slot] ?? 0);
    if (!row || count === 0) return false;
    const trouble = troubles.find((one) => one.from <= now && now < one.until && one.hits(this));
    let bounced = 0;
    for (let mail = 0; mail < count; mail += 1) if (this.#chance() < (trouble?.rate ?? healthyRate)) bounced += 1;
    const bounce = trouble?.bounce ?? this.#usualBounce();
    if (bounced > 0) {
      this.#recent = [...this.#recent, ...new Array<RecentBounce>(bounced).fill(bounce)].slice(-recentShown);
    }
    const sent = (row.sent ?? 0) + count;
    const all = (row.bounced ?? 0) + bounced;
    this.#rows[this.#rows.length - 1] = { ...row, sent, bounced: all, delivered: sent - all };
    return bounced > 0;
  }

  #usualBounce(): RecentBounce {
    return this.#chance() < 1 / 3
      ? { type: 'soft', category: 'mailbox_full' }
      : { type: 'hard', category: 'invalid_recipient' };
  }

  #score(): number {
    const bounced = this.#rows.slice(-scoredDays).reduce((sum, row) => sum + (row.bounced ?? 0), 0);
    return Math.max(30, usualScore - scoreOfBounce * bounced);
  }

  entry(): MailboxEntry {
    const { id, email, provider } = this;
    const status = this.#paused ? 'paused' : 'active';
    return {
      id,
      email,
      provider,
      status,
      healthScore: this.#score(),
      dailyLimit: ramps[this.#mode].max,
      warmupDay: this.#rows.length,
    };
  }

  stats(): readonly StatsRow[] {
    return this.#rows.slice(-rowsShown);
  }

  warmup(): WarmupAnswer {
    const { status, dailyLimit, warmupDay, healthScore } = this.entry();
    const config = {
      targetDailyLimit: null,
      replyRate: null,
      threadRate: null,
      weekdaysOnly: null,
      sendWindowStart: null,
      sendWindowEnd: null,
    };
    const limits = { dailyLimit, warmupDay, healthScore };
    return { status, mode: this.#mode, ...limits, config, recentBounces: this.#recent };
  }
}

/** Day and hour of the simulation as a moment. */
export function momentOf(day: number, hour: number): EpochMs {
  return firstDayMs + day * dayMs + hour * 60 * minuteMs;
}
