// Reads decisions back as the spans that people are shown.
import type { Kysely, Selectable } from 'kysely';
import type { RecordedDecision } from '../core/decision.ts';
import { storedDays, storedVerdict } from './schema/stored.ts';
import type { Tables } from './schema/tables.ts';

/** The columns that `readDecision` needs. */
export const decisionColumns = [
  ...['id', 'since', 'until', 'judged'],
  ...['verdict', 'days', 'first_sent', 'first_days'],
] as const satisfies readonly (keyof Tables['decisions'])[];

type Row = Pick<Selectable<Tables['decisions']>, (typeof decisionColumns)[number]>;

/** The newest on a mailbox, newest first. */
export async function loadDecisions(
  db: Kysely<Tables>,
  mailbox: { readonly account: string; readonly id: string },
  limit: number,
): Promise<readonly RecordedDecision[]> {
  const rows = await db
    .selectFrom('decisions')
    .select(decisionColumns)
    .where('account', '=', mailbox.account)
    .where('mailbox_id', '=', mailbox.id)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(readDecision);
}

/** Throws DamagedRowError. */
export function readDecision({ id, since, until, judged, ...row }: Row): RecordedDecision {
  const [verdict, days] = [storedVerdict(row.verdict, { id }), storedDays(row.days, { id })];
  const firstDays = storedDays(row.first_days, { id });
  return { since, until, count: judged, firstSent: row.first_sent, firstDays, verdict, days };
}
