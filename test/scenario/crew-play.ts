// Rounds of what befalls an active process and its standbys, one after the other, each held to the books: nothing happened twice, nothing was lost.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { chanceFrom } from '../soak/chance.ts';
import type { Crew, Slot } from '../support/crew.ts';
import { until } from '../support/until.ts';
import { Books, type Findings, underWay } from './crew-books.ts';
import { Disturbance, type Round } from './crew-round.ts';

const lookEveryMs = 250;
/** An inherited intent waits 25 s; what was not sent is tried again a minute later. */
const settledWithinMs = 6 * minuteMs;

const nothing: Findings = {
  notActedOnce: [],
  notToldOnce: [],
  notCommandedOnce: [],
  repeatedPosts: [],
  badMessages: [],
  disorder: [],
};

export class Play {
  readonly #crew: Crew;
  readonly #seed: number;
  readonly #disturbance: Disturbance;
  readonly #books: Books;
  readonly #played: Round[] = [];

  /** `spared`: it is frozen and cut off as the others, but its process is never ended. */
  constructor(crew: Crew, seed: number, spared: Slot | null = null) {
    this.#crew = crew;
    this.#seed = seed;
    this.#disturbance = new Disturbance(crew, chanceFrom(seed), spared);
    this.#books = new Books(crew);
  }

  async round(): Promise<void> {
    const round = await this.#disturbance.round();
    this.#played.push(round);
    await this.#settle(round);
    // What the round before led to is looked at once more, and leaves the fleet.
    await this.#check(this.#played.slice(-2));
    const before = this.#played.at(-2);
    for (const { account, mailbox } of [...(before?.breaches ?? []), ...(before?.commands ?? [])])
      this.#crew.api(account).mailboxes.delete(mailbox.id);
  }

  /** Waits for what would come late, and looks at the last round again; how much was played. */
  async end(): Promise<object> {
    const last = this.#played.slice(-1);
    for (const round of last) await this.#untilQuiet(round);
    await this.#check(last);
    const faults = Object.groupBy(
      this.#played.flatMap((round) => round.faults),
      (fault) => fault,
    );
    const commands = this.#played.flatMap((round) => round.commands);
    return {
      rounds: this.#played.length,
      ...Object.fromEntries(Object.entries(faults).map(([fault, all]) => [fault, all.length])),
      breaches: this.#played.flatMap(({ breaches }) => breaches).length,
      furtherTries: this.#books.tries,
      latePosts: this.#books.latePosts,
      commands: commands.length,
      commandsDone: commands.filter(({ isDone }) => isDone).length,
      // For people: the process that was reached may be gone, or stand by.
      notDone: commands.filter(({ isDone }) => !isDone).map(({ said }) => said.trim()),
      messages: this.#books.messages,
      repeatedMessages: this.#books.repeats,
    };
  }

  async #check(last: readonly Round[]): Promise<void> {
    const stories = last.map(({ story }) => story.join(', ')).join('; then ');
    expect(await this.#books.check(last), `WARMWARDEN_SEED=${this.#seed}; ${stories}`).toEqual(nothing);
  }

  /** Until one process is active and everything of the round is done and told. */
  async #settle({ breaches, story }: Round): Promise<void> {
    let left: string | null = 'not looked at yet';
    const settled = async () => {
      await sleep(lookEveryMs);
      const [row] = await this.#crew.query<{ text: string | null }>(underWay(breaches));
      left = row?.text ?? null;
      return left === null;
    };
    await until('everything to be settled', settled, settledWithinMs).catch((error: unknown) => {
      throw new Error(`${String(error)} (WARMWARDEN_SEED=${this.#seed}; ${story.join(', ')}):\n${left}`);
    });
    await this.#crew.untilActive();
  }

  /** A second POST or message would come with one of the next readings; and no command is left open. */
  async #untilQuiet({ breaches }: Round): Promise<void> {
    const read = () =>
      breaches.map(({ account, mailbox }) => this.#crew.api(account).reads('/v1/stats', mailbox).length);
    const before = read();
    await until('three more readings', () => read().every((count, index) => count >= (before[index] ?? 0) + 3));
    await until('every command to have an end', async () => {
      await sleep(lookEveryMs);
      return (await this.#crew.query('SELECT 1 FROM warmwarden.operator_commands WHERE result IS NULL')).length === 0;
    });
  }
}
