// What becomes of one email: delivered, opened, answered, put into spam, bounced now or later.
import { draw, evenly } from './chance.ts';
import type { WarmupMode } from './ramp.ts';
import type { Incident } from './scenario.ts';

/** An incident on this mailbox, in wall time (epoch milliseconds). */
export interface Affliction {
  readonly incident: Incident;
  readonly from: number;
  /** Infinity when it never ends. */
  until: number;
  /** Emails that it met so far; of a pause of the warm-up service, how often it turned. */
  emails: number;
}

/** An email on its way. `day` and `index` tell it from all others of its mailbox. */
export interface MailAtRisk {
  readonly day: number;
  readonly index: number;
  readonly mode: WarmupMode;
}

export interface Bounce {
  readonly type: 'hard' | 'soft' | 'block';
  readonly category: string;
  /** Milliseconds between sending and the bounce's arrival. */
  readonly delayMs: number;
}

/** An email that was not bounced. */
export interface Placement {
  readonly spam: boolean;
  readonly opened: boolean;
  readonly replied: boolean;
}

/** A healthy list has few dead addresses left. */
const baseBounceRate = 0.0005;

/**
 * So many emails at least lie between two bounces of a healthy mailbox. Two bounces stay within a limit when 2/limit
 * emails lie between them; the rest makes up for bounces that come up to two days late.
 */
const mailsBetweenBounces: Readonly<Record<WarmupMode, number>> = {
  slow: 500,
  balanced: 300,
  aggressive: 300,
  recovery: 800,
};

const lateShare = 0.15;
const halfDayMs = 43_200_000;
const spamRate = 0.03;
const openRate = 0.65;

/** The fate of a mailbox's emails. It remembers how many bounced, so its calls must come in the order of sending. */
export class Outcomes {
  readonly #key: number;
  #sinceBounce = 0;
  #bounces = 0;

  /** `key` is the mailbox's chance. */
  constructor(key: number) {
    this.#key = key;
  }

  /** The bounce that this email suffers, if any. `afflictions` are those that last at its time of sending. */
  bounce(mail: MailAtRisk, afflictions: readonly Affliction[]): Bounce | undefined {
    this.#sinceBounce += 1;
    for (const affliction of afflictions) {
      const { incident } = affliction;
      if (incident.kind === 'block') return this.#suffer(mail, 'block', 'policy_block');
      if (incident.kind !== 'bounce') continue;
      const phase = draw(this.#key, 0, Math.floor(affliction.from / 1_000), 'phase');
      const hit = evenly(incident.rate, phase, affliction.emails);
      affliction.emails += 1;
      return hit ? this.#suffer(mail, 'hard', 'invalid_recipient') : undefined;
    }
    const chance = draw(this.#key, mail.day, mail.index, 'bounce');
    if (this.#sinceBounce < mailsBetweenBounces[mail.mode] || chance >= baseBounceRate) return undefined;
    return chance < baseBounceRate / 3
      ? this.#suffer(mail, 'soft', 'mailbox_full')
      : this.#suffer(mail, 'hard', 'invalid_recipient');
  }

  /** Where a delivered email landed and what its receiver did. `replyRate` is in percent. */
  placement(day: number, index: number, replyRate: number): Placement {
    const spam = draw(this.#key, day, index, 'spam') < spamRate;
    // Nobody answers unopened email, so a high reply rate lifts the opens.
    const openShare = Math.max(openRate, replyRate / 100);
    const opened = !spam && draw(this.#key, day, index, 'open') < openShare;
    const replied = opened && draw(this.#key, day, index, 'reply') * openShare < replyRate / 100;
    return { spam, opened, replied };
  }

  #suffer(mail: MailAtRisk, type: Bounce['type'], category: string): Bounce {
    const late = type !== 'block' && evenly(lateShare, draw(this.#key, 0, 0, 'latePhase'), this.#bounces);
    this.#bounces += 1;
    this.#sinceBounce = 0;
    const delayMs = late ? halfDayMs + draw(this.#key, mail.day, mail.index, 'delay') * 2 * halfDayMs : 0;
    return { type, category, delayMs };
  }
}
