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
