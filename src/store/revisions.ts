// How replicas notice what another changed: each topic has a number that grows with each change of it.
import type { Kysely } from 'kysely';
import type { Gate } from './gate.ts';
import type { Tables, Topic } from './schema/tables.ts';

export type Revisions = Readonly<Record<string, number>>;

/** Within the transaction of the change, before it: whoever relies on the topic waits until this one has ended. */
export async function revise(trx: Kysely<Tables>, topic: Topic): Promise<void> {
  await trx
    .updateTable('revisions')
    .set((of) => ({ revision: of('revision', '+', 1) }))
    .where('topic', '=', topic)
    .execute();
}

export async function loadRevisions(db: Kysely<Tables>): Promise<Revisions> {
  const rows = await db.selectFrom('revisions').selectAll().execute();
  return Object.fromEntries(rows.map(({ topic, revision }) => [topic, revision]));
}

/** Until the transaction ends nobody changes the topic. */
export async function holdStill(
  trx: Kysely<Tables>,
  topic: Topic,
  { locksRows }: Pick<Gate, 'locksRows'>,
): Promise<void> {
  await trx
    .selectFrom('revisions')
    .select('topic')
    .where('topic', '=', topic)
    .$if(locksRows, (query) => query.forShare())
    .execute();
}
