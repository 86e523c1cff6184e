// Replicas in one process on one PostgreSQL: memberships with followers that note what they hear, on clocks that tests move.
import { randomUUID } from 'node:crypto';
import { Kysely, sql } from 'kysely';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { clientConfig, poolOf } from '../../src/store/postgres/connecting.ts';
import { StoreDialect } from '../../src/store/postgres/dialect.ts';
import { raise } from '../../src/store/postgres/fence.ts';
import { Line } from '../../src/store/postgres/line.ts';
import { Reach } from '../../src/store/postgres/reach.ts';
import { PostgresRoster } from '../../src/store/postgres/roster.ts';
import type { Scope } from '../../src/store/replicas/membership.ts';
import type { Roster } from '../../src/store/replicas/roster.ts';
import { SharedMembership } from '../../src/store/replicas/shared.ts';
import type { Tables } from '../../src/store/schema/tables.ts';
import { Store } from '../../src/store/store.ts';
import { type Clock, logTo, movedClock } from '../../src/world/world.ts';

const start = Date.UTC(2026, 2, 10);

export class Rig implements AsyncDisposable {
  readonly clock = movedClock(start);
  readonly db: Kysely<Tables>;
  readonly #place: PostgresPlace;
  readonly #joined: Joined[] = [];
  /** The database does not answer anybody. */
  isAway = false;
  /** It answers, and refuses this. */
  refuses: keyof Roster | null = null;
  /** Work that two did at a time. */
  readonly doubled: string[] = [];
  readonly #working = new Map<Scope, string>();

  private constructor(place: PostgresPlace) {
    this.#place = place;
    this.db = new Kysely({ dialect: new StoreDialect({ pool: poolOf(clientConfig(place), 4) }) });
  }

  static async on(place: PostgresPlace): Promise<Rig> {
    await (await Store.open(place, start)).close();
    return new Rig(place);
  }

  async join(name: string, scopes: readonly Scope[]): Promise<Joined> {
    const joined = new Joined(name, this, new Line(this.#place, new Reach(this.#place, false)));
    this.#joined.push(joined);
    await joined.membership.enter();
    joined.begin(scopes);
    return joined;
  }

  async until(met: () => boolean, withinMs: number): Promise<void> {
    if (await this.clock.advanceUntil(met, withinMs)) return;
    const seen = this.#joined.map(({ name, said }) => `${name}: ${said.join(', ')}`).join('\n');
    throw new Error(`waited ${withinMs} ms in vain\n${seen}`);
  }

  /** As if all had been taken for dead. */
  async forgetReplicas(): Promise<void> {
    await sql`DELETE FROM replicas`.execute(this.db);
  }

  begins(scope: Scope, who: string): void {
    const other = this.#working.get(scope);
    if (other !== undefined) this.doubled.push(`${scope}: ${other} and ${who}`);
    this.#working.set(scope, who);
  }

  ends(who: string, scope: Scope | null): void {
    for (const [one, worker] of this.#working)
      if (worker === who && (scope === null || one === scope)) this.#working.delete(one);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.#joined) await one.kill();
    await this.db.destroy();
  }
}

export class Joined {
  readonly name: string;
  readonly membership: SharedMembership;
  readonly said: string[] = [];
  readonly #rig: Rig;
  readonly #line: Line;
  #scopes: readonly Scope[] = [];
  #frozen: { readonly thawed: Promise<void>; readonly thaw: () => void } | null = null;
  #jumpedMs = 0;
  #loss: Promise<void> | null = null;
  readonly #heldUp = new Map<Scope, Promise<void>>();

  constructor(name: string, rig: Rig, line: Line) {
    this.name = name;
    this.#rig = rig;
    this.#line = line;
    const log = logTo(() => {}, { level: 'info', format: 'json' }, rig.clock);
    this.membership = new SharedMembership(
      this.#roster(),
      { clock: this.#clock(), log, name, version: '1.0.0' },
      randomUUID,
    );
  }

  want(scopes: readonly Scope[]): void {
    this.#scopes = scopes;
    this.membership.want(scopes);
  }

  begin(scopes: readonly Scope[]): void {
    this.want(scopes);
    this.membership.follow({
      taken: async (scope, how) => {
        this.said.push(`${scope} ${how}`);
        this.#rig.begins(scope, this.name);
      },
      release: async (scope) => {
        this.said.push(`release ${scope}`);
        await this.#heldUp.get(scope);
        this.#rig.ends(this.name, scope);
      },
      abandon: async (scope) => {
        this.said.push(`abandon ${scope}`);
        this.#rig.ends(this.name, scope);
      },
      lost: async () => {
        this.said.push('lost');
        await this.#loss;
        this.#rig.ends(this.name, null);
      },
    });
  }

  holds(): readonly Scope[] {
    return this.#scopes.filter((scope) => this.membership.holds(scope));
  }

  accounts(): readonly Scope[] {
    return this.holds().filter((scope) => scope.startsWith('account:'));
  }

  /** The end of this work takes until the answer is called. */
  holdUp(scope: Scope): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#heldUp.set(scope, promise);
    return resolve;
  }

  /** When it loses all work, the end of it takes until the answer is called. */
  holdUpLoss(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#loss = promise;
    return resolve;
  }

  /** One transaction for a scope. */
  async write(scope: Scope): Promise<void> {
    await this.#writeAs(this.membership.self, [scope]);
  }

  /** As after kill -9. */
  async kill(): Promise<void> {
    this.thaw();
    this.#rig.ends(this.name, null);
    await this.membership.close();
    await this.#line.close();
  }

  freeze(): void {
    const { promise: thawed, resolve: thaw } = Promise.withResolvers<void>();
    this.#frozen = { thawed, thaw };
    // What it would do it does when it is awake.
    this.#rig.ends(this.name, null);
  }

  thaw(): void {
    this.#frozen?.thaw();
    this.#frozen = null;
  }

  /** Its wall clock is set. */
  jump(ms: number): void {
    this.#jumpedMs += ms;
  }

  #clock(): Clock {
    const { clock } = this.#rig;
    return {
      now: () => clock.now() + this.#jumpedMs,
      monotonic: () => clock.monotonic(),
      busy: (work) => clock.busy(work),
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        await this.#frozen?.thawed;
      },
    };
  }

  /** PostgreSQL's clock does not move with ours, and the database may be away. */
  #roster(): Roster {
    const roster = new PostgresRoster(this.#line, async (id, work) => {
      await this.#writeAs(id, [], work);
    });
    const seenAt = <Seen extends object | null>(sight: Seen) => sight && { ...sight, now: this.#rig.clock.now() };
    const reached = <Asked extends unknown[], Answer>(ask: (...asked: Asked) => Promise<Answer>) => {
      return async (...asked: Asked): Promise<Answer> => {
        if (this.#rig.isAway) throw new Error('Connection terminated unexpectedly');
        if (this.#rig.refuses && ask === of[this.#rig.refuses]) throw new Error('permission denied');
        return ask(...asked);
      };
    };
    const of: Roster = {
      enter: (...about) => roster.enter(...about),
      beat: async (...about) => seenAt(await roster.beat(...about)),
      look: async () => seenAt(await roster.look()),
      markDead: (...about) => roster.markDead(...about),
      take: (...about) => roster.take(...about),
      give: (...about) => roster.give(...about),
      leave: (...about) => roster.leave(...about),
    };
    return {
      enter: reached(of.enter),
      beat: reached(of.beat),
      look: reached(of.look),
      markDead: reached(of.markDead),
      take: reached(of.take),
      give: reached(of.give),
      leave: reached(of.leave),
    };
  }

  async #writeAs(
    id: string,
    scopes: readonly Scope[],
    work: (trx: Kysely<Tables>) => Promise<unknown> = async () => {},
  ): Promise<void> {
    await this.#rig.db.transaction().execute(async (trx) => {
      if ((await raise(trx, id, scopes)) === null) throw new Error('refused');
      await work(trx);
    });
  }
}
