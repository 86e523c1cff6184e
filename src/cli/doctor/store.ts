// The store as `store check` reads it, and the space on its disk.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Places } from '../../config/places.ts';
import { counted } from '../../core/wording/phrases.ts';
import { StoreError } from '../../store/failure.ts';
import { lockOf, presenceOf, sizeOf } from '../../store/file/place.ts';
import { Ledger } from '../../store/ledger.ts';
import { commandName } from '../../world/command-name.ts';
import { systemClock } from '../../world/world.ts';
import { bytesText } from '../terminal.ts';
import { type Examined, reporter } from './examined.ts';
import { activeLines, serverLines } from './postgres.ts';

const store = reporter('store');
/** A backup, and an upgrade that rewrites a table, need as much again; below this much a day of a large fleet is close. */
const leastFreeBytes = 256 * 1024 * 1024;

/** A start needs so much, for the WAL and its index. */
const leastToStartBytes = 40 * 1024;

/** Of a store, and of the process that is active on it; null where the store's folder says that. */
export interface StoreLines {
  readonly checks: readonly Examined[];
  readonly active: readonly Examined[] | null;
}

/** Rejects with NewerStoreError for what a newer version wrote. */
export async function examineStore(places: Extract<Places, { ok: true }>): Promise<StoreLines> {
  const { store: place, accountNames } = places;
  if (typeof place === 'string') return { checks: await examineFile(place), active: null };
  const { examinePostgres } = await import('../../store/postgres/examination.ts');
  const seen = await examinePostgres(place, systemClock());
  return { checks: serverLines(place, seen, accountNames), active: activeLines(seen) };
}

/** Rejects with one sentence when it can't be read; on a full disk, which reading needs room on as well, that is in the lines. */
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
    // Nothing of ours deletes the lock.
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
      const advice = `Back it up with \`${commandName} store backup FILE\`; the next start upgrades it.`;
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

/** Its log holds what was not written into it yet. */
const bytesOf = (path: string) => sizeOf(path) + sizeOf(`${path}-wal`);

function disk(path: string): readonly Examined[] {
  const free = freeBytesBeside(path);
  if (free < leastToStartBytes) {
    const effect = 'Warmwarden does not start, and a running daemon cannot record anything';
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

/** For root, also what the file system keeps for it. */
function freeBytesBeside(path: string): number {
  const { bavail, bfree, bsize } = statfsSync(dirname(path));
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}
