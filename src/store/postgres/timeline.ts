// Whether a server is the one that was the primary before a failover. Such a server may run again and take writes, but it lacks what
// the new primary has: a process that follows it would do again what others have done.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { AtRiskError } from '../failure.ts';

/** `system`: the number that initdb gave. `timeline`: raised when a standby is promoted, or a backup is restored to a point in time. */
export interface Server {
  readonly system: string;
  readonly timeline: number;
}

/** The name of the WAL file is exact at once; the timeline in the control file is the old one until the first checkpoint. */
const question = `SELECT system_identifier::text AS system, CASE WHEN NOT pg_is_in_recovery()
  THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline FROM pg_control_system()`;

interface Answer {
  readonly system: string;
  /** Eight hexadecimal digits; null: it is a standby. */
  readonly timeline: string | null;
}

/** `standby`: it may be promoted while it is connected. `unknown`: some services do not let a role ask. Runs outside a transaction. */
export async function serverOf(
  ask: (text: string) => Promise<{ readonly rows: readonly unknown[] }>,
): Promise<Server | 'standby' | 'unknown'> {
  try {
    const { system, timeline } = (await ask(question)).rows[0] as Answer;
    return timeline === null ? 'standby' : { system, timeline: Number.parseInt(timeline, 16) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/^(0A|42)/.test(code)) return 'unknown';
    throw error;
  }
}

/** The server with the highest timeline that a process with this store has used; null: none, or one that can't be read. */
export function newestAt(place: PostgresPlace): Server | null {
  try {
    const { system, timeline } = JSON.parse(readFileSync(fileOf(place), 'utf8'));
    return typeof system === 'string' && typeof timeline === 'number' ? { system, timeline } : null;
  } catch {
    return null;
  }
}

/** Not synced: what a crash of the machine takes along is learned again from the new primary. */
export function keepNewest(place: PostgresPlace, server: Server): void {
  const file = fileOf(place);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(server), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // This process remembers it all the same, and a start refuses a folder that it can't write to.
  }
}

const fileOf = ({ path }: PostgresPlace) => `${path}.timeline`;

/** Another system is another server, for example after an upgrade. */
export function isOldPrimary({ system, timeline }: Server, newest: Server | null): boolean {
  return newest !== null && system === newest.system && timeline < newest.timeline;
}

export class OldPrimaryError extends AtRiskError {
  /** What else a person may want who starts Warmwarden. */
  readonly atStart: string;

  constructor(place: PostgresPlace, { timeline }: Server, newest: Server | null) {
    super(
      `PostgreSQL at ${place.host}:${place.port} was the primary before a failover: its timeline is ${timeline}, and Warmwarden has already used timeline ${newest?.timeline} of the same database cluster`,
      'Stop this server, and correct the address in store.url or its DNS record so that it leads to the new primary; Warmwarden then continues by itself.',
    );
    this.atStart = `If you restored this server from a snapshot and no other primary exists, stop all replicas and delete ${fileOf(place)} on the machine of each.`;
  }
}
