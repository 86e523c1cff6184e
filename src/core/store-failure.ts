// Failures of the store, its place, and its retention.
import type { Alert } from './alert.ts';
import { dayMs } from './time.ts';

export interface StoreFailure {
  /** Message without a full stop. */
  readonly said: string;
  /** Whole sentences; a command is at the end. */
  readonly remedy: string;
  /** True for a damaged file, which stays damaged until a restart although other accesses succeed. */
  readonly lasting: boolean;
  /** True if the next write, and read if one failed, ends the failure. Otherwise a probe is not enough. */
  readonly untilWritten?: boolean;
  /** True if the failure often ends by itself, for example a lock. Otherwise a person has to act. */
  readonly mayPass?: boolean;
  /** True if this process can no longer know what is stored: it ends once people were notified. */
  readonly endsProcess?: true;
  /** Marks a failed operation that works again for a short time. */
  readonly isOver?: true;
}

export const storeTitle = 'the store is failing';

export interface StoreTrouble {
  readonly failures: number;
  readonly newest: StoreFailure | null;
  /** True after a later write, and read if one failed. */
  readonly isOver: boolean;
}

export interface Loss {
  readonly everything: boolean;
  readonly stops: number;
}

export function lossText({ everything, stops }: Loss): string {
  const [kept, them] =
    stops === 1 ? ['write stop that was', 'that write stop'] : [`${stops} write stops that were`, 'them'];
  if (!everything)
    return `The store lacked ${stops === 1 ? 'a ' : ''}${kept} in force before. Warmwarden restored ${them}.`;
  const forgot = 'Warmwarden no longer knows its earlier actions and silences.';
  return stops === 0 ? `${forgot} No write stop is in force.` : `${forgot} It restored the ${kept} in force.`;
}

export interface NotifiedOutage {
  /** The alert's firing time identifies the outage. */
  readonly alert: Alert;
  readonly notified: readonly string[];
  readonly loss?: Loss;
}

// Place of a store: a SQLite file or a PostgreSQL database.

export interface PostgresPlace {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Secret. Null to send none. */
  readonly password: string | null;
  /** `ca`: trusted authorities in PEM, or null for those of Node.js. */
  readonly tls: { readonly kind: 'off' } | { readonly kind: 'verify'; readonly ca: string | null };
  /** True behind a connection pooler, which accepts no settings of a connection. */
  readonly isPooled?: boolean;
  /** Prefix of the command socket and the note of an outage. */
  readonly path: string;
}

export type StorePlace = string | PostgresPlace;

export function pathOf(place: StorePlace): string {
  return typeof place === 'string' ? place : place.path;
}

/** Name for people, without the password. */
export function nameOf(place: StorePlace): string {
  if (typeof place === 'string') return place;
  const { user, host, port, database } = place;
  return `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

export interface Retention {
  /** Applies to decisions, changes by others (from the look that showed them), and mailboxes (from their removal). */
  readonly historyMs: number;
  /** Applies to sent messages and runs of recipes. */
  readonly messagesMs: number;
}

const leastOfAuditMs = 5 * 366 * dayMs;

/** At least five years, and as long as anything else. */
export function auditRetentionMs({ historyMs, messagesMs }: Retention): number {
  return Math.max(leastOfAuditMs, historyMs, messagesMs);
}
