// What a person agreed to: the mailboxes that a dry run named. An applied run changes no others.
import type { Cell, ParameterValues, Row, Run } from '../core/recipe.ts';
import type { RunLedger } from '../store/runs.ts';

const chunksARead = 8;

/** Whether `planned` is a finished dry run of the recipe with these parameters. */
export function isPlanOf(planned: Run, recipe: string, parameters: ParameterValues): boolean {
  return (
    planned.recipe === recipe &&
    !planned.apply &&
    planned.status === 'succeeded' &&
    isSame(planned.parameters, parameters)
  );
}

function isSame(one: ParameterValues, other: ParameterValues): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** The mailboxes that a dry run would have changed. */
export async function approvedBy({ id, columns, rowCount }: Run, runs: RunLedger): Promise<ReadonlySet<string>> {
  const approved = new Set<string>();
  for (let offset = 0; offset < rowCount; ) {
    const chunks = await runs.chunks(id, offset, chunksARead);
    if (chunks.length === 0) break;
    for (const { rows, firstRow, count } of chunks) {
      offset = firstRow + count;
      for (const cells of JSON.parse(rows) as Cell[][]) {
        const row = Object.fromEntries(cells.map((cell, index) => [columns[index] ?? '', cell]));
        if (row['outcome'] === 'planned') approved.add(subjectOf(row));
      }
    }
  }
  return approved;
}

/** Tells the mailbox of a row from every other. */
export function subjectOf(row: Row): string {
  return JSON.stringify([row['account'], row['mailbox_id']]);
}
