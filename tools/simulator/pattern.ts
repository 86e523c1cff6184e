// Globs on addresses: `*` stands for any characters, `?` for one; case does not matter.

/** Whether `address` matches the glob (a plain address is a glob that matches itself). */
export function matchesAddress(glob: string, address: string): boolean {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${source}$`, 'i').test(address);
}
