// The membership of a process that has its store for itself: all work is its own, from the moment that it is wanted.
import type { Follower, Membership, Scope } from './membership.ts';

export class SoleMembership implements Membership {
  readonly self = null;
  readonly overdue = null;
  #follower: Follower | null = null;
  #wanted: ReadonlySet<Scope> = new Set();
  /** The follower was asked to begin these, and not yet to end them. */
  readonly #begun = new Set<Scope>();
  /** Until their end is over. */
  readonly #held = new Set<Scope>();
  /** The newest call to the follower about each scope; it ends when the follower is done with it, and with those before. */
  readonly #calls = new Map<Scope, Promise<void>>();

  holds(scope: Scope): boolean {
    return this.#held.has(scope);
  }

  mayPost(): boolean {
    return true;
  }

  replicas(): readonly [] {
    return [];
  }

  missing(): readonly [] {
    return [];
  }

  async want(scopes: readonly Scope[]): Promise<void> {
    this.#wanted = new Set(scopes);
    this.#settle();
    await Promise.all(this.#calls.values());
  }

  report(): void {}

  offer(): void {}

  follow(follower: Follower): void {
    this.#follower = follower;
    this.#settle();
  }

  /** Nobody waits for the work: it ends with the process, and whoever opens the store next goes on with it. */
  async stop(): Promise<void> {
    await Promise.all(this.#calls.values());
  }

  #settle(): void {
    const follower = this.#follower;
    if (!follower) return;
    for (const scope of this.#wanted) {
      if (this.#begun.has(scope)) continue;
      this.#begun.add(scope);
      this.#held.add(scope);
      this.#callFor(scope, () => follower.taken(scope, 'free'));
    }
    for (const scope of this.#begun) {
      if (this.#wanted.has(scope)) continue;
      this.#begun.delete(scope);
      this.#callFor(scope, async () => {
        await follower.release(scope);
        if (!this.#begun.has(scope)) this.#held.delete(scope);
      });
    }
  }

  /** Calls the follower, once it is done with the calls before about the same scope. */
  #callFor(scope: Scope, call: () => Promise<void>): void {
    this.#calls.set(scope, (this.#calls.get(scope) ?? Promise.resolve()).then(call));
  }
}
