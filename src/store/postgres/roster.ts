// The replicas and their leases in PostgreSQL: who lives, who has what. Whoever is not among the replicas is dead for ever.
import { sql } from 'kysely';
import type { Write } from '../database.ts';
import type { ReplicaReport, Scope, Taking } from '../replicas/membership.ts';
import { type EndedReplica, missedForMs } from '../replicas/missing.ts';
import type { Entry, Roster, SeenLease, SeenReplica, Sight } from '../replicas/roster.ts';
import type { Ask, Line } from './line.ts';
import { nowMs, nowText } from './now.ts';

const replicaColumns = `id, name, version, started_at AS "startedAt", beat, config_digest AS "configDigest",
  reload_failure AS "reloadFailure", wants, store_failure AS "storeFailure"`;
const living = 'EXISTS (SELECT FROM replicas r WHERE r.id = ';

/** Runs one transaction of a replica, after those that were asked for before. */
type WriteAs = (id: string, work: Parameters<Write>[0]) => Promise<unknown>;

export class PostgresRoster implements Roster {
  readonly #line: Line;
  readonly #writeAs: WriteAs;

  constructor(line: Line, writeAs: WriteAs) {
    this.#line = line;
    this.#writeAs = writeAs;
  }

  async enter({ id, name, version, startedAt }: Entry, wants: readonly Scope[], report: ReplicaReport): Promise<void> {
    await this.#line.run(async (ask) => {
      const replaced = await ask(
        `DELETE FROM ended_replicas WHERE id = (SELECT id FROM ended_replicas
          ORDER BY ${hostOf('name')} = ${hostOf('$1::text')} DESC, beat_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING 1`,
        [name],
      );
      await ask('INSERT INTO fences (id, version) VALUES ($1, 0)', [id]);
      await ask(
        `INSERT INTO replicas (id, name, version, started_at, beat, beat_at, wants, config_digest, reload_failure, store_failure, replaces)
          VALUES ($1, $2, $3, $4, 0, ${nowText}, $5, $6, $7, $8, $9)`,
        [id, name, version, Math.round(startedAt), JSON.stringify(wants), ...reported(report), replaced.length > 0],
      );
    });
  }

  beat(id: string, wants: readonly Scope[] | null, report: ReplicaReport): Promise<Sight | null> {
    return this.#line.run(async (ask) => {
      const beaten = await ask(
        `UPDATE replicas SET beat = beat + 1, beat_at = ${nowText}, config_digest = $2, reload_failure = $3, store_failure = $4
          WHERE id = $1 RETURNING 1`,
        [id, ...reported(report)],
      );
      if (beaten.length === 0) return null;
      // Most beats leave it as it is: it is the long column.
      if (wants) await ask('UPDATE replicas SET wants = $2 WHERE id = $1', [id, JSON.stringify(wants)]);
      return sightOf(ask);
    });
  }

  look(): Promise<Sight> {
    return this.#line.run(sightOf);
  }

  markDead(id: string, beat: number): Promise<boolean> {
    return this.#line.run(async (ask) => {
      const [marked] = await ask<Dead>(
        'DELETE FROM replicas WHERE id = $1 AND beat = $2 RETURNING name, wants, beat_at AS "beatAt"',
        [id, beat],
      );
      if (!marked) return false;
      await noteEnd(ask, id, marked);
      // Waits for its transaction that is under way; the next one finds nothing.
      await ask('DELETE FROM fences WHERE id = $1', [id]);
      return true;
    });
  }

  take(id: string, scope: Scope): Promise<Taking | null> {
    return this.#line.run(async (ask) => {
      await ask('INSERT INTO leases (scope) VALUES ($1) ON CONFLICT DO NOTHING', [scope]);
      // Two statements: the second one sees who has joined until the lease was locked.
      const before = await ask<{ owner: string | null; given: boolean }>(
        'SELECT owner, given FROM leases WHERE scope = $1 FOR UPDATE',
        [scope],
      );
      const taken = await ask(
        `UPDATE leases SET owner = $2, given = false WHERE scope = $1
          AND (owner IS NULL OR owner = $2 OR NOT ${living}owner)) AND ${living}$2) RETURNING 1`,
        [scope, id],
      );
      if (taken.length === 0) return null;
      if (before[0]?.owner) return 'inherited';
      return before[0]?.given ? 'handed_over' : 'free';
    });
  }

  async give(id: string, scope: Scope, offered: boolean): Promise<void> {
    const offeredAt = offered ? nowMs : sql<number>`offered_at`;
    await this.#writeAs(id, async (trx) => {
      await sql`UPDATE leases SET owner = NULL, given = true, offered_at = ${offeredAt}
        WHERE scope = ${scope} AND owner = ${id}`.execute(trx);
    });
  }

  async leave(id: string): Promise<void> {
    await this.#line.run(async (ask) => {
      await ask('DELETE FROM replicas WHERE id = $1', [id]);
      await ask('DELETE FROM fences WHERE id = $1', [id]);
    });
  }
}

/** One that was taken for dead. */
interface Dead {
  readonly name: string;
  readonly wants: string;
  readonly beatAt: number;
}

/** Of a name such as "process 17 on mail-1": backwards, which is enough to compare. */
const hostOf = (name: string) => `split_part(reverse(${name}), ' ', 1)`;

/** It is missed unless it was about to leave, or another one has joined since that replaces none yet. */
async function noteEnd(ask: Ask, id: string, { name, wants, beatAt }: Dead): Promise<void> {
  await ask(`DELETE FROM ended_replicas WHERE beat_at < ${nowText} - ${missedForMs}`);
  if (wants === '[]') return;
  const replaced = await ask(
    `UPDATE replicas SET replaces = true WHERE id = (SELECT id FROM replicas
      WHERE NOT replaces AND NOT alone AND entered_at > $1
      ORDER BY ${hostOf('name')} = ${hostOf('$2::text')} DESC, entered_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING 1`,
    [beatAt, name],
  );
  if (replaced.length === 0)
    await ask('INSERT INTO ended_replicas (id, name, beat_at) VALUES ($1, $2, $3)', [id, name, beatAt]);
}

/** In the order of its columns. */
function reported({ configDigest, reloadFailure, storeFailure }: ReplicaReport) {
  return [configDigest, reloadFailure, storeFailure && JSON.stringify(storeFailure)];
}

async function sightOf(ask: Ask): Promise<Sight> {
  const [clock] = await ask<{ now: number }>(`SELECT ${nowText} AS now`);
  const replicas = await ask<
    Omit<SeenReplica, 'wants' | 'storeFailure'> & { readonly wants: string; readonly storeFailure: string | null }
  >(`SELECT ${replicaColumns} FROM replicas ORDER BY started_at, id`);
  const leases = await ask<SeenLease>(
    `SELECT scope, owner, ${nowText} - offered_at AS "offeredMsAgo" FROM leases ORDER BY scope`,
  );
  const missing = await ask<EndedReplica>(
    `SELECT name, beat_at AS "beatAt" FROM ended_replicas WHERE beat_at >= ${nowText} - ${missedForMs} ORDER BY beat_at, name`,
  );
  return {
    now: clock?.now ?? 0,
    replicas: replicas.map(({ wants, storeFailure, ...one }) => ({
      ...one,
      wants: JSON.parse(wants),
      storeFailure: storeFailure === null ? null : JSON.parse(storeFailure),
    })),
    leases,
    missing,
  };
}
