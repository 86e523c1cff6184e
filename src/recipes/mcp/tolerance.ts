// What clients send and read differently than MCP says. Many models write null for a value that they leave out.

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** Fields without those that are null. */
export function withoutNulls(given: Readonly<Fields>): Fields {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/** The line of a request without null for `params`, or for one of the parameters of the protocol. Other lines stay as they are. */
export function readableLine(line: Buffer): Buffer {
  if (!line.includes('null')) return line;
  const message = parsed(line.toString());
  if (message === null || !('method' in message)) return line;
  const { params, ...others } = message;
  const given = fieldsOf(params);
  if (params !== null && given === null) return line;
  return Buffer.from(`${JSON.stringify(given ? { ...others, params: withoutNulls(given) } : others)}\n`);
}

function parsed(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** One sentence instead of the JSON of zod's issues, which the SDK puts into its errors. Other texts stay as they are. */
export function plainError(text: string): string {
  const start = text.search(/\[\s*\{/);
  if (start < 0) return text;
  try {
    const issues = JSON.parse(text.slice(start)) as readonly Issue[];
    const said = issues.map(({ path, message }) => `${path.join('.')}: ${message.replace(/^Invalid input: /, '')}`);
    return `The request cannot be read: ${said.join('; ')}.`;
  } catch {
    return text;
  }
}
