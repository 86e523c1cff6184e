// Reads decisions back as the spans that people are shown.
import type { Selectable } from 'kysely';
import type { DecisionDay, RecordedDecision } from '../core/decision.ts';
import type { Verdict } from '../core/verdict.ts';
import { parsed } from './rows.ts';
import type { Db, Tables } from './schema/tables.ts';

/** The columns that `readDecision` needs. */
export const decisionColumns = [
  ...['id', 'since', 'until', 'judged'],
  ...['verdict', 'days', 'first_sent', 'first_days'],
] as const satisfies readonly (keyof Tables['decisions'])[];

type Row = Pick<Selectable<Tables['decisions']>, (typeof decisionColumns)[number]>;

/** The newest on a mailbox, newest first. */
export async function loadDecisions(
  db: Db,
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
  const json = <Value>(text: string) => parsed<Value>(text, 'decisions', { id });
  return {
    ...{ since, until, count: judged, firstSent: row.first_sent, verdict: json<Verdict>(row.verdict) },
    ...{ days: json<readonly DecisionDay[]>(row.days), firstDays: json<readonly DecisionDay[]>(row.first_days) },
  };
}
