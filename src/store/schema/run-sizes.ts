// The schema's step that measures runs: whose each is, and how many bytes are kept of it.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

const runsAStep = 500;

/** From here on each run says whose it is and how large, and `run_owners` has the sums. A run that is only remembered has neither. */
export async function runSizes(db: Kysely<Tables>): Promise<void> {
  const { schema } = db;
  await schema.alterTable('runs').addColumn('owner', 'text').execute();
  await schema
    .alterTable('runs')
    .addColumn('bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .createTable('run_owners')
    .addColumn('owner', 'text', (column) => column.primaryKey())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .execute();
  for (let after = ''; ; ) {
    const runs = await db
      .selectFrom('runs')
      .select(['id', 'run'])
      .where('id', '>', after)
      .where('run', 'is not', null)
      .orderBy('id')
      .limit(runsAStep)
      .execute();
    for (const { id, run } of runs) await measure(db, id, run ?? '');
    after = runs.at(-1)?.id ?? '';
    if (runs.length < runsAStep) break;
  }
  await schema.createIndex('runs_of_owner').on('runs').columns(['owner', 'created_at']).execute();
}

async function measure(db: Kysely<Tables>, id: string, run: string): Promise<void> {
  const rows = await db
    .selectFrom('run_rows')
    .select((of) => of.fn.sum<number | null>(of.fn('octet_length', ['rows'])).as('bytes'))
    .where('run_id', '=', id)
    .executeTakeFirst();
  const bytes = Buffer.byteLength(run) + Number(rows?.bytes ?? 0);
  const owner = ownerOf(run);
  await db.updateTable('runs').set({ owner, bytes }).where('id', '=', id).execute();
  await db
    .insertInto('run_owners')
    .values({ owner, bytes })
    .onConflict((conflict) =>
      conflict.column('owner').doUpdateSet((of) => ({ bytes: of('run_owners.bytes', '+', bytes) })),
    )
    .execute();
}

/** A row that can't be read belongs to no key: that is found out when the run is asked for. */
function ownerOf(run: string): string {
  try {
    const { by } = JSON.parse(run);
    return typeof by === 'string' ? by : '';
  } catch {
    return '';
  }
}
