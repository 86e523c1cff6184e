// Why the store did not do what it was asked to.
import type { Alert } from './alert.ts';
import { dayMs } from './time.ts';

export interface StoreFailure {
  /** Message for people, without a full stop. */
  readonly said: string;
  /** Remedy in whole sentences; a command stands at the end. */
  readonly remedy: string;
  /** A damaged file: other reads and writes may succeed, and it is damaged all the same until Warmwarden starts again. */
  readonly lasting: boolean;
  /**
   * True if the next write (and read, where reads failed) ends the failure: there was no connection, or no write at
   * all. Otherwise other work than a probe has to succeed.
   */
  readonly untilWritten?: boolean;
  /** True if the failure often ends by itself, such as a lost connection or a lock. Otherwise a person has to act. */
  readonly mayPass?: boolean;
  /** Marks a failed operation that works again, but only for a short time. */
  readonly isOver?: true;
}

export const storeTitle = 'the store is failing';

export interface StoreTrouble {
  readonly failures: number;
  readonly newest: StoreFailure | null;
  /** True if the store was written to since, and read from if a read had failed. */
  readonly isOver: boolean;
}

/** Loss of a process that began with another store than the one that failed before. */
export interface Loss {
  readonly everything: boolean;
  /** Emergency stops that the store lacked, and that are in force in it again. */
  readonly stops: number;
}

export function lossText({ everything, stops }: Loss): string {
  const [kept, them] =
    stops === 1 ? ['emergency stop that was', 'that emergency stop'] : [`${stops} emergency stops that were`, 'them'];
  if (!everything)
    return `The store lacked ${stops === 1 ? 'an ' : ''}${kept} in force before. Warmwarden restored ${them}.`;
  const forgot = 'Warmwarden no longer knows its earlier actions and silences.';
  return stops === 0 ? `${forgot} No emergency stop is in force.` : `${forgot} It restored the ${kept} in force.`;
}

/** Record that people were notified of the failing store. */
export interface NotifiedOutage {
  /** Alert as it was announced. Its firing time identifies the outage. */
  readonly alert: Alert;
  readonly notified: readonly string[];
  readonly loss?: Loss;
}

// Place of a store: a SQLite file, or a PostgreSQL database.

export interface PostgresPlace {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** null to send none. Never shown. */
  readonly password: string | null;
  /** Encryption of the connection. `ca`: trusted authorities in PEM, or null for those of Node.js. */
  readonly tls: { readonly kind: 'off' } | { readonly kind: 'verify'; readonly ca: string | null };
  /** A connection pooler answers there, and takes no settings of a connection. Absent: not that anybody knew. */
  readonly isPooled?: boolean;
  /** Prefix of the files beside the store: command socket, note of an outage. */
  readonly path: string;
}

/** A string is the path of a SQLite file. */
export type StorePlace = string | PostgresPlace;

/** Prefix of the files beside the store. */
export function pathOf(place: StorePlace): string {
  return typeof place === 'string' ? place : place.path;
}

/** Name for people: the file, or the address without its password. */
export function nameOf(place: StorePlace): string {
  if (typeof place === 'string') return place;
  const { user, host, port, database } = place;
  return `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

// Retention of history, milliseconds.

export interface Retention {
  readonly decisionsMs: number;
  readonly deliveriesMs: number;
  /** Age of others' changes, from the look that showed them. */
  readonly changesMs: number;
  /** Answers about a mailbox that was removed, since its removal. */
  readonly observationsMs: number;
  readonly runsMs: number;
  readonly departedMs: number;
}

const leastOfAuditMs = 5 * 366 * dayMs;

/** Actions and operator commands are kept longest: five years, or as long as anything else. */
export function auditRetentionMs(retention: Retention): number {
  return Math.max(leastOfAuditMs, ...Object.values(retention));
}
