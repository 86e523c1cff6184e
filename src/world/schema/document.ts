// Reads YAML text into a plain tree with the line and column of every path.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  parseDocument,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { Finding, Path, Problem } from './problem.ts';

// Translates the YAML parser's complaints. No sentence quotes the file, because a line may contain a secret.

interface Complaint {
  readonly message: string;
  readonly offset: number;
  readonly line: number;
}

/** `local` is false if the parser misreads the lines below the mistake. */
interface Mistake {
  readonly message: string;
  readonly offset: number;
  readonly local: boolean;
}

/** Returns one mistake per line, in the order of the file, without those that follow from a mistake above. */
function syntaxMistakes(complaints: readonly Complaint[], text: string): readonly Mistake[] {
  // The parser reports an unclosed bracket once per level, which can be often.
  const firsts = new Map<number, Complaint>();
  for (const complaint of complaints.toSorted((a, b) => a.offset - b.offset)) {
    if (!firsts.has(complaint.line)) firsts.set(complaint.line, complaint);
  }
  const mistakes = [...firsts.values()].map((complaint) => diagnose(complaint, text));
  const lost = mistakes.findIndex(({ local }) => !local);
  return mistakes.filter(({ local }, index) => local || index === lost);
}

const uneven =
  'this line is not indented like the lines that belong with it: indent all keys of a mapping, and all items of a list, by the same number of spaces';
const spaceAfterColon = 'write a space after the colon';
const missingComma = 'write a comma here, or put the value in quotes if it contains a colon';
const keyWithoutColon = 'a key needs a colon and a space after it, as in name: value';

/** Mistakes at the place at which the parser notices them. */
const local: readonly (readonly [RegExp, string])[] = [
  [/cannot be an empty string|Unexpected alias at node end/, 'a value that begins with * or & must be in quotes'],
  [/cannot start with .* [%@`]$/, 'a value that begins with %, @ or ` must be in quotes'],
  [/^Block scalar header/, 'a value that begins with | or > must be in quotes'],
  [/^Unresolved tag/, 'a value that begins with ! must be in quotes'],
  [/^Invalid escape/, 'in double quotes, \\ begins an escape sequence: write \\\\, or use single quotes'],
  [
    /at node end$/,
    'this text follows a quoted value or a closed bracket: write one pair of quotes around the whole value',
  ],
  [/^Missing space after :/, spaceAfterColon],
  [/^Missing , |^Block collections are not allowed/, missingComma],
  [/^Unexpected (,|empty item) in/, 'there is an extra comma here: remove it'],
  [/^Comments must be separated/, 'write a space before #'],
  [/^Unexpected block-seq-ind/, 'begin the list on the next line'],
  [/^Implicit (map )?keys need/, keyWithoutColon],
];

/** Mistakes that change how the lines below are read. */
const lasting: readonly (readonly [RegExp, string])[] = [
  [/^Tabs are not allowed/, 'this line is indented with a tab: use spaces'],
  [/ end with a }$/, 'a } is missing before this line, or this line needs more indentation'],
  [/ end with a ]$/, 'a ] is missing before this line, or this line needs more indentation'],
  [/^Unexpected flow-(map|seq)-end/, 'this bracket closes nothing: remove it'],
  [/^Unknown directive|^%(YAML|TAG)|^Unsupported YAML/, 'no line may begin with %'],
  [/call stack/, 'the file is nested too deeply, or is too large'],
  [/^Missing closing ["']/, 'this quotation mark is never closed'],
];

/** An unknown message is cut at its first colon: the parser quotes the file after it. */
function diagnose(complaint: Complaint, text: string): Mistake {
  const { message, offset } = complaint;
  const ofLine = brokenLine(complaint, text);
  if (ofLine) return ofLine;
  const said = local.find(([pattern]) => pattern.test(message))?.[1];
  if (said) return { offset, message: said, local: true };
  return {
    offset,
    message: lasting.find(([pattern]) => pattern.test(message))?.[1] ?? message.replace(/(:|\n).*/s, ''),
    local: false,
  };
}

function brokenLine({ message, offset }: Complaint, text: string): Mistake | null {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const rest = /^.*/.exec(text.slice(offset))?.[0] ?? '';
  const line = text.slice(start, offset) + rest;
  const at = (index: number, said: string, isLocal = true) => ({ offset: index, message: said, local: isLocal });

  if (/^Block collections/.test(message) && /^[^,\]}]*;/.test(rest)) return at(offset, 'write a comma instead of ;');
  if (/^(Implicit|Nested|A block)/.test(message)) {
    const dash = /^\s*-(?=[A-Za-z_]\w*:(\s|$))/.exec(line);
    if (dash) return at(start + dash[0].length - 1, 'write a space after the dash');
    const colon = /^\s*(- +)*[A-Za-z_]\w*:(?=[^\s:/])/.exec(line);
    if (colon) return at(start + colon[0].length - 1, spaceAfterColon);
  }
  const firstOf = (from: number) => from + (/^(?:\s|#.*\n)*/.exec(text.slice(from))?.[0].length ?? 0);
  if (/^Nested mappings/.test(message)) {
    if (/:(\s|$)/.test(rest)) return at(offset, 'a value with a colon and a space in it must be in quotes');
    return at(firstOf(offset + rest.length), uneven, false);
  }
  const beginsLine = text.slice(start, offset).trim() === '';
  if (beginsLine && /at node end$|scalar token in YAML stream/.test(message)) return at(offset, uneven, false);
  if (/must start at the same column|^A block sequence may not|^Sequence item without/.test(message)) {
    return at(firstOf(start), uneven, false);
  }
  return null;
}

export interface SourceDocument {
  /** Objects, arrays and scalars. A key without a value is left out, as if it were absent from the file. */
  readonly tree: unknown;
  readonly findings: readonly Finding[];
  /** Paths of unquoted values that end before a # without a space after it: the rest may belong to the value. */
  readonly cut: readonly Path[];
  /** Returns the place of the nearest parent that exists if the path does not. */
  placeOf(path: Path, at: 'value' | 'key'): { readonly line: number; readonly column: number };
}

const maxDepth = 20;
/** Aliases of aliases can grow a small file without bound. */
const maxNodes = 200_000;

export function readDocument(text: string): SourceDocument | readonly Problem[] {
  const lines = new LineCounter();
  const [document, another] = parsed(text, lines);
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const complaints = [
    ...[...document.errors, ...document.warnings].map((mistake) => ({
      message: mistake.message,
      offset: noticedAt(mistake, document),
    })),
    ...(another ? [{ offset: another.range[0], message: anotherBegins }] : []),
  ].map((complaint) => ({ ...complaint, line: place(complaint.offset).line }));
  if (complaints.length > 0) {
    return syntaxMistakes(complaints, text).map(({ offset, message }) => ({
      ...place(offset),
      path: '',
      message: `YAML: ${message}`,
    }));
  }

  const findings: Finding[] = [];
  const cut: Path[] = [];
  let nodes = 0;
  const targets = targetsIn(document);
  const target = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);
  const merged = new Map<YAMLMap, readonly Pair[]>();
  /** Pairs of a mapping with those that its merge keys add. Its own win, then those of the first mapping merged. */
  const pairsOf = (map: YAMLMap, path: Path): readonly Pair[] => {
    const own = map.items.filter((pair) => !isMergeKey(pair));
    if (own.length === map.items.length) return own;
    const known = merged.get(map);
    if (known) return known;
    // A mapping that merges itself adds nothing.
    merged.set(map, own);
    const added = new Map<string, Pair>();
    for (const { value } of map.items.filter(isMergeKey)) {
      const node = target(value);
      for (const base of isSeq(node) ? node.items.map(target) : [node]) {
        if (!isMap(base)) findings.push({ path: [...path, mergeKey], at: 'key', message: mergesNoMapping });
        else for (const pair of pairsOf(base, path)) if (!added.has(keyOf(pair))) added.set(keyOf(pair), pair);
      }
    }
    for (const pair of own) added.delete(keyOf(pair));
    const pairs = [...own, ...added.values()];
    merged.set(map, pairs);
    return pairs;
  };
  const read = (written: unknown, path: Path): unknown => {
    const node = target(written);
    if (node === undefined) findings.push({ path, at: 'value', message: namesNoAnchor });
    if (path.length > maxDepth || ++nodes > maxNodes) {
      if (nodes <= maxNodes + 1) findings.push({ path, at: 'value', message: 'is nested too deeply, or is too large' });
      return null;
    }
    if (isSeq(node)) return node.items.map((item, index) => read(item, [...path, index]));
    if (isScalar(node) && node.type === 'PLAIN' && /^[^\s#]/.test(node.comment ?? '')) cut.push(path);
    if (!isMap(node)) return isScalar(node) ? node.value : null;
    return readMap(node, path);
  };
  const readMap = (map: YAMLMap, path: Path): unknown => {
    const entries = new Map<string, unknown>();
    for (const pair of pairsOf(map, path)) {
      const key = keyOf(pair);
      // {name:acme} is the key "name:acme", which may hold a secret, so the finding names only the part before the
      // colon.
      const [, meant] = /^([A-Za-z_]\w*):[^\s/]/.exec(key) ?? [];
      if (meant !== undefined) {
        findings.push({ path: [...path, meant], at: 'value', message: spaceAfterColon });
        continue;
      }
      if (entries.has(key)) findings.push({ path: [...path, key], at: 'key', message: 'this key appears twice' });
      entries.set(key, read(pair.value, [...path, key]));
    }
    // An empty value stands for the default. Its key stays, so that the schema refuses an unknown one.
    return Object.fromEntries([...entries].map(([key, value]) => [key, value ?? undefined]));
  };

  return {
    tree: read(document.contents, []),
    findings,
    cut,
    placeOf: (path, at) => place(offsetOf(document.contents, path, at, { target, pairsOf })),
  };
}

/** Node that each alias names. The parser would search the whole document for each of them. */
function targetsIn(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias(_, alias) {
      const node = anchors.get(alias.source);
      if (node) targets.set(alias, node);
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

const mergeKey = '<<';
const mergesNoMapping = 'must name the anchor of a mapping, as in <<: *base';

function isMergeKey({ key }: Pair): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === mergeKey;
}

function parsed(text: string, lineCounter: LineCounter) {
  const options = { lineCounter, prettyErrors: false, uniqueKeys: false };
  const [first = parseDocument(text, options), another] = parseAllDocuments(text, options);
  return [first as Document.Parsed, another as Document.Parsed | undefined] as const;
}

const namesNoAnchor = 'names an anchor that does not exist: a value that begins with * must be in quotes';
const anotherBegins = 'a second document begins here, but the file must have only one';

/** The parser does not give the beginning of an open quotation mark. */
function noticedAt({ message, pos: [offset] }: YAMLError, document: Document.Parsed): number {
  let at = offset;
  if (!message.startsWith('Missing closing')) return at;
  visit(document, {
    Scalar(_, { range }) {
      if (range?.[1] === offset) at = range[0];
    },
  });
  return at;
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

interface Nodes {
  readonly target: (node: unknown) => unknown;
  readonly pairsOf: (map: YAMLMap, path: Path) => readonly Pair[];
}

function offsetOf(root: unknown, path: Path, at: 'value' | 'key', { target, pairsOf }: Nodes): number {
  let node = target(root);
  let offset = startOf(root) ?? 0;
  for (const [depth, step] of path.entries()) {
    const last = depth === path.length - 1;
    let value: unknown;
    if (isMap(node)) {
      // A repeated key resolves to its last occurrence, because its finding points there.
      const pairs = step === mergeKey ? node.items : pairsOf(node, path);
      const pair = pairs.findLast((item) => keyOf(item) === step);
      if (!pair) return offset;
      const empty = !pair.value || (isScalar(pair.value) && pair.value.value === null);
      if (last && (at === 'key' || empty)) return startOf(pair.key) ?? offset;
      value = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      value = node.items[step];
    }
    offset = startOf(value) ?? offset;
    node = target(value);
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
