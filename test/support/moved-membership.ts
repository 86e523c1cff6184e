// A membership that is moved by hand: a test gives and takes the work of a daemon that is one of several.

import type {
  Follower,
  Membership,
  Replica,
  ReplicaReport,
  Scope,
  Taking,
} from '../../src/store/replicas/membership.ts';
import { Store } from '../../src/store/store.ts';

export class MovedMembership implements Membership {
  readonly self = 'self';
  readonly #held = new Set<Scope>();
  #follower: Follower | null = null;
  /** What the daemon asked for last. */
  wanted: readonly Scope[] = [];
  /** What the daemon offered to others. */
  readonly offered: Scope[] = [];
  others: readonly Replica[] = [];
  /** What others see of the daemon. */
  reported: Partial<ReplicaReport> = {};
  overdue: Error | null = null;
  /** Whether the deadline is over. */
  isOver = false;

  holds(scope: Scope): boolean {
    return this.#held.has(scope) && !this.isOver;
  }

  mayPost(): boolean {
    return !this.isOver;
  }

  replicas(): readonly Replica[] {
    return this.others;
  }

  missing(): readonly [] {
    return [];
  }

  async want(scopes: readonly Scope[]): Promise<void> {
    this.wanted = scopes;
  }

  report(report: Partial<ReplicaReport>): void {
    this.reported = { ...this.reported, ...report };
  }

  offer(scope: Scope): void {
    this.offered.push(scope);
  }

  follow(follower: Follower): void {
    this.#follower = follower;
  }

  async stop(): Promise<void> {}

  async give(scope: Scope, how: Taking): Promise<void> {
    this.#held.add(scope);
    await this.#follower?.taken(scope, how);
  }

  async takeBack(scope: Scope): Promise<void> {
    await this.#follower?.release(scope);
    this.#held.delete(scope);
  }

  /** Its lease is no longer there. */
  async drop(scope: Scope): Promise<void> {
    this.#held.delete(scope);
    await this.#follower?.abandon(scope);
  }

  /** It was taken for dead. */
  async lose(): Promise<void> {
    this.#held.clear();
    await this.#follower?.lost();
  }

  /** Opens a store in which it is the membership. */
  readonly openStore: typeof Store.open = async (...opening) => {
    const store = await Store.open(...opening);
    Object.defineProperty(store, 'membership', { value: this });
    return store;
  };
}

/** Another replica that lives, and has this work. */
export function replica(name: string, scopes: readonly Scope[]): Replica {
  const about = { version: '1', startedAt: 0, silentMs: 0, configDigest: '', reloadFailure: null, storeFailure: null };
  return { id: name, name, scopes, wants: scopes, ...about };
}
