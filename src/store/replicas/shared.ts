// The membership of a replica that shares its store with others: beats, sees others die, takes and gives work (docs/replicas.md). The
// decisions are pure (deadline.ts, heir.ts, shares.ts), the database's part is the roster's.
import { type Bell, type Clock, createBell, type Log } from '../../world/world.ts';
import { Balance } from './balance.ts';
import { isHeld, type Moment, mayPost } from './deadline.ts';
import { afterRead, isSilent, type Seen } from './heir.ts';
import type { Follower, Membership, Replica, ReplicaReport, Scope } from './membership.ts';
import type { EndedReplica } from './missing.ts';
import type { Entry, Roster, SeenReplica, Sight } from './roster.ts';
import { declinedMs, freeScopes, type Holding, mayOffer, needsRoom, toEnd, toGive, toTake } from './shares.ts';
import { Trouble } from './trouble.ts';

const beatEveryMs = 3_000;
/** Between two looks at the others. */
const lookEveryMs = 1_000;
/** Between two attempts to give a scope away while the database is away. */
const giveAgainMs = 1_000;

export interface ReplicaOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** For people: host and process. */
  readonly name: string;
  /** Of Warmwarden. */
  readonly version: string;
  /** How long replicas have neither come nor gone before accounts move for balance, milliseconds. */
  readonly balanceAfterMs?: number;
}

export class SharedMembership implements Membership {
  readonly #roster: Roster;
  readonly #options: ReplicaOptions;
  readonly #newId: () => string;
  readonly #bell: Bell;
  #entry: Entry;
  #report: ReplicaReport = { configDigest: '', reloadFailure: null, storeFailure: null };
  #wanted: readonly Scope[] = [];
  #wantsAreNews = false;
  #follower: Follower | null = null;
  readonly #held = new Map<Scope, Holding>();
  /** The newest call to the follower about each scope; it ends when the follower is done with it, and with those before. */
  readonly #calls = new Map<Scope, Promise<void>>();
  /** Abandoned, until the follower has ended it: not taken again before. */
  readonly #ending = new Set<Scope>();
  /** Were somebody's once: without a lease their holder may still be at work. */
  readonly #owned = new Set<Scope>();
  /** Who waits for a whole turn. */
  readonly #waiting: (() => void)[] = [];
  /** After it was taken for dead: until the follower has ended all work. */
  #losing: Promise<void> | null = null;
  /** When the last acknowledged beat was sent; null: none was. */
  #sent: Moment | null = null;
  #beatAt = Number.NEGATIVE_INFINITY;
  readonly #trouble: Trouble;
  #sight: Sight = { now: 0, replicas: [], leases: [], missing: [] };
  #seen = new Map<string, Seen>();
  #freeSince = new Map<Scope, number>();
  readonly #balance: Balance;
  readonly #declinedUntil = new Map<Scope, number>();
  #state: 'here' | 'leaving' | 'gone' = 'here';
  #loop: Promise<void> | null = null;

  constructor(roster: Roster, options: ReplicaOptions, newId: () => string) {
    this.#roster = roster;
    this.#options = options;
    this.#newId = newId;
    this.#bell = createBell(options.clock);
    this.#trouble = new Trouble(options.name, options.log);
    this.#balance = new Balance(options.balanceAfterMs);
    this.#entry = this.#newEntry();
  }

  /** Rejects when the database is away. From then on it beats. */
  async enter(): Promise<void> {
    await this.#enter();
    this.#loop = this.#run();
  }

  get self(): string {
    return this.#entry.id;
  }

  /** Whether the deadline is not over: what it holds is its own. */
  get isHeld(): boolean {
    return this.#sent !== null && isHeld(this.#sent, this.#now());
  }

  /** Why the database was not reached last; null: it was. */
  get failure(): Error | null {
    return this.#trouble.beatFailure;
  }

  get overdue(): Error | null {
    if (this.#state !== 'here') return null;
    return this.#trouble.overdue(this.isHeld, this.#freeSince.values(), this.#now().monotonic);
  }

  holds(scope: Scope): boolean {
    return this.#held.has(scope) && this.isHeld;
  }

  mayPost(): boolean {
    return this.#sent !== null && mayPost(this.#sent, this.#now());
  }

  replicas(): readonly Replica[] {
    const { monotonic } = this.#now();
    const owned = Map.groupBy(this.#sight.leases, ({ owner }) => owner);
    return this.#sight.replicas.map(({ beat, ...one }) => ({
      ...one,
      silentMs: monotonic - (this.#seen.get(one.id)?.since ?? monotonic),
      scopes: (owned.get(one.id) ?? []).map(({ scope }) => scope),
    }));
  }

  missing(): readonly EndedReplica[] {
    return this.#sight.missing;
  }

  async want(scopes: readonly Scope[]): Promise<void> {
    this.#wanted = [...scopes];
    this.#wantsAreNews = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    this.#bell.ring();
    await promise;
    await Promise.all(this.#calls.values());
  }

  report(report: Partial<ReplicaReport>): void {
    this.#report = { ...this.#report, ...report };
  }

  follow(follower: Follower): void {
    this.#follower = follower;
    this.#bell.ring();
  }

  offer(scope: Scope): void {
    if (this.#held.get(scope) === 'ours' && mayOffer({ self: this.self, sight: this.#sight }, scope))
      this.#release(scope, true);
  }

  async stop(): Promise<void> {
    if (this.#state !== 'here') return void (await this.#loop);
    this.#state = 'leaving';
    void this.want([]);
    await this.#loop;
    await Promise.all(this.#calls.values());
    await this.#roster.leave(this.self).catch(() => {});
  }

  /** Ends at once, as a crash would: what it still holds is inherited. */
  async close(): Promise<void> {
    const isMissed = this.#state === 'here' && this.#held.size === 0 && this.#loop !== null;
    this.#state = 'gone';
    this.#bell.ring();
    await this.#loop;
    if (isMissed) await this.#roster.leave(this.self).catch(() => {});
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (this.#state === 'here' || this.#isGiving()) {
      const waiting = this.#waiting.splice(0);
      await clock.busy(() => this.#turn());
      for (const resolve of waiting) resolve();
      if (this.#state === 'here' || this.#isGiving()) await this.#bell.sleep(this.#pauseMs());
    }
    this.#state = 'gone';
    for (const resolve of this.#waiting) resolve();
  }

  /** Whether it leaves, and has something that it can still give. */
  #isGiving(): boolean {
    return this.#state === 'leaving' && this.#held.size > 0 && (this.isHeld || this.#losing !== null);
  }

  /** Until the next look, or the next beat. */
  #pauseMs(): number {
    return Math.max(0, Math.min(lookEveryMs, this.#beatAt + beatEveryMs - this.#now().monotonic));
  }

  async #turn(): Promise<void> {
    const sight = await this.#look();
    if (sight === 'away') return;
    if (sight === 'dead') return this.#startOver();
    this.#see(sight);
    this.#endUnleased();
    await this.#markSilent();
    if (this.#follower && !this.#losing) await this.#share(this.#follower);
  }

  /** A beat, when it is due or has news. A read that failed does not count as the silence of a replica. */
  async #look(): Promise<Sight | 'away' | 'dead'> {
    try {
      const isDue = this.#now().monotonic - this.#beatAt >= beatEveryMs || this.#wantsAreNews;
      const sight = isDue ? await this.#beat() : await this.#roster.look();
      // One that can't join again fails, although it is answered.
      if (!sight?.replicas.some(({ id }) => id === this.self)) return 'dead';
      this.#trouble.beatWell();
      return sight;
    } catch (error) {
      this.#trouble.beatFailed(error);
      this.#seen.clear();
      if (this.#state !== 'gone') this.#options.log.error({ err: error }, 'a heartbeat of this replica failed');
      return 'away';
    }
  }

  async #beat(): Promise<Sight | null> {
    const sent = this.#now();
    this.#beatAt = sent.monotonic;
    const wants = this.#wantsAreNews ? this.#wanted : null;
    const sight = await this.#roster.beat(this.self, wants, this.#report);
    if (!sight) return null;
    this.#sent = sent;
    if (wants === this.#wanted) this.#wantsAreNews = false;
    this.#trouble.measured(sight.now - (sent.wall + this.#now().wall) / 2);
    return sight;
  }

  #see(sight: Sight): void {
    const { monotonic } = this.#now();
    this.#sight = sight;
    const seen = sight.replicas.map(
      ({ id, beat }) => [id, afterRead(this.#seen.get(id) ?? null, beat, monotonic)] as const,
    );
    this.#seen = new Map(seen);
    const free = freeScopes(this.#situation());
    this.#freeSince = new Map(free.map((scope) => [scope, this.#freeSince.get(scope) ?? monotonic]));
    for (const [scope, until] of this.#declinedUntil) if (until <= monotonic) this.#declinedUntil.delete(scope);
    this.#balance.seen(sight, this.self, monotonic);
  }

  /** Takes are of earlier turns: the sight of this one began after they were acknowledged. */
  #endUnleased(): void {
    const { leases } = this.#sight;
    for (const scope of toEnd({ self: this.self, leases }, this.#held)) {
      this.#options.log.warn(
        { work: scope },
        'this replica no longer has the lease of this work: it ends the work at once',
      );
      this.#held.delete(scope);
      this.#ending.add(scope);
      const ended = Promise.all([this.#follower?.abandon(scope), this.#calls.get(scope)]).then(() => {
        this.#ending.delete(scope);
        this.#bell.ring();
      });
      this.#calls.set(scope, ended);
    }
    for (const { scope, owner } of leases) if (owner !== null) this.#owned.add(scope);
  }

  async #markSilent(): Promise<void> {
    const { log } = this.#options;
    for (const one of this.#sight.replicas) {
      const seen = this.#seen.get(one.id);
      if (one.id === this.self || !seen || !isSilent(seen, this.#now().monotonic)) continue;
      const { name } = one;
      // A transaction of it that is under way may keep its row for a moment.
      const isDead = await this.#roster.markDead(one.id, seen.beat).catch((error: unknown) => {
        log.warn({ replica: name, failure: String(error) }, 'the work of a silent replica could not be taken over yet');
        return false;
      });
      if (!isDead) continue;
      log.warn({ replica: name }, 'a replica is silent: the others take over its work');
      this.#forget(one);
    }
  }

  #forget({ id }: SeenReplica): void {
    this.#seen.delete(id);
    this.#sight = { ...this.#sight, replicas: this.#sight.replicas.filter((one) => one.id !== id) };
  }

  /** Nothing that was held can be written any more. What comes next is another replica. */
  async #startOver(): Promise<void> {
    const { log } = this.#options;
    log.warn('the database no longer knows this replica, which lost its work: it joins the others again');
    const hadWork = this.#held.size > 0;
    this.#held.clear();
    this.#sent = null;
    this.#entry = this.#newEntry();
    const follower = this.#follower;
    if (follower && hadWork && !this.#losing) {
      this.#losing = follower.lost().then(async () => {
        await Promise.all(this.#calls.values());
        this.#losing = null;
        this.#bell.ring();
      });
    }
    if (this.#state === 'here')
      await this.#enter().catch((error: unknown) => {
        this.#trouble.beatFailed(error);
        log.error({ err: error }, 'this replica could not join the others');
      });
  }

  async #enter(): Promise<void> {
    await this.#roster.enter(this.#entry, this.#wanted, this.#report);
    this.#beatAt = Number.NEGATIVE_INFINITY;
  }

  async #share(follower: Follower): Promise<void> {
    const wanted = new Set(this.#wanted);
    for (const [scope, holding] of this.#held)
      if (holding === 'ours' && !wanted.has(scope)) this.#release(scope, false);
    if (!this.isHeld || this.#trouble.isClockOff || this.#state !== 'here') return;
    await this.#takeFree(follower);
    this.#giveOne();
  }

  async #takeFree(follower: Follower): Promise<void> {
    const situation = this.#situation();
    let { scopes, room } = toTake(situation);
    for (const scope of scopes) {
      if (this.#ending.has(scope) || (needsRoom(scope) && room <= 0)) continue;
      // Beats come first; what is left is taken right after.
      if (this.#pauseMs() === 0 || !this.isHeld) return this.#bell.ring();
      const how = await this.#trouble.ofTaking(this.#roster.take(this.self, scope), () => this.#now().monotonic);
      if (how === null) continue;
      if (needsRoom(scope)) room -= 1;
      this.#freeSince.delete(scope);
      this.#held.set(scope, 'ours');
      this.#balance.took(scope, this.#now().monotonic);
      const isOrphan = how === 'free' && this.#owned.has(scope);
      this.#owned.add(scope);
      void this.#callFor(scope, () => follower.taken(scope, isOrphan ? 'inherited' : how));
    }
  }

  /** Once all is calm, one account at a time goes to who has fewer. */
  #giveOne(): void {
    const isCalm = this.#balance.mayGive(this.#now().monotonic) && this.#freeSince.size === 0;
    if (!isCalm || [...this.#held.values()].some((holding) => holding !== 'ours')) return;
    const scope = toGive(this.#situation());
    if (scope !== null) this.#release(scope, false);
  }

  #situation() {
    return {
      ...{ self: this.self, sight: this.#sight, wanted: this.#wanted, held: new Set(this.#held.keys()) },
      ...{ freeSince: this.#freeSince, declinedUntil: this.#declinedUntil, now: this.#now().monotonic },
    };
  }

  /** Ends the work in good order, and then gives the lease away. */
  #release(scope: Scope, offered: boolean): void {
    const { self } = this;
    this.#held.set(scope, 'going');
    const released = this.#callFor(scope, async () => this.#follower?.release(scope));
    void released.then(() => this.#give(self, scope, offered));
  }

  async #give(self: string, scope: Scope, offered: boolean): Promise<void> {
    const { clock } = this.#options;
    const isOurs = () => this.self === self && this.#held.has(scope) && this.#state !== 'gone';
    if (isOurs()) this.#held.set(scope, 'giving');
    while (isOurs()) {
      try {
        await clock.busy(() => this.#roster.give(self, scope, offered));
        if (!isOurs()) return;
        this.#held.delete(scope);
        this.#balance.gave(scope);
        this.#declinedUntil.set(scope, this.#now().monotonic + declinedMs);
        this.#bell.ring();
      } catch {
        await clock.sleep(giveAgainMs);
      }
    }
  }

  /** Calls the follower, once it is done with the calls before about the same scope. */
  #callFor(scope: Scope, call: () => Promise<void>): Promise<void> {
    const made = (this.#calls.get(scope) ?? Promise.resolve()).then(call);
    this.#calls.set(scope, made);
    return made;
  }

  #newEntry(): Entry {
    const { name, version, clock } = this.#options;
    return { id: this.#newId(), name, version, startedAt: clock.now() };
  }

  #now(): Moment {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }
}
