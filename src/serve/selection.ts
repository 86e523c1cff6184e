// The parameters of a query that select mailboxes.
import { guardStates } from '../model/mailbox.ts';
import { type Selection, sortings, wholeFleet } from '../overview/fleet-view.ts';
import { cursorOf } from './cursor.ts';
import { oneOf, type Query, upTo, whole } from './query.ts';

const maxFilterLength = 200;

const filters = { q: upTo(maxFilterLength), state: oneOf(...guardStates) };

/** Of GET /api/fleet. */
export const fleetParameters = {
  ...filters,
  limit: whole(1, 1_000),
  cursor: cursorOf('number', 'number', 'text', 'text', 'text'),
};

/** Of the page. */
export const pageParameters = {
  ...filters,
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
