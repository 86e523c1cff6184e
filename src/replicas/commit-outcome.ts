// What became of a COMMIT whose reply was lost. Every fenced transaction raises the version of its lease: the version tells.

/** A lease as it is stored. The fence rises with each holder, the version with each of its transactions. */
export interface Lease {
  readonly owner: string;
  readonly fence: number;
  readonly version: number;
}

/** `expected`: the lease as that transaction left it. `lost`: another holds it now, and what was committed is read anew from there. */
export function commitOutcome(expected: Lease, found: Lease | null): 'committed' | 'not_committed' | 'lost' {
  if (found?.owner !== expected.owner || found.fence !== expected.fence) return 'lost';
  return found.version === expected.version ? 'committed' : 'not_committed';
}
