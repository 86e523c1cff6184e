// Child process that runs one SELECT: reads its job from stdin, writes rows to stdout, may be killed at any time.
import { readFileSync, writeSync } from 'node:fs';
import { boundParameters, sandboxFor, sayable } from './sandbox.ts';
import type { SelectJob } from './select.ts';

const rowsAChunk = 200;
const chunkBytes = 64 * 1024;
const maxRowBytes = 256 * 1024;
const stdout = 1;

/** Waits until the parent has read, so rows never pile up here. A full pipe blocks, or answers EAGAIN. */
function say(line: string): void {
  let bytes = Buffer.from(`${line}\n`);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(stdout, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

/** Converts blobs, and whole numbers that JavaScript can't hold, to text. */
function cell(value: unknown): string | number | null {
  if (typeof value === 'bigint') {
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value.toString();
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value as string | number | null;
}

async function run({ place, select, parameters, integers, facts, maxRows, maxBytes }: SelectJob): Promise<void> {
  const sandbox = await sandboxFor(place, select, facts);
  const statement = sandbox.prepare(select);
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  // `now` is always given, and few SELECTs use it.
  statement.setAllowUnknownNamedParameters(true);
  say(JSON.stringify({ columns: statement.columns().map(({ name }) => name) }));
  let chunk: string[] = [];
  let [chunkSize, rows, bytes] = [0, 0, 0];
  const flush = () => {
    if (chunk.length > 0) say(`${chunk.length} [${chunk.join(',')}]`);
    [chunk, chunkSize] = [[], 0];
  };
  let truncated = false;
  for (const values of statement.iterate(boundParameters(parameters, integers)) as Iterable<unknown>) {
    const row = JSON.stringify((values as unknown[]).map(cell));
    const size = Buffer.byteLength(row);
    bytes += size;
    if (size > maxRowBytes) throw new Error(`a row is larger than ${maxRowBytes / 1024} KiB`);
    truncated = rows >= maxRows || bytes > maxBytes;
    if (truncated) break;
    rows += 1;
    chunkSize += size;
    chunk.push(row);
    if (chunk.length >= rowsAChunk || chunkSize >= chunkBytes) flush();
  }
  flush();
  say(JSON.stringify({ truncated }));
}

try {
  await run(JSON.parse(readFileSync(0, 'utf8')));
} catch (error) {
  // An error of PostgreSQL is a whole sentence.
  const isStores = error instanceof Error && error.name === 'StoreError';
  say(JSON.stringify({ [isStores ? 'refused' : 'error']: sayable(error) }));
}
