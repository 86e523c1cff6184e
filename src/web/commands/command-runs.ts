// Commands that were begun on the page: carried out a few at a time, and kept for a while so that their outcome can be shown.
import { randomUUID } from 'node:crypto';
import type { CommandOutcome } from '../../core/operator-command.ts';
import { systemClock } from '../../world/world.ts';
import type { CommandEffect, CommandRun } from '../page/command-page.ts';

/** Runs that are kept: the audit log has all of them. */
const maxRuns = 200;
/** Requests of one run at a time: all of an account share one budget. */
const atATime = 3;
/** A browser waits so long for the outcome, then it gets a page that asks again. */
const shownAfterMs = 5_000;

export interface RunRequest {
  readonly name: string;
  readonly carryOut: () => Promise<CommandOutcome>;
}

export class CommandRuns {
  readonly #runs = new Map<string, CommandRun>();

  /** Resolves to the id of the run when it is over, or when it takes long. */
  async start(about: Omit<CommandRun, 'total' | 'outcomes'>, requests: readonly RunRequest[]): Promise<string> {
    const id = randomUUID();
    const outcomes: CommandEffect[] = [];
    this.#runs.set(id, { ...about, total: requests.length, outcomes });
    for (const [oldest] of this.#runs) {
      if (this.#runs.size <= maxRuns) break;
      this.#runs.delete(oldest);
    }
    const left = requests.values();
    const workThrough = async () => {
      for (const { name, carryOut } of left) outcomes.push({ name, outcome: await carryOut() });
    };
    const over = Promise.all(Array.from({ length: atATime }, workThrough));
    // Browsers wait in the machine's time, also where the daemon's clock is moved by hand.
    const waiting = new AbortController();
    await Promise.race([over, systemClock().sleep(shownAfterMs, waiting.signal)]);
    waiting.abort();
    return id;
  }

  find(id: string): CommandRun | undefined {
    return this.#runs.get(id);
  }
}
