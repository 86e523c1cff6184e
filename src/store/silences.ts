// Silences: those that are in force, and those that expired since the newest was recorded.
import type { Silence } from '../core/alert.ts';
import type { EpochMs } from '../core/time.ts';
import type { Gate } from './gate.ts';
import { parsed } from './rows.ts';
import type { Db } from './schema/tables.ts';

export class StoredSilences {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** A new one, or one that changed: an expired one has its end as `until`. */
  async record(silence: Silence, now: EpochMs): Promise<void> {
    const changing = { until: silence.until, silence: JSON.stringify(silence) };
    await this.#gate.write(async (trx) => {
      // Who silenced what stays in the audit log.
      await trx.deleteFrom('silences').where('until', '<=', now).execute();
      await trx
        .insertInto('silences')
        .values({ id: silence.id, ...changing })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
        .execute();
    });
  }
}

/** Those that have not expired at that moment, by their end. */
export async function loadSilences(db: Db, now: EpochMs): Promise<readonly Silence[]> {
  const rows = await db
    .selectFrom('silences')
    .select(['id', 'silence'])
    .where('until', '>', now)
    .orderBy('until')
    .execute();
  return rows.map(({ id, silence }) => parsed<Silence>(silence, 'silences', { id }));
}
