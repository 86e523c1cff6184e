// Passes a command to the replica whose work it is about, and waits for its outcome. A command that was begun is never begun
// again: when whoever began it dies, the person reads that and looks.
import type { CommandOutcome } from '../core/operator-command.ts';
import type { Replica } from '../store/replicas/membership.ts';
import { lookEveryMs, type PassedCommand, type PassingRooms, type Target } from './passed-command.ts';
import { failed } from './plan.ts';

/** A replica that died is replaced within this; nobody begins a command that is older. */
const beginWithinMs = 30_000;
/** A person's change has a minute to be sent, and two to be read back. */
const endWithinMs = 5 * 60_000;

const neverAnswered = 'The command is no longer in the store, so its outcome is unknown.';

export class Asking {
  readonly #rooms: PassingRooms;
  /** By id: those that were seen. */
  readonly #names = new Map<string, string>();
  #asked = 0;

  constructor(rooms: PassingRooms) {
    this.#rooms = rooms;
  }

  /** Rejects when the request can't be stored: then nothing was asked. */
  async ask(target: Target, asked: PassedCommand): Promise<CommandOutcome> {
    const { world, membership, requests, news } = this.#rooms;
    const { clock } = world;
    this.#asked += 1;
    this.#living();
    const askedAt = clock.now();
    const id = `${membership.self}-${askedAt}-${this.#asked}`;
    await requests.ask({ id, target, askedAt, expiresAt: askedAt + beginWithinMs, asked });
    const begun = clock.monotonic();
    for (;;) {
      const { signal } = news;
      const outcome = await this.#look(id, target, clock.monotonic() - begun).catch(() => null);
      if (outcome) return outcome;
      await clock.sleep(lookEveryMs, signal);
    }
  }

  /** null: it is not over yet. Rejects when the store can't be read. */
  async #look(id: string, target: Target, waitedMs: number): Promise<CommandOutcome | null> {
    const { requests } = this.#rooms;
    const state = await requests.state<CommandOutcome>(id);
    if (state?.outcome) return state.outcome;
    if (state && state.takenBy === null) {
      if (waitedMs < beginWithinMs || !(await requests.withdraw(id))) return null;
      return { ...failed(this.#notBegun(target)), worthRetrying: true };
    }
    const by = state?.takenBy ?? null;
    if (by === null) return failed(neverAnswered);
    if (this.#lives(by) && waitedMs < endWithinMs) return null;
    // It may have answered last of all.
    const last = await requests.state<CommandOutcome>(id);
    return last?.outcome ?? failed(this.#notEnded(by));
  }

  /** Also of one that has died since it was seen. null: it was never seen. */
  #name(replica: string): string | null {
    return this.#names.get(replica) ?? null;
  }

  #living(): readonly Replica[] {
    const living = this.#rooms.membership.replicas();
    for (const { id, name } of living) this.#names.set(id, name);
    return living;
  }

  #lives(replica: string): boolean {
    return this.#living().some(({ id }) => id === replica);
  }

  #notBegun(target: Target): string {
    const isIt = ({ id, scopes }: Replica) => target === `replica:${id}` || scopes.some((scope) => scope === target);
    const holder = this.#living().find(isIt);
    const silent = holder ? `Replica ${holder.name} does not answer` : nobody(target);
    return `${silent}, so nothing was done. Try again in a minute.`;
  }

  #notEnded(replica: string): string {
    const name = this.#name(replica) ?? replica;
    const silent = this.#lives(replica) ? 'did not answer within 5 minutes' : 'stopped before it answered';
    const { command } = this.#rooms.world;
    return `Replica ${name} started this command and ${silent}, so its outcome is unknown. \`${command} history\` and \`${command} explain MAILBOX\` show what was done.`;
  }
}

function nobody(target: Target): string {
  const [kind, account] = [target.slice(0, target.indexOf(':')), target.slice(target.indexOf(':') + 1)];
  return kind === 'account' ? `No replica guards account ${account} at the moment` : 'That replica has stopped';
}
