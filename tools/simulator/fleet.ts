// The simulated fleet: all mailboxes on one clock, the incidents that befall them, and what a person changes on them.
import type { Clock } from '../../src/world/world.ts';
import { dayMs } from './day-row.ts';
import { type Birth, Mailbox } from './mailbox.ts';
import { matchesAddress } from './pattern.ts';
import type { WarmupMode } from './ramp.ts';
import type { Incident, MailboxSpec } from './scenario.ts';
import type { ConfigChange } from './warmup-config.ts';

const warmupHourMs = 7 * 3_600_000;

export interface FleetOptions {
  readonly clock: Clock;
  readonly seed: number;
  /** Epoch milliseconds: incidents count from here, and history lies before. */
  readonly startAt: number;
  readonly incidents: readonly Incident[];
}

/** An incident in wall time (epoch milliseconds; Infinity when it never ends). */
interface DatedIncident {
  readonly incident: Incident;
  readonly from: number;
  readonly until: number;
  /** A reconnection that has happened. */
  done: boolean;
}

/** Every mailbox that it hands out has lived up to the clock's now. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #births = new Map<string, Birth>();
  readonly #idByAddress = new Map<string, string>();
  readonly #incidents: DatedIncident[];

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#incidents = options.incidents.map((incident) => this.#dated(incident));
  }

  /** In the order of their arrival. */
  mailboxes(): Mailbox[] {
    const now = this.#options.clock.now();
    this.#reconnect(now);
    return [...this.#mailboxes.values()].map((mailbox) => {
      mailbox.advance(now);
      return mailbox;
    });
  }

  withId(id: string): Mailbox | undefined {
    this.#reconnect(this.#options.clock.now());
    const mailbox = this.#mailboxes.get(id);
    mailbox?.advance(this.#options.clock.now());
    return mailbox;
  }

  find(email: string): Mailbox | undefined {
    this.#reconnect(this.#options.clock.now());
    const id = this.#idByAddress.get(email.toLowerCase());
    return id === undefined ? undefined : this.withId(id);
  }

  /** Adds a mailbox; its history reaches back to its start. Throws when the address is taken. */
  add(spec: MailboxSpec, createdBy: string | null = null): Mailbox {
    const address = spec.email.toLowerCase();
    if (this.#idByAddress.has(address)) throw new Error(`the fleet already has ${spec.email}`);
    const { seed, startAt, clock } = this.#options;
    const started = Math.floor(startAt / dayMs) * dayMs - spec.startedDaysAgo * dayMs + warmupHourMs;
    const warmupStartedAt = spec.startedDaysAgo === 0 ? clock.now() : started;
    return this.#bear({ seed, spec, warmupStartedAt, createdBy, incarnation: 0 });
  }

  #bear(birth: Birth): Mailbox {
    const mailbox = new Mailbox(birth);
    for (const dated of this.#incidents) afflict(mailbox, dated);
    this.#mailboxes.set(mailbox.id, mailbox);
    this.#births.set(mailbox.id, birth);
    this.#idByAddress.set(mailbox.email.toLowerCase(), mailbox.id);
    return mailbox;
  }

  /** Gives mailboxes that were taken out and connected again their new id. */
  #reconnect(now: number): void {
    for (const dated of this.#incidents) {
      if (dated.incident.kind !== 'reconnect' || dated.done || dated.from > now) continue;
      dated.done = true;
      for (const [id, birth] of [...this.#births]) {
        if (!this.#mailboxes.has(id) || !befalls(dated.incident, birth.spec)) continue;
        this.#mailboxes.delete(id);
        this.#bear({ ...birth, warmupStartedAt: dated.from, incarnation: birth.incarnation + 1 });
      }
    }
  }

  /** Removes a mailbox, as somebody does in the service's own pages. */
  remove(email: string): void {
    this.#mailboxes.delete(this.#existing(email).id);
    this.#idByAddress.delete(email.toLowerCase());
  }

  /**
   * Lets something go wrong, from now on at the earliest: what has happened stays as it was. Throws when the fleet has
   * no such mailbox.
   */
  addIncident(incident: Incident): void {
    if (!this.mailboxes().some((mailbox) => befalls(incident, mailbox))) {
      const where = incident.provider === undefined ? '' : ` at ${incident.provider}`;
      throw new Error(`the fleet has no mailbox ${incident.mailbox}${where}`);
    }
    const planned = this.#dated(incident);
    const dated = { ...planned, from: Math.max(planned.from, this.#options.clock.now()) };
    this.#incidents.push(dated);
    for (const mailbox of this.mailboxes()) afflict(mailbox, dated);
  }

  /** What still goes wrong with these mailboxes ends now. Emails that bounced stay bounced. */
  repair(mailboxes: readonly Mailbox[]): void {
    const now = this.#options.clock.now();
    for (const { afflictions } of mailboxes) {
      for (const affliction of afflictions) affliction.until = Math.min(affliction.until, now);
    }
  }

  /** A person pauses the warm-up, in the service's own pages. */
  pause(email: string): void {
    this.#existing(email).pause();
  }

  /** A person resumes the warm-up. */
  resume(email: string): void {
    this.#existing(email).resume();
  }

  /** A person chooses another mode. */
  setMode(email: string, mode: WarmupMode): void {
    this.configure(email, { mode });
  }

  /** A person changes the settings. */
  configure(email: string, change: ConfigChange): void {
    this.#existing(email).configure(change);
  }

  #existing(email: string): Mailbox {
    const mailbox = this.find(email);
    if (!mailbox) throw new Error(`the fleet has no ${email}`);
    return mailbox;
  }

  #dated(incident: Incident): DatedIncident {
    const { startAt } = this.#options;
    const until = incident.until === undefined ? Number.POSITIVE_INFINITY : startAt + incident.until;
    return { incident, from: startAt + incident.from, until, done: false };
  }
}

function befalls(incident: Incident, { email, provider }: Pick<MailboxSpec, 'email' | 'provider'>): boolean {
  return matchesAddress(incident.mailbox, email) && (!incident.provider || incident.provider === provider);
}

function afflict(mailbox: Mailbox, { incident, from, until }: DatedIncident): void {
  if (befalls(incident, mailbox)) mailbox.afflictions.push({ incident, from, until, emails: 0 });
}
