// How many days of statistics the API gives, where that is fewer than were asked for.

import { dayMs } from '../core/time.ts';
import type { Clock } from '../world/world.ts';
import type { Result } from './http/failure.ts';

/** Numbers of days that are asked for, one after the other, where the API refuses more. The last one is the document's usual number. */
const fewerDays: readonly number[] = [14, 7];
/** All days are asked for again after this. */
const fewerForMs = dayMs;

/** That the API gives fewer days of statistics than were asked for. */
export interface StatsCut {
  readonly asked: number;
  readonly given: number;
  /** How it refused more; null: it just left them out. */
  readonly said: string | null;
}

/** The sentence about days that the API does not give. */
export function cutText({ asked, given, said }: StatsCut): string {
  const why = said === null ? '' : ` (${said})`;
  return `the API gives ${given} instead of ${asked} days of statistics${why}: Warmwarden judges by these`;
}

export class StatsDays {
  readonly #clock: Clock;
  readonly #say: (cut: StatsCut) => void;
  /** By mailbox: until when no more days than these are asked for, milliseconds of the monotonic clock. */
  readonly #fewer = new Map<string, { readonly days: number; readonly until: number }>();
  #cut: StatsCut | null = null;

  /** `say`: called when another number of days is left out than before. */
  constructor(clock: Clock, say: (cut: StatsCut) => void) {
    this.#clock = clock;
    this.#say = say;
  }

  /** Days that the API left out when it last did; null if it never did. */
  get cut(): StatsCut | null {
    return this.#cut;
  }

  /**
   * Asks for `days` of a mailbox. A 400 that goes away with fewer is about them, whatever it says (docs/faults.md T8): what was given then is
   * asked for until the next day, also of the other mailboxes once two were refused more. `slot` comes before each further request.
   */
  async ask<Answer>(
    mailboxId: string,
    days: number,
    request: (days: number) => Promise<Result<Answer>>,
    slot: () => Promise<void>,
  ): Promise<Result<Answer>> {
    const first = this.#given(mailboxId, days);
    const answer = await request(first);
    if (answer.ok || answer.failure.status !== 400) return answer;
    for (const fewer of fewerDays.filter((one) => one < first)) {
      await slot();
      const again = await request(fewer);
      if (again.ok) {
        this.#fewer.set(mailboxId, { days: fewer, until: this.#clock.monotonic() + fewerForMs });
        this.#note({ asked: days, given: fewer, said: answer.failure.detail });
        return again;
      }
      if (again.failure.status !== 400) return again;
    }
    return answer;
  }

  #given(mailboxId: string, days: number): number {
    const now = this.#clock.monotonic();
    for (const [id, { until }] of this.#fewer) if (until <= now) this.#fewer.delete(id);
    const own = this.#fewer.get(mailboxId)?.days ?? days;
    if (this.#fewer.size < 2) return Math.min(days, own);
    return Math.min(days, own, Math.max(...[...this.#fewer.values()].map((one) => one.days)));
  }

  /** An answer says how many days it holds. */
  holds(given: number, asked: number): void {
    if (given < asked) this.#note({ asked, given, said: null });
  }

  #note(cut: StatsCut): void {
    const isKnown = this.#cut?.given === cut.given && this.#cut.asked === cut.asked;
    this.#cut = cut;
    if (!isKnown) this.#say(cut);
  }
}
