// What became of a COMMIT whose reply was lost. Every transaction of a replica raises the version of its row: the version tells.

/**
 * `expected`: the version as that transaction left it. `found`: as it is stored; null: the replica was taken for dead. `lost`:
 * whoever inherited its work reads what was committed.
 */
export function commitOutcome(expected: number, found: number | null): 'committed' | 'not_committed' | 'lost' {
  if (found === null) return 'lost';
  return found === expected ? 'committed' : 'not_committed';
}
