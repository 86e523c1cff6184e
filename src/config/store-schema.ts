// The section store: a SQLite file or a PostgreSQL database, and what each needs.
import { resolve } from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../core/egress.ts';
import type { PostgresPlace, StorePlace } from '../core/store-failure.ts';
import type { Finding } from './problem.ts';
import { refuse } from './scalars.ts';

import { keyed, oneOf, optional, secret, section } from './section.ts';

/** What the names of the files beside a PostgreSQL store begin with, within store.directory. */
const besideName = 'warmwarden-postgres';
const usualPort = 5432;
const usualDirectory = './data';

const isPostgres = (url: string) => /^postgres(ql)?:/.test(url);

export const storeSchema = section({
  ...secret(
    'url',
    keyed(
      z.string().superRefine((url, context) => {
        const message = isPostgres(url) ? postgresComplaint(url) : sqliteComplaint(url);
        if (message) refuse(context, message);
      }),
      'sqlite:./data/warmwarden.db',
      'sqlite: and a path, relative to the folder of this file; give it a folder of its own, because Warmwarden makes the folder and its files accessible to its own user only. Or postgres://USER@HOST:5432/DATABASE.',
    ),
  ),
  ...secret('password', optional(z.string().min(1), undefined, 'The password of the PostgreSQL user.')),
  tls: optional(
    oneOf(['verify-full', 'off']),
    undefined,
    "Encryption to PostgreSQL. verify-full, the default, checks the server's certificate and name; off is for a server on this machine, or on a network that you trust.",
  ),
  ...secret(
    'ca',
    optional(
      z.string().includes('-----BEGIN CERTIFICATE-----', 'must be certificates in PEM'),
      undefined,
      'The authorities that may vouch for the PostgreSQL server, in PEM. Default: those of Node.js.',
    ),
  ),
  directory: optional(
    z.string().min(1),
    undefined,
    'With PostgreSQL: a folder for the command socket, a note while the store fails, and a note of the newest primary, relative to the folder of this file. Default: ./data.',
  ),
});
type CheckedStore = z.output<typeof storeSchema>;

function sqliteComplaint(url: string): string | null {
  if (/^sqlite:(:memory:|\/\/)/.test(url)) return 'must be sqlite: and the path of a file';
  return /^sqlite:./.test(url) ? null : 'must be sqlite: and the path of a file, or postgres://USER@HOST:5432/DATABASE';
}

/** It may carry a password: these sentences quote nothing. */
function postgresComplaint(url: string): string | null {
  const wanted = 'must be postgres://USER@HOST:5432/DATABASE';
  if (!URL.canParse(url)) return `${wanted}; a password with characters such as @ or / needs store.password instead`;
  const { hostname, username, pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '') return 'must have no ? and no #: set store.tls and store.ca_file instead';
  return hostname !== '' && username !== '' && /^\/[^/]+$/.test(pathname) ? null : wanted;
}

/** What the section has that does not fit together, read from the unchecked tree. */
export function ofStore(store: Readonly<Record<string, unknown>>): Finding[] {
  const url = typeof store['url'] === 'string' ? store['url'] : 'sqlite:';
  const at = (key: string, message: string): Finding => ({ path: ['store', key], at: 'value', message });
  if (isPostgres(url)) {
    const isTwice = store['password'] !== undefined && URL.canParse(url) && new URL(url).password !== '';
    return isTwice ? [at('password', 'is in store.url, too: write it only once')] : [];
  }
  const idle = ['password', 'tls', 'ca', 'directory'].filter((key) => store[key] !== undefined);
  return idle.map((key) => at(key, 'is only for postgres: remove it'));
}

/** What is allowed and probably not meant. */
export function doubtsOfStore(store: Readonly<Record<string, unknown>>): Finding[] {
  const { url, tls } = store;
  if (typeof url !== 'string' || !isPostgres(url) || tls !== 'off' || !URL.canParse(url)) return [];
  if (isLoopback(new URL(url).hostname)) return [];
  return [{ path: ['store', 'tls'], at: 'value', message: 'is off: password and data cross the network unencrypted' }];
}

/** Where the store of a checked file is. `folder`: the configuration file's own. */
export function placeOf(store: CheckedStore, folder: string): StorePlace {
  return isPostgres(store.url) ? postgresPlace(store, folder) : resolve(folder, store.url.slice('sqlite:'.length));
}

/** The database at an address that somebody named outside a file, with the usual encryption; a string says what is wrong with it. */
export function placeAt(url: string): PostgresPlace | string {
  if (!isPostgres(url)) return 'must be postgres://USER@HOST:5432/DATABASE';
  const wrong = postgresComplaint(url);
  const isHere = wrong === null && isLoopback(new URL(url).hostname);
  return wrong ?? postgresPlace({ url, tls: isHere ? 'off' : 'verify-full' }, '.');
}

function postgresPlace(store: CheckedStore, folder: string): PostgresPlace {
  const { hostname, port, username, password, pathname } = new URL(store.url);
  const inUrl = password === '' ? null : decodeURIComponent(password);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? usualPort : Number(port),
    database: decodeURIComponent(pathname.slice(1)),
    user: decodeURIComponent(username),
    password: store.password ?? inUrl,
    tls: store.tls === 'off' ? { kind: 'off' } : { kind: 'verify', ca: store.ca ?? null },
    path: resolve(folder, store.directory ?? usualDirectory, besideName),
  };
}
