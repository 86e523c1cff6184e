// The parameters of a query that select mailboxes.
import type { Fleet } from '../../core/fleet/fleet.ts';
import { guardStates } from '../../core/mailbox.ts';
import { createPacer } from '../../world/world.ts';
import { means, oneOf, type Query, upTo, whole } from '../query.ts';
import { FirstOf } from './first-of.ts';
import {
  choose,
  type MailboxRow,
  makeRow,
  noTags,
  orders,
  type Page,
  type Rank,
  type RankedMailbox,
  type Selection,
  sortings,
  type Tags,
  wholeFleet,
  worstFirst,
} from './fleet-view.ts';

const maxFilterLength = 200;

/** Of GET /api/fleet and of the page. */
export const fleetFilters = {
  q: means('Words that the address, account, id, state or mode must contain.', upTo(maxFilterLength)),
  state: means("One of the guard's states.", oneOf(...guardStates)),
};

/** Of the page. */
export const pageParameters = {
  ...fleetFilters,
  page: whole(1),
  account: upTo(maxFilterLength),
  domain: upTo(maxFilterLength),
  provider: upTo(maxFilterLength),
  tag: upTo(maxFilterLength),
  sort: oneOf(...sortings),
};

export function selectionFrom(asked: Partial<Query<typeof pageParameters>>): Selection {
  const { q, state, account, domain, provider, tag, sort, page } = asked;
  return {
    text: (q ?? '').trim(),
    state: state ?? null,
    // A select of the form sends an empty text for all.
    account: account || null,
    domain: domain || null,
    provider: provider || null,
    tag: tag || null,
    sort: sort ?? wholeFleet.sort,
    page: page ?? wholeFleet.page,
  };
}

// One page of a selection of the fleet, in its order: in slices, and without sorting what is not shown.

const sliceMs = 3;

/** The rows of one page of so many; a page beyond the last is the last. */
export async function selectPage(
  ranked: readonly RankedMailbox[],
  selection: Selection,
  { fleet, tags, rowsAPage }: { readonly fleet: Fleet; readonly tags: Tags; readonly rowsAPage: number },
): Promise<Page> {
  const isChosen = choose(selection, tags);
  const first = new FirstOf(orders[selection.sort], selection.page * rowsAPage);
  const pacer = createPacer(sliceMs);
  for (const one of ranked) {
    if (pacer.due()) await pacer.turn();
    if (isChosen(one)) first.put(one);
  }
  const { total } = first;
  const pages = Math.max(1, Math.ceil(total / rowsAPage));
  const page = Math.min(selection.page, pages);
  return { rows: first.take((page - 1) * rowsAPage).map((one) => makeRow(fleet, one)), total, page, pages };
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
  ranked: readonly RankedMailbox[],
  { text, state }: Pick<Selection, 'text' | 'state'>,
  { fleet, after, limit }: { readonly fleet: Fleet; readonly after: Rank | null; readonly limit: number },
): Promise<RowsAfter> {
  const isChosen = choose({ ...wholeFleet, text, state }, noTags);
  const first = new FirstOf(orders.worst, limit);
  const pacer = createPacer(sliceMs);
  let total = 0;
  for (const one of ranked) {
    if (pacer.due()) await pacer.turn();
    if (!isChosen(one)) continue;
    total += 1;
    if (after === null || worstFirst(one, after) > 0) first.put(one);
  }
  const shown = first.take();
  const last = first.total > limit ? (shown.at(-1) ?? null) : null;
  return { rows: shown.map((one) => makeRow(fleet, one)), total, last };
}
