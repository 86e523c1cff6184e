// Why the store did not do what it was asked to.
import type { Alert } from './alert.ts';
import { dayMs } from './time.ts';

export interface StoreFailure {
  /** What was said, for people; no full stop. */
  readonly said: string;
  /** What a person does about it, in whole sentences; a command stands at the end. */
  readonly remedy: string;
  /** A damaged file: other reads and writes may succeed, and it is damaged all the same until Warmwarden starts again. */
  readonly lasting: boolean;
  /**
   * There was no connection, or no write at all: the next write, and read where reads failed, ends it. Absent: what failed itself
   * has to succeed.
   */
  readonly untilWritten?: boolean;
  /** It often ends without anybody, such as a lost connection or a lock. Absent: a person has to do something. */
  readonly mayPass?: boolean;
  /** What failed works again, but has not done so for long. */
  readonly isOver?: true;
}

/** A failure of the store in a few words. */
export const storeTitle = 'the store is failing';

/** What failed since the store was opened. */
export interface StoreTrouble {
  /** Reads and writes. */
  readonly failures: number;
  readonly newest: StoreFailure | null;
  /** Whether what failed has succeeded since. */
  readonly isOver: boolean;
}

/** What a process lost that began with another store than the one that failed before. */
export interface Loss {
  /** The store was created, empty. */
  readonly everything: boolean;
  /** Emergency stops that the store lacked, and that are in force in it again. */
  readonly stops: number;
}

/** What is not known any more, and what was restored, in sentences. */
export function lossText({ everything, stops }: Loss): string {
  const [kept, them] =
    stops === 1 ? ['emergency stop that was', 'that emergency stop'] : [`${stops} emergency stops that were`, 'them'];
  if (!everything)
    return `The store lacked ${stops === 1 ? 'an ' : ''}${kept} in force before. Warmwarden restored ${them}.`;
  const forgot = 'Warmwarden no longer knows its earlier actions and silences.';
  return stops === 0 ? `${forgot} No emergency stop is in force.` : `${forgot} It restored the ${kept} in force.`;
}

/** That people were notified that the store fails. */
export interface NotifiedOutage {
  /** As it was announced. When it began to fire names the outage. */
  readonly alert: Alert;
  /** The channels that took it. */
  readonly notified: readonly string[];
  /** Absent: the store lacks nothing that is known of. */
  readonly loss?: Loss;
}

// Where a store is: a SQLite file, or a PostgreSQL database.

export interface PostgresPlace {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Never shown. null: none is sent. */
  readonly password: string | null;
  /** How the connection is encrypted; `ca`: the authorities that may vouch for the server, in PEM; null: those of Node.js. */
  readonly tls: { readonly kind: 'off' } | { readonly kind: 'verify'; readonly ca: string | null };
  /** A connection pooler answers there, and takes no settings of a connection. Absent: not that anybody knew. */
  readonly isPooled?: boolean;
  /** What stands beside a store in the file system (command socket, note of an outage) begins with this path. */
  readonly path: string;
}

/** A string is the path of a SQLite file. */
export type StorePlace = string | PostgresPlace;

/** What the names of the files beside the store begin with. */
export function pathOf(place: StorePlace): string {
  return typeof place === 'string' ? place : place.path;
}

/** For people: the file, or the address without its password. */
export function nameOf(place: StorePlace): string {
  if (typeof place === 'string') return place;
  const { user, host, port, database } = place;
  return `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

// How long history is kept. Milliseconds.

export interface Retention {
  /** Since a decision was last given. */
  readonly decisionsMs: number;
  /** Since a message was sent. */
  readonly deliveriesMs: number;
  /** Since what others changed was seen. */
  readonly changesMs: number;
  /** Answers about a mailbox that was removed, since its removal. */
  readonly observationsMs: number;
  /** Since a run of a recipe began. */
  readonly runsMs: number;
  /** That a mailbox was there, since its removal. */
  readonly departedMs: number;
}

const leastOfAuditMs = 5 * 366 * dayMs;

/** Actions and operator commands are kept longest: five years, or as long as anything else. */
export function auditRetentionMs(retention: Retention): number {
  return Math.max(leastOfAuditMs, ...Object.values(retention));
}
