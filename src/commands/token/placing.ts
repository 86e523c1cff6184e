// Where an entry for a list goes in a configuration file that is there already, and the lines that fit that place. Pure.
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';

/** What is added, and where. */
export interface Placing {
  /** As it follows "add this to config.yaml, ". */
  readonly where: string;
  readonly lines: readonly string[];
}

const step = 2;

/** `keys` lead to the list; `entry` is the new element, as YAML on one line. `text` null: the file is not known. */
export function placingOf(text: string | null, keys: readonly string[], entry: string): Placing {
  const lines = new LineCounter();
  const document = text === null ? null : parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const root = document?.contents ?? null;
  if (!document || document.errors.length > 0 || !(root === null || isMap(root))) return anywhere(keys, entry);
  const at = (offset: number) => lines.linePos(offset);
  let holder: YAMLMap | null = root as YAMLMap | null;
  for (const [depth, key] of keys.entries()) {
    const left = keys.slice(depth);
    const pair = holder?.items.findLast((one) => isScalar(one.key) && one.key.value === key);
    if (!pair) return into(holder, keys.slice(0, depth), { left, entry, at });
    const { line, col } = at((pair.key as Node).range?.[0] ?? 0);
    const value = pair.value as Node | null;
    if (value === null || (isScalar(value) && value.value === null))
      return { where: `below line ${line}`, lines: blockOf(keys.slice(depth + 1), entry, col - 1 + step) };
    if (isSeq(value) && value.flow === true)
      return { where: `between the brackets of \`${key}\` in line ${line}, after a comma`, lines: [entry] };
    if (isSeq(value))
      return { where: `below line ${line}`, lines: blockOf([], entry, at(value.range?.[0] ?? 0).col - 1) };
    if (!isMap(value) && !isScalar(value)) return anywhere(keys, entry);
    if (!isMap(value)) return { where: `in place of line ${line}`, lines: blockOf(left, entry, col - 1) };
    holder = value;
  }
  return anywhere(keys, entry);
}

interface Missing {
  /** The keys that are not there. */
  readonly left: readonly string[];
  readonly entry: string;
  readonly at: (offset: number) => { readonly line: number; readonly col: number };
}

/** Into a mapping that is there: the keys that lead to it are `found`. */
function into(holder: YAMLMap | null, found: readonly string[], { left, entry, at }: Missing): Placing {
  const parent = found.at(-1);
  const start = holder?.range?.[0] ?? 0;
  if (holder?.flow === true)
    return {
      where: `between the braces of ${parent === undefined ? 'the file' : `\`${parent}\``} that open in line ${at(start).line}, after a comma`,
      lines: [flowOf(left, entry)],
    };
  if (parent === undefined) return { where: 'at the end', lines: blockOf(left, entry, 0) };
  const { line, col } = at(start);
  return { where: `above line ${line}`, lines: blockOf(left, entry, col - 1) };
}

/** In a file that can't be read: as a whole, with what to leave out of it. */
function anywhere(keys: readonly string[], entry: string): Placing {
  const known = keys.map((key) => `\`${key}:\``).join(', ');
  return { where: `without those of the lines ${known} that are there already`, lines: blockOf(keys, entry, 0) };
}

/** One key a line, each indented deeper than the one before, then the element. */
function blockOf(keys: readonly string[], entry: string, indent: number): readonly string[] {
  const lines = keys.map((key, depth) => `${' '.repeat(indent + depth * step)}${key}:`);
  return [...lines, `${' '.repeat(indent + keys.length * step)}- ${entry}`];
}

function flowOf(keys: readonly string[], entry: string): string {
  return keys.reduceRight((inner, key, depth) => {
    const list = depth === keys.length - 1 ? `[${inner}]` : `{${inner}}`;
    return `${key}: ${list}`;
  }, entry);
}
