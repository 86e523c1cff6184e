// Number of days of statistics that the API gives, if it is smaller than requested.

import { dayMs } from '../core/time.ts';
import type { Clock } from '../world/world.ts';
import type { Result } from './http/failure.ts';

/** Requested in turn if the API refuses more. The last one is the document's usual number. */
const fewerDays: readonly number[] = [14, 7];
/** Time after which all days are requested again. */
const fewerForMs = dayMs;

export interface StatsCut {
  readonly asked: number;
  readonly given: number;
  /** Text of the refusal of more days, or null if the API just left them out. */
  readonly said: string | null;
}

export function cutText({ asked, given, said }: StatsCut): string {
  const why = said === null ? '' : ` (${said})`;
  return `the API gives ${given} instead of ${asked} days of statistics${why}: Warmwarden judges by these`;
}

export class StatsDays {
  readonly #clock: Clock;
  readonly #say: (cut: StatsCut) => void;
  /** `until`: end of the restriction on the monotonic clock. */
  readonly #fewer = new Map<string, { readonly days: number; readonly until: number }>();
  #cut: StatsCut | null = null;

  /** `say`: called when the number of missing days changes. */
  constructor(clock: Clock, say: (cut: StatsCut) => void) {
    this.#clock = clock;
    this.#say = say;
  }

  /** Days that the API left out most recently, or null if it never did. */
  get cut(): StatsCut | null {
    return this.#cut;
  }

  /**
   * A 400 that does not recur with fewer days is about their number, whatever it says (docs/faults.md T8). The smaller
   * number then applies for a day, and to all mailboxes once two were refused more. `slot`: called before further
   * requests.
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

  holds(given: number, asked: number): void {
    if (given < asked) this.#note({ asked, given, said: null });
  }

  #note(cut: StatsCut): void {
    const isKnown = this.#cut?.given === cut.given && this.#cut.asked === cut.asked;
    this.#cut = cut;
    if (!isKnown) this.#say(cut);
  }
}
