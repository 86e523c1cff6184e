// How a name of the configuration is written in a statement that people are to run.

/** Names of other letters are other names without quotes. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
