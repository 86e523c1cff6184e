// How a name of the configuration is written in a statement that people are to run.
import type { PostgresPlace } from '../../model/store-place.ts';

/** A name with other letters needs quotes: without them, PostgreSQL reads another name. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The statement that sets a timeout for the role. It counts for connections that are opened from then on. */
export function settingRole({ user, database }: PostgresPlace, timeout: string, seconds: number): string {
  return `ALTER ROLE ${sqlName(user)} IN DATABASE ${sqlName(database)} SET ${timeout} = '${seconds}s';`;
}
