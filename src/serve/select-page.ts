// One page of a selection of the fleet, in its order: in slices, and without sorting what is not shown.
import {
  choose,
  makeRow,
  type Page,
  queueOf,
  type RankedMailbox,
  type Selection,
  type Tags,
} from '../page/fleet-view.ts';
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
  const pacer = createPacer(sliceMs);
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
