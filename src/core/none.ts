// One empty list for all: most lists of a mailbox are empty, and an empty array of its own takes 32 bytes each.

export const none: readonly never[] = [];

/** The list itself, or the one that is empty. */
export function orNone<Item>(list: readonly Item[]): readonly Item[] {
  return list.length === 0 ? none : list;
}
