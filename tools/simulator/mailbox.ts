// One simulated mailbox: it sends its emails one by one as the clock passes, and remembers its days.
import { chanceKey, derivedUuid, draw } from './chance.ts';
import { type DayRow, dayMs, emptyRow, healthScore, maxStatsDays } from './day-row.ts';
import { type Affliction, type Bounce, Outcomes } from './outcome.ts';
import { rampDayFor } from './ramp.ts';
import type { Incident, MailboxSpec, Provider } from './scenario.ts';
import { type ConfigChange, configAfter, dailyLimit, planDay, type WarmupConfig } from './warmup-config.ts';

/** An email that was sent, as far as its fate is known. */
export interface SentMail {
  readonly id: string;
  readonly subject: string;
  readonly scheduledAt: number;
  readonly sentAt: number;
  status: 'sent' | 'bounced';
  landedIn: 'inbox' | 'spam' | 'pending' | 'none';
  bounce: Bounce | null;
}

export interface Birth {
  readonly seed: number;
  readonly spec: MailboxSpec;
  /** Epoch milliseconds. */
  readonly warmupStartedAt: number;
  /** The key that created it over the API; null for the fleet's own. */
  readonly createdBy: string | null;
  /** How often it was taken out and connected again. */
  readonly incarnation: number;
}

const recentMailsShown = 10;
const longestQueueMs = 90_000;
const returnedMail: Bounce = { type: 'hard', category: 'invalid_recipient', delayMs: 0 };
const subjects = ['Quick question', 'Following up', 'Notes from our call', 'Next week?', 'A short introduction'];

/**
 * A mailbox lives up to the moment it was last asked about: `advance` first, then read or change. Its fate depends on
 * its seed and address, on what was done to it and when, and on nothing else.
 */
export class Mailbox {
  readonly id: string;
  readonly email: string;
  readonly provider: Provider;
  readonly createdBy: string | null;
  readonly createdAt: number;
  readonly warmupStartedAt: number;
  readonly afflictions: Affliction[] = [];
  readonly #key: number;
  readonly #outcomes: Outcomes;
  readonly #rows: DayRow[] = [];
  readonly #recent: SentMail[] = [];
  readonly #lateBounces: { at: number; mail: SentMail; bounce: Bounce }[] = [];
  #config: WarmupConfig;
  #running = true;
  /** The day of the last change of mode or resume; null when there was none. */
  #changedOn: number | null = null;
  /** A pause of the warm-up service itself that holds it; null when nobody or somebody else does. */
  #heldBy: Affliction | null = null;
  #at: number;
  #today: DayRow;
  #rampDay = 0;
  #warmupDay = 1;
  #plan: number[] = [];
  #sentOfPlan = 0;
  #plannedToday = 0;

  constructor({ seed, spec, warmupStartedAt, createdBy, incarnation }: Birth) {
    const again = incarnation === 0 ? '' : `/${incarnation}`;
    this.id = derivedUuid(`${seed}/${spec.email.toLowerCase()}${again}`);
    this.email = spec.email;
    this.provider = spec.provider;
    this.createdBy = createdBy;
    this.createdAt = warmupStartedAt;
    this.warmupStartedAt = warmupStartedAt;
    this.#key = chanceKey(`${seed}/${this.id}`);
    this.#outcomes = new Outcomes(this.#key);
    const [windowStart, windowEnd] = spec.sendWindow ?? [9, 17];
    this.#config = {
      mode: spec.mode,
      targetDailyLimit: null,
      targetSetIn: null,
      replyRate: 30,
      threadRate: 20,
      weekdaysOnly: spec.weekdaysOnly ?? true,
      windowStart,
      windowEnd,
    };
    this.#at = warmupStartedAt;
    this.#today = this.#openDay(Math.floor(warmupStartedAt / dayMs));
    this.#replan();
  }

  get domain(): string {
    return this.email.slice(this.email.lastIndexOf('@') + 1);
  }

  get config(): WarmupConfig {
    return this.#config;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Emails a day at this point of the ramp. */
  get dailyLimit(): number {
    return dailyLimit(this.#config, this.#rampDay);
  }

  /** 1 on the first day; days on which the warm-up was paused at midnight don't count. */
  get warmupDay(): number {
    return this.#warmupDay;
  }

  /** The days so far, oldest first, today last; at most 90 and the seven before them that health is made of. */
  get rows(): readonly Readonly<DayRow>[] {
    return this.#rows;
  }

  /** The last emails, newest first. */
  get recentMails(): readonly Readonly<SentMail>[] {
    return this.#recent;
  }

  get healthScore(): number {
    return healthScore(this.#rows, this.#rows.length - 1);
  }

  /** What befalls it at a time (epoch milliseconds). */
  incidentsAt(at: number): Incident[] {
    return this.#met(at).map((affliction) => affliction.incident);
  }

  /** Whether its login fails now, so that it sends nothing. */
  get disconnected(): boolean {
    return this.incidentsAt(this.#at).some(({ kind }) => kind === 'disconnect');
  }

  /** Whether its mode was changed, or its warm-up resumed, on this UTC day. */
  get changedToday(): boolean {
    return this.#changedOn === this.#today.day;
  }

  /** Lives on until `until` (epoch milliseconds). A time that has passed already changes nothing. */
  advance(until: number): void {
    for (;;) {
      const midnight = (this.#today.day + 1) * dayMs;
      const mail = this.#plan[this.#sentOfPlan] ?? Number.POSITIVE_INFINITY;
      const late = this.#lateBounces[0]?.at ?? Number.POSITIVE_INFINITY;
      const turn = this.#servicesTurn();
      const next = Math.min(midnight, mail, late, turn?.at ?? Number.POSITIVE_INFINITY);
      if (next > until) break;
      this.#at = next;
      if (next === turn?.at) this.#serviceTurns(turn.affliction);
      else if (next === late) this.#receiveLateBounce();
      else if (next === midnight) this.#beginDay();
      else this.#send();
    }
    this.#at = Math.max(this.#at, until);
  }

  /** Stops sending from now on. False when it was paused already. */
  pause(): boolean {
    this.#heldBy = null;
    return this.#setRunning(false);
  }

  /** Sends again from now on. False when it was running already. */
  resume(): boolean {
    this.#heldBy = null;
    return this.#setRunning(true);
  }

  /** Changes the settings from now on. Another mode moves the ramp (`rampDayFor`). */
  configure(change: ConfigChange): void {
    const before = this.#config;
    const limit = this.dailyLimit;
    this.#config = configAfter(before, change);
    if (this.#config.mode !== before.mode) {
      this.#rampDay = rampDayFor(this.#config.mode, limit);
      this.#changedOn = this.#today.day;
    }
    const sameHours = this.#config.windowStart === before.windowStart && this.#config.windowEnd === before.windowEnd;
    // A plan is made again only when it has to change: a new reply rate must not move the day's emails.
    if (!sameHours || this.dailyLimit !== limit || this.#config.mode !== before.mode) this.#replan();
  }

  /** Sends emails at once, outside the send window too; what is left of the day's plan shrinks by as many. */
  sendNow(emails: number): void {
    for (let mail = 0; mail < emails; mail += 1) {
      this.#today.sent += 1;
      this.#deliver(this.#remember(this.#at, this.#today.day, this.#plannedToday), this.#plannedToday);
      this.#plannedToday += 1;
    }
    this.#replan();
  }

  /** So many delivered emails of a day come back after all, and count on that day. At most as many as there are. */
  returnMails(day: number, emails: number): void {
    const row = this.#rows.find((one) => one.day === day);
    if (!row) return;
    const returned = Math.min(emails, row.delivered);
    row.bounced += returned;
    row.delivered -= returned;
    for (const count of ['spamLanded', 'opened', 'replied'] as const) row[count] = Math.min(row[count], row.delivered);
    const shown = this.#recent.filter((mail) => Math.floor(mail.sentAt / dayMs) === day && mail.status === 'sent');
    for (const mail of shown.slice(0, returned)) {
      Object.assign(mail, { status: 'bounced', landedIn: 'none', bounce: returnedMail });
    }
  }

  #met(at: number): Affliction[] {
    return this.afflictions.filter((affliction) => at >= affliction.from && at < affliction.until);
  }

  /** When the warm-up service's own protection pauses or resumes next. */
  #servicesTurn(): { readonly at: number; readonly affliction: Affliction } | null {
    if (this.#heldBy) return { at: Math.max(this.#heldBy.until, this.#at), affliction: this.#heldBy };
    for (const affliction of this.afflictions) {
      if (affliction.incident.kind !== 'service_pause' || affliction.emails > 0) continue;
      return { at: Math.max(affliction.from, this.#at), affliction };
    }
    return null;
  }

  #serviceTurns(affliction: Affliction): void {
    const begins = this.#heldBy === null;
    affliction.emails += 1;
    // What somebody else paused before is not the warm-up service's to resume.
    const turned = this.#setRunning(!begins);
    this.#heldBy = begins && turned ? affliction : null;
  }

  #setRunning(running: boolean): boolean {
    if (this.#running === running) return false;
    this.#running = running;
    if (running) this.#changedOn = this.#today.day;
    this.#replan();
    return true;
  }

  #beginDay(): void {
    if (this.#running) {
      this.#rampDay += 1;
      this.#warmupDay += 1;
    }
    this.#plannedToday = 0;
    this.#today = this.#openDay(this.#today.day + 1);
    this.#replan();
  }

  #openDay(day: number): DayRow {
    const row = emptyRow(day);
    this.#rows.push(row);
    if (this.#rows.length > maxStatsDays + 7) this.#rows.shift();
    return row;
  }

  #replan(): void {
    const stretch = {
      from: this.#at,
      day: this.#today.day,
      limit: this.dailyLimit,
      sentToday: this.#today.sent,
      firstIndex: this.#plannedToday,
    };
    this.#plan = this.#running ? planDay(this.#config, this.#key, stretch) : [];
    this.#plannedToday += this.#plan.length;
    this.#sentOfPlan = 0;
  }

  #send(): void {
    const at = this.#at;
    const row = this.#today;
    const index = this.#plannedToday - this.#plan.length + this.#sentOfPlan;
    this.#sentOfPlan += 1;
    const met = this.#met(at);
    if (met.some(({ incident }) => incident.kind === 'disconnect')) return;
    row.sent += 1;
    const mail = this.#remember(at, row.day, index);
    const bounce = this.#outcomes.bounce({ day: row.day, index, mode: this.#config.mode }, met);
    if (!bounce) this.#deliver(mail, index);
    else if (bounce.delayMs === 0) this.#receiveBounce(mail, bounce);
    else this.#awaitBounce(mail, bounce);
  }

  #deliver(mail: SentMail, index: number): void {
    const row = this.#today;
    const { spam, opened, replied } = this.#outcomes.placement(row.day, index, this.#config.replyRate);
    row.delivered += 1;
    if (spam) row.spamLanded += 1;
    if (opened) row.opened += 1;
    if (replied) row.replied += 1;
    mail.landedIn = spam ? 'spam' : 'inbox';
  }

  /** The receiver took the email and will send it back later. */
  #awaitBounce(mail: SentMail, bounce: Bounce): void {
    mail.landedIn = 'pending';
    this.#lateBounces.push({ at: mail.sentAt + bounce.delayMs, mail, bounce });
    this.#lateBounces.sort((left, right) => left.at - right.at);
  }

  #receiveLateBounce(): void {
    const late = this.#lateBounces.shift();
    if (late) this.#receiveBounce(late.mail, late.bounce);
  }

  #receiveBounce(mail: SentMail, bounce: Bounce): void {
    this.#today.bounced += 1;
    mail.status = 'bounced';
    mail.landedIn = 'none';
    mail.bounce = bounce;
  }

  #remember(sentAt: number, day: number, index: number): SentMail {
    const queuedMs = Math.floor(draw(this.#key, day, index, 'schedule') * longestQueueMs);
    const mail: SentMail = {
      id: `${this.id.slice(0, 8)}-${day}-${index}`,
      subject: subjects[Math.floor(draw(this.#key, day, index, 'subject') * subjects.length)] ?? '',
      scheduledAt: sentAt - queuedMs,
      sentAt,
      status: 'sent',
      landedIn: 'inbox',
      bounce: null,
    };
    this.#recent.unshift(mail);
    if (this.#recent.length > recentMailsShown) this.#recent.pop();
    return mail;
  }
}
