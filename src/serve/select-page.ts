// One page of a selection of the fleet, in its order: in slices, and without sorting what is not shown.
import {
  choose,
  type MailboxRow,
  makeRow,
  noTags,
  type Page,
  queueOf,
  type Rank,
  type RankedMailbox,
  type Selection,
  type Tags,
  wholeFleet,
  worstFirst,
} from '../overview/fleet-view.ts';
import { createPacer } from '../world.ts';
import type { RankedFleet } from './ranking.ts';

const sliceMs = 3;

/** The rows of one page of so many; a page beyond the last is the last. */
export async function selectPage(
  { ranked, names }: Pick<RankedFleet, 'ranked' | 'names'>,
  selection: Selection,
  { tags, rowsAPage }: { readonly tags: Tags; readonly rowsAPage: number },
): Promise<Page> {
  const isChosen = choose(selection, tags);
  const queue = queueOf(selection.sort);
  const pacer = createPacer(sliceMs, 'patient');
  for (const one of ranked) {
    if (pacer.due()) await pacer.turn();
    if (isChosen(one)) queue.push(one);
  }
  const total = queue.length;
  const pages = Math.max(1, Math.ceil(total / rowsAPage));
  const page = Math.min(selection.page, pages);
  for (let before = (page - 1) * rowsAPage; before > 0; before -= 1) {
    if (pacer.due()) await pacer.turn();
    queue.pop();
  }
  const shown: RankedMailbox[] = [];
  while (shown.length < rowsAPage) {
    const next = queue.pop();
    if (next === undefined) break;
    shown.push(next);
  }
  return { rows: shown.map((one) => makeRow(one, names.nameOf(one.mailbox))), total, page, pages };
}

/** Rows worst first, from behind a rank on: where it was when it was read, so what moved since moves no other. */
export interface RowsAfter {
  readonly rows: readonly MailboxRow[];
  /** How many rows the selection has in all. */
  readonly total: number;
  /** The rank of the last row when there are more behind it. */
  readonly last: Rank | null;
}

/** At most `limit` rows; `after` null: from the worst on. */
export async function rowsAfter(
  { ranked, names }: Pick<RankedFleet, 'ranked' | 'names'>,
  { text, state }: Pick<Selection, 'text' | 'state'>,
  { after, limit }: { readonly after: Rank | null; readonly limit: number },
): Promise<RowsAfter> {
  const isChosen = choose({ ...wholeFleet, text, state }, noTags);
  const queue = queueOf('worst');
  const pacer = createPacer(sliceMs, 'patient');
  let total = 0;
  for (const one of ranked) {
    if (pacer.due()) await pacer.turn();
    if (!isChosen(one)) continue;
    total += 1;
    if (after === null || worstFirst(one, after) > 0) queue.push(one);
  }
  const shown: RankedMailbox[] = [];
  while (shown.length < limit) {
    const next = queue.pop();
    if (next === undefined) break;
    shown.push(next);
  }
  const rows = shown.map((one) => makeRow(one, names.nameOf(one.mailbox)));
  return { rows, total, last: queue.length > 0 ? (shown.at(-1) ?? null) : null };
}
