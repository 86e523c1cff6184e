// The doctor's view of the store. Changes nothing.

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Places } from '../../config/places.ts';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { counted, listText, spanText } from '../../core/wording/phrases.ts';
import { skewOf } from '../../store/database.ts';
import { StoreError } from '../../store/failure.ts';
import { lockOf, presenceOf, sizeOf } from '../../store/file/place.ts';
import { Ledger } from '../../store/ledger.ts';
import type { Content, Examination } from '../../store/postgres/examination.ts';
import { systemClock } from '../../world/world.ts';
import { bytesText } from '../terminal.ts';
import { type Examined, reporter } from './examined.ts';

const store = reporter('store');
/** With less than this, a backup, an upgrade, or a day of a large fleet may fill the disk. */
const leastFreeBytes = 256 * 1024 * 1024;

/** Space that a start needs for the WAL and its index. */
const leastToStartBytes = 40 * 1024;

/** `active` describes the active process; null if the store's folder shows it. */
export interface StoreLines {
  readonly checks: readonly Examined[];
  readonly active: readonly Examined[] | null;
}

/** Examines the store. Rejects with NewerStoreError if a newer version wrote it. */
export async function examineStore(places: Extract<Places, { ok: true }>): Promise<StoreLines> {
  const { store: place, accountNames } = places;
  if (typeof place === 'string') return { checks: await examineFile(place), active: null };
  const { examinePostgres } = await import('../../store/postgres/examination.ts');
  const seen = await examinePostgres(place, systemClock());
  return { checks: serverLines(place, seen, accountNames), active: activeLines(seen) };
}

/** Rejects with one sentence if the store can't be read, except for a full disk, which is a finding. */
async function examineFile(path: string): Promise<readonly Examined[]> {
  try {
    return await examineContent(path);
  } catch (error) {
    const isFull = presenceOf(path) === 'there' && freeBytesBeside(path) < leastToStartBytes;
    if (!isFull || !(error instanceof StoreError)) throw error;
    return [store('problem', error.message), ...disk(path)];
  }
}

async function examineContent(path: string): Promise<readonly Examined[]> {
  if (presenceOf(path) === 'absent') {
    // Warmwarden never deletes the lock, so a lock without a store means that the store was removed.
    if (presenceOf(lockOf(path)) === 'absent')
      return [store('ok', `There is no store at ${path} yet: the first start creates it.`)];
    const gone = `The store ${path} is gone: it was deleted or moved away`;
    return [
      store(
        'problem',
        `${gone}. Stop Warmwarden, and move the store back or put a backup there. Otherwise the next start creates a new, empty store, without the earlier actions and silences.`,
      ),
    ];
  }
  const ledger = Ledger.open(path);
  try {
    if (await ledger.isEarlier()) {
      const advice = 'Back it up with `warmwarden store backup FILE`; the next start upgrades it.';
      return [store('warning', `An earlier version of Warmwarden wrote the store ${path}. ${advice}`), ...disk(path)];
    }
    const problems = await ledger.problems();
    return [
      ...problems.map((problem) => store('problem', problem)),
      ...soundness(path, problems.length),
      ...disk(path),
    ];
  } finally {
    await ledger.close();
  }
}

function soundness(path: string, problems: number): readonly Examined[] {
  if (problems === 0) return [store('ok', `The store ${path} (${bytesText(bytesOf(path))}) is sound.`)];
  const said = `The store ${path} has ${counted(problems, 'problem')}`;
  return [store('problem', `${said}. Stop Warmwarden and put a backup in its place.`)];
}

/** Size of the store including its log, which holds pages that are not yet in the file. */
const bytesOf = (path: string) => sizeOf(path) + sizeOf(`${path}-wal`);

function disk(path: string): readonly Examined[] {
  const free = freeBytesBeside(path);
  if (free < leastToStartBytes) {
    const effect = 'Warmwarden cannot record anything, and may not start';
    return [
      store(
        'problem',
        `The disk of the store is full (${bytesText(free)} free): ${effect}. Free up space on that disk.`,
      ),
    ];
  }
  if (free >= Math.max(leastFreeBytes, bytesOf(path))) return [];
  return [store('warning', `The disk of the store has only ${bytesText(free)} of free space.`)];
}

/** Free bytes; for root, includes what the file system reserves for it. */
function freeBytesBeside(path: string): number {
  const { bavail, bfree, bsize } = statfsSync(dirname(path));
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}

const clock = reporter('clock');
const daemon = reporter('daemon');

/** Findings about a store in PostgreSQL. `accountNames`: the accounts of the configuration. */
function serverLines(place: PostgresPlace, seen: Examination, accountNames: readonly string[]): readonly Examined[] {
  return [
    stateLine(place, seen),
    ...seen.doubts.map((doubt) => store('warning', doubt)),
    ...(seen.content ? otherFleet(seen.content, accountNames) : []),
    clockLine(seen.aheadMs),
  ];
}

function stateLine(place: PostgresPlace, { version, state }: Examination): Examined {
  const server = `PostgreSQL answers at ${nameOf(place)} (version ${version})`;
  if (state === 'absent') return store('ok', `${server}. It has no store yet: the first start creates it.`);
  if (state === 'ready') return store('ok', `${server}, and the store in it can be used.`);
  const advice = 'Back it up with `pg_dump --schema=warmwarden`; the next start upgrades it.';
  return store('warning', `${server}. An earlier version of Warmwarden wrote the store in it. ${advice}`);
}

/** Finding about another deployment in the same database, recognized by its stored accounts. */
function otherFleet({ accounts }: Content, accountNames: readonly string[]): readonly Examined[] {
  const isOurs = accounts.some((account) => accountNames.includes(account));
  if (isOurs || accounts.length === 0 || accountNames.length === 0) return [];
  const said = `The store has none of the accounts of this configuration, but others: ${listText(accounts)}`;
  const advice = 'If it belongs to another deployment, give each deployment a database of its own.';
  return [store('warning', `${said}. ${advice}`)];
}

function clockLine(aheadMs: number): Examined {
  const skew = skewOf(aheadMs);
  if (skew === 'small') return clock('ok', 'The clock of this machine agrees with the PostgreSQL server.');
  const where = aheadMs > 0 ? 'behind' : 'ahead of';
  const differ = `The clock of this machine is ${spanText(Math.abs(aheadMs))} ${where} the clock of the PostgreSQL server`;
  const advice = 'Synchronize both (`timedatectl` shows whether a clock is synchronized).';
  return skew === 'large'
    ? clock('warning', `${differ}. ${advice}`)
    : clock('problem', `${differ}, so a process on this machine does not become active. ${advice}`);
}

export const unknownProcess: readonly Examined[] = [
  daemon('skipped', 'No daemon answers on this machine; whether one runs elsewhere is not known.'),
];

/** Findings about the active process if no daemon answers on this machine. */
function activeLines({ content }: Examination): readonly Examined[] {
  if (content === null) return unknownProcess;
  const { active } = content;
  if (active === null)
    return [
      daemon('warning', 'No daemon runs on this store: nothing is guarded. Start it: `warmwarden run --config FILE`.'),
    ];
  return [
    daemon(
      'ok',
      `No daemon of this configuration answers on this machine: ${active.name} is active (version ${active.version}).`,
    ),
  ];
}
