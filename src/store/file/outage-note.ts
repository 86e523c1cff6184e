// A note beside the store, in JSON, for a next process that finds the store failing or lost. It has the write stops
// in force, a failure that people were notified of, and the identity of the file.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Loss, lossText, type NotifiedOutage } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import { isOff, scopeKey, type WritesOff } from '../../core/write-scope.ts';
import { writeStops } from '../rows.ts';
import { metaOf, setMeta } from '../schema/migrations.ts';
import type { Db } from '../schema/tables.ts';
import { nameOfHolder } from './lock.ts';
import { fileMode, noteOf } from './place.ts';

interface Noted {
  readonly outage: NotifiedOutage | null;
  readonly stops: readonly WritesOff[];
  /** Device and inode of the file and of its WAL. Null for PostgreSQL. */
  readonly opened: { readonly file: string; readonly wal: string } | null;
}

export class OutageNote {
  readonly #path: string;
  readonly found: boolean;
  #noted: Noted;

  constructor(file: string) {
    this.#path = noteOf(file);
    const found = notedIn(textIn(this.#path));
    this.found = found !== null;
    this.#noted = found ?? { outage: null, stops: [], opened: null };
  }

  get content(): Noted {
    return this.#noted;
  }

  /** Returns false if the file can't be written. An empty note stays: it reserves its space on a full disk. */
  keep(part: Partial<Noted>): boolean {
    this.#noted = { ...this.#noted, ...part };
    const text = `${JSON.stringify(this.#noted, null, 2)}\n`;
    try {
      // The file is compared each time, because it may have been deleted.
      if (textIn(this.#path) !== text) writeFileSync(this.#path, text, { mode: fileMode });
      return true;
    } catch {
      return false;
    }
  }
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function notedIn(text: string): Noted | null {
  try {
    const { outage = null, stops = [], opened = null } = JSON.parse(text);
    return { outage, stops, opened };
  } catch {
    return null;
  }
}

export interface StoreBeginning {
  readonly news: readonly string[];
  readonly warnings: readonly string[];
}

const restored = '(restored: the store that had it was lost)';

/** Adds the write stops of the note that the store lacks: it may be new and empty, or a backup. */
export function begin(
  db: Db,
  { file, note }: { readonly file: string; readonly note: OutageNote },
  now: EpochMs,
): Promise<StoreBeginning> {
  return db.transaction().execute(async (trx) => {
    const isNew = (await metaOf(trx, 'holder')) === null;
    await setMeta(trx, 'holder', nameOfHolder(now));
    const created = `Created a new, empty store: ${file}.`;
    if (isNew && !note.found) return { news: [created], warnings: [] };
    const stops = await restoreStops(trx, note.content.stops, now);
    if (!isNew && stops === 0) return { news: [], warnings: [] };
    const loss: Loss = { everything: isNew, stops };
    const { outage } = note.content;
    if (outage) note.keep({ outage: { ...outage, loss } });
    const lost = `${created} The store that was there before was deleted, replaced or moved away.`;
    return { news: [], warnings: [isNew ? `${lost} ${lossText(loss)}` : lossText(loss)] };
  });
}

async function restoreStops(trx: Db, stops: readonly WritesOff[], now: EpochMs): Promise<number> {
  const known = new Set((await trx.selectFrom('writes_off').select('scope').execute()).map(({ scope }) => scope));
  const lacking = stops.filter((stop) => isOff(stop, now) && !known.has(scopeKey(stop.scope)));
  const reasonOf = ({ reason }: WritesOff) => (reason.endsWith(restored) ? reason : `${reason} ${restored}`);
  await writeStops(
    trx,
    lacking.map((stop) => ({ ...stop, reason: reasonOf(stop) })),
  );
  return lacking.length;
}
