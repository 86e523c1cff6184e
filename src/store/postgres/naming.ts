// How a name of the configuration is written in a statement that people are to run.

/** A name with other letters needs quotes: without them, PostgreSQL reads another name. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
