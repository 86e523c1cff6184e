// The parameters of a query that select mailboxes.
import { guardStates } from '../model/mailbox.ts';
import type { Selection } from '../page/fleet-view.ts';
import { oneOf, type Query, upTo, whole } from './query.ts';

const maxFilterLength = 200;

export const selectionParameters = { q: upTo(maxFilterLength), state: oneOf(...guardStates), page: whole(1) };

export function selectionFrom({ q, state, page }: Query<typeof selectionParameters>): Selection {
  return { text: (q ?? '').trim(), state: state ?? null, page: page ?? 1 };
}
