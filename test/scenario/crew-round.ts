// One round of what befalls an active process and its standbys: mailboxes breach, a person commands, and faults come at moments nobody chose.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Chance } from '../soak/chance.ts';
import type { Crew, Slot } from '../support/crew.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';

/** They take the whole process away, for a while at least: each befalls another process. */
const strokes = ['kill', 'freeze', 'away', 'restart'] as const;
const cuts = ['cut', 'commit_lost', 'reply_lost'] as const;
type Fault = (typeof strokes | typeof cuts)[number];
/** When it comes: at some time, or as an outside moment comes, to the active process. */
const moments = ['any', 'look', 'post', 'message'] as const;
type Moment = (typeof moments)[number];

const faultWithinMs = 6_000;
/** The deadline is 15 s. */
const beyondDeadlineMs = 16_500;
const mostFaults = 3;
const lookEveryMs = 250;
const knownWithinLooks = (3 * faultWithinMs) / lookEveryMs;

/** A mailbox that was added for a round. */
export interface Touched {
  readonly account: string;
  readonly mailbox: OtherMailbox;
}

/** What a person wanted of a mailbox. */
export interface Command extends Touched {
  readonly verb: 'pause' | 'resume';
  /** Whether Warmwarden said that it is done. */
  readonly isDone: boolean;
  readonly said: string;
}

/** What happened in a round. */
export interface Round {
  readonly faults: readonly Fault[];
  /** The faults and their moments, for people. */
  readonly story: readonly string[];
  readonly breaches: readonly Touched[];
  readonly commands: readonly Command[];
  /** Deliveries that were not known to be sent when a process was stopped: they may be repeated. */
  readonly inFlight: readonly string[];
}

export class Disturbance {
  readonly #crew: Crew;
  readonly #chance: Chance;
  readonly #accounts: readonly string[];
  /** Its process is never ended. */
  readonly #spared: Slot | null;
  #mailboxes = 0;

  constructor(crew: Crew, chance: Chance, spared: Slot | null) {
    this.#crew = crew;
    this.#chance = chance;
    this.#spared = spared;
    this.#accounts = [...crew.accounts.keys()];
  }

  /** Plays a round, until all faults are over; what they led to goes on. */
  async round(): Promise<Round> {
    const drawn = this.#draw(await this.#crew.active());
    const faults = drawn.map(({ fault }) => fault);
    const story = drawn.map(({ fault, moment }) => `${fault} (${moment})`);
    const [breaches, command, inFlight] = await Promise.all([
      Promise.all([this.#breach(), this.#breach()]),
      this.#command(),
      Promise.all(drawn.map((one) => this.#strike(one))),
    ]);
    return { faults, story, breaches, commands: [command], inFlight: inFlight.flat() };
  }

  #new(account: string, given: Partial<OtherMailbox>): Touched {
    this.#mailboxes += 1;
    return { account, mailbox: this.#crew.api(account).add(`box${this.#mailboxes}@${account}.example`, given) };
  }

  async #breach(): Promise<Touched> {
    const isEmergency = this.#chance.below(3) < 1;
    const account = this.#chance.pick(this.#accounts);
    await sleep(this.#chance.below(faultWithinMs));
    const emergency = [{ daysAgo: 0, sent: 10, bounced: 8 }, ...week(40, 0).slice(1)];
    return this.#new(account, { days: isEmergency ? emergency : week(40, 4) });
  }

  async #command(): Promise<Command> {
    const verb = this.#chance.pick(['pause', 'resume'] as const);
    const touched = this.#new(this.#chance.pick(this.#accounts), { status: verb === 'pause' ? 'active' : 'paused' });
    // It is to be known there first; a busy machine takes its time for that, and a fault may take longer.
    for (let left = knownWithinLooks; left > 0 && !(await this.#isKnown(touched)); left -= 1) await sleep(lookEveryMs);
    await sleep(this.#chance.below(faultWithinMs));
    const slot = (await this.#crew.active()) ?? this.#chance.pick(this.#crew.slots);
    const answer = await this.#crew.command(slot, verb, touched.mailbox.email, '--yes', '--reason', 'a test');
    return { ...touched, verb, ...answer };
  }

  #draw(active: Slot | null): readonly Stroke[] {
    const drawn: Stroke[] = [];
    const count = 1 + Math.floor(this.#chance.below(mostFaults));
    for (let index = 0; index < count; index += 1) {
      const fault: Fault = this.#chance.pick(index === 0 ? strokes : [...strokes, ...cuts]);
      const [moment, account] = [this.#chance.pick(moments), this.#chance.pick(this.#accounts)];
      const atMs = this.#chance.below(faultWithinMs);
      const stoppedMs = beyondDeadlineMs + this.#chance.below(faultWithinMs);
      const any = this.#chance.pick(this.#crew.slots);
      const slot = (moment === 'any' ? null : active) ?? any;
      if (isStroke(fault) && drawn.some((one) => one.slot === slot && isStroke(one.fault))) continue;
      drawn.push({ fault: slot === this.#spared ? survived(fault) : fault, moment, account, atMs, stoppedMs, slot });
    }
    return drawn;
  }

  /** Resolves at the moment, and where it does not come soon, after a while. */
  async #untilMoment({ moment, account, atMs }: Stroke): Promise<void> {
    if (moment === 'any') return void (await sleep(atMs));
    const api = this.#crew.api(account);
    const { receiver } = this.#crew;
    const came = Promise.withResolvers<void>();
    if (moment === 'message') {
      receiver.answer = () => {
        came.resolve();
        return 200;
      };
    } else if (moment === 'post') api.applied = () => came.resolve();
    else {
      const known = new Set(api.mailboxes.keys());
      api.fault = ({ path, mailboxId }) => {
        if (path === '/v1/warmup' && mailboxId !== null && !known.has(mailboxId)) came.resolve();
        return undefined;
      };
    }
    await Promise.race([came.promise, sleep(2 * faultWithinMs)]);
  }

  /** The deliveries that were in flight, where that may repeat them. */
  async #strike(stroke: Stroke): Promise<readonly string[]> {
    await this.#untilMoment(stroke);
    const { fault, slot, atMs, stoppedMs } = stroke;
    const { daemon, proxy } = slot;
    if (fault === 'cut') proxy.cutAll();
    else if (fault === 'commit_lost') proxy.cutNext('before');
    else if (fault === 'reply_lost') proxy.cutNext('after');
    else if (fault === 'restart') {
      daemon.kill('SIGTERM');
      expect(await daemon.ended).toEqual({ code: 0, signal: null });
      this.#crew.restart(slot);
    } else {
      if (fault === 'kill') await daemon.killNow();
      if (fault === 'freeze') daemon.kill('SIGSTOP');
      if (fault === 'away') proxy.close();
      const inFlight = await this.#pending();
      await sleep(fault === 'kill' ? atMs : stoppedMs);
      if (fault === 'kill') this.#crew.restart(slot);
      if (fault === 'freeze') daemon.kill('SIGCONT');
      if (fault === 'away') proxy.open();
      return inFlight;
    }
    return [];
  }

  async #isKnown({ mailbox: { id } }: Touched): Promise<boolean> {
    const sql = `SELECT FROM warmwarden.mailboxes WHERE mailbox_id = '${id}'`;
    return (await this.#crew.query(sql)).length > 0;
  }

  async #pending(): Promise<readonly string[]> {
    const sql = "SELECT id FROM warmwarden.deliveries WHERE state = 'pending'";
    return (await this.#crew.query<{ id: string }>(sql)).map(({ id }) => id);
  }
}

/** A fault that was drawn: to whom, and when. */
interface Stroke {
  readonly fault: Fault;
  readonly moment: Moment;
  readonly account: string;
  readonly atMs: number;
  readonly stoppedMs: number;
  readonly slot: Slot;
}

/** What is nearest to it, and lets the process live. */
function survived(fault: Fault): Fault {
  if (fault === 'kill') return 'freeze';
  return fault === 'restart' ? 'away' : fault;
}

function isStroke(fault: Fault): boolean {
  return strokes.some((one) => one === fault);
}
