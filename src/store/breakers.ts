// The rows of the circuit breakers: a head an API and a row an entry, so that what a judgement writes does not grow with what is held.
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { type BreakerEntry, type BreakerState, closedBreaker } from '../core/breaker.ts';
import { DamagedRowError } from './failure.ts';
import { inPieces, lastOfEach } from './pieces.ts';
import type { BreakerMove, BreakerRecord } from './records.ts';
import { parsed } from './schema/stored.ts';
import type { Tables } from './schema/tables.ts';

type Db = Kysely<Tables>;

/** What the row of an API says of the state that it heads. */
interface Version {
  /** Of all that was written since there is a row, one write after the other: where two are the same, so are the states. */
  readonly digest: string;
  /** How many entries were written since: each has the next place, in the order of the state. */
  readonly places: number;
}

const noRow: Version = { digest: '', places: 0 };

/** What states were read or written as. A write that was rolled back has a digest that no row has. */
const versions = new WeakMap<BreakerState, Version>();

const versionOf = (state: BreakerState) => (state === closedBreaker ? noRow : versions.get(state));

/** Of all APIs, or of one. One statement: head and entries are of one moment. */
export async function loadBreakers(db: Db, of: string | null = null): Promise<readonly BreakerRecord[]> {
  const { rows } = await sql<Tables['breakers'] & { entries: string | null }>`
    SELECT breakers.*, (SELECT string_agg(entry, ',' ORDER BY place) FROM breaker_entries e WHERE e.api = breakers.api) AS entries
    FROM breakers WHERE ${of === null ? sql`true` : sql`api = ${of}`}`.execute(db);
  const records: BreakerRecord[] = [];
  for (const { api, head, digest, places, entries } of rows) {
    const state = {
      ...parsed<Omit<BreakerState, 'entries'>>(head, 'breakers', { api }),
      entries: await entriesIn(db, api, entries ?? ''),
    };
    versions.set(state, { digest, places });
    records.push({ api, state });
  }
  return records;
}

export async function loadBreaker(db: Db, api: string): Promise<BreakerState> {
  return (await loadBreakers(db, api))[0]?.state ?? closedBreaker;
}

/** Parsed together, which takes less than one by one. Throws DamagedRowError. */
async function entriesIn(db: Db, api: string, texts: string): Promise<readonly BreakerEntry[]> {
  try {
    const entries: readonly BreakerEntry[] = JSON.parse(`[${texts}]`);
    if (entries.every((entry) => typeof entry === 'object' && entry !== null)) return entries;
  } catch {
    // Which of them it is, the rows say.
  }
  const rows = await db.selectFrom('breaker_entries').select(['key', 'entry']).where('api', '=', api).execute();
  for (const { key, entry } of rows) parsed(entry, 'breaker_entries', { api, key });
  throw new DamagedRowError('breaker_entries', { api });
}

/** Whether the state is the one that is stored. Where it is not known, it is not. */
export async function isStored(db: Db, api: string, state: BreakerState): Promise<boolean> {
  const row = await db.selectFrom('breakers').select('digest').where('api', '=', api).executeTakeFirst();
  return versionOf(state)?.digest === (row?.digest ?? noRow.digest);
}

/** Writes the head, and of the entries those that moved. */
export async function writeBreaker(db: Db, { api, before, state }: Omit<BreakerMove<never>, 'again'>): Promise<void> {
  // Where it is not known what is there, everything is written anew.
  const base = (await isStored(db, api, before)) ? (versionOf(before) ?? noRow) : noRow;
  if (base === noRow) await db.deleteFrom('breaker_entries').where('api', '=', api).execute();
  const { gone, added } = between(base === noRow ? [] : before.entries, state.entries);
  const rows = added.map((entry, index) => ({
    ...{ api, key: entry.key, place: base.places + index + 1 },
    entry: JSON.stringify(entry),
  }));
  const { entries: _, ...rest } = state;
  const head = JSON.stringify(rest);
  await deleteEntries(db, api, gone);
  await insertEntries(db, rows);
  const said = JSON.stringify([base.digest, head, gone, rows.map(({ entry }) => entry)]);
  const version = { digest: createHash('sha256').update(said).digest('hex'), places: base.places + rows.length };
  await db
    .insertInto('breakers')
    .values({ api, head, ...version })
    .onConflict((conflict) => conflict.column('api').doUpdateSet({ head, ...version }))
    .execute();
  if (state !== closedBreaker) versions.set(state, version);
}

/** The entries that stayed are the same objects in the same order, and what is new comes after them: one walk finds both. */
function between(before: readonly BreakerEntry[], after: readonly BreakerEntry[]) {
  let stayed = 0;
  const left = new Set<string>();
  for (const entry of before) {
    if (entry === after[stayed]) stayed += 1;
    else left.add(entry.key);
  }
  const added = lastOfEach(after.slice(stayed), ({ key }) => key);
  for (const { key } of added) left.delete(key);
  return { gone: [...left], added };
}

function deleteEntries(db: Db, api: string, keys: readonly string[]): Promise<void> {
  return inPieces(keys, (some) =>
    db.deleteFrom('breaker_entries').where('api', '=', api).where('key', 'in', some).execute(),
  );
}

function insertEntries(db: Db, rows: readonly Tables['breaker_entries'][]): Promise<void> {
  return inPieces(rows, (some) =>
    db
      .insertInto('breaker_entries')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['api', 'key'])
          .doUpdateSet((of) => ({ place: of.ref('excluded.place'), entry: of.ref('excluded.entry') })),
      )
      .execute(),
  );
}
