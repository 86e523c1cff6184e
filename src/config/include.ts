// Makes one tree of the configuration file and the files that its key `include` names. Mappings merge key by key, and so do
// accounts of the same name. Lists follow one another in the order of the files. Any other value stands in one file only.
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readDocument, type SourceDocument } from '../world/schema/document.ts';
import { fieldsOf, isObject, type JsonFields } from '../world/schema/json.ts';
import { byPlace, type Finding, formatPath, type Path, type Problem } from '../world/schema/problem.ts';
import { filesMatching, readSmallFile } from '../world/schema/small-file.ts';
import { hideSecrets } from './hiding.ts';

export interface ConfigTree extends Pick<SourceDocument, 'findings' | 'cut'> {
  /** The configuration file, as the user named it. */
  readonly file: string;
  readonly included: readonly string[];
  readonly tree: JsonFields;
  /** Problems of included files that could not be merged. */
  readonly unreadable: readonly Problem[];
  /** Place in the file that holds the value, with the path in that file. */
  placeOf(path: Path, at: Finding['at']): Omit<Problem, 'message'>;
  /** Absolute folder of the file that holds the value. */
  folderOf(path: Path): string;
}

/** A file of the configuration. `file` is null for the configuration file itself. */
interface SourceFile extends SourceDocument {
  readonly tree: JsonFields;
  readonly file: string | null;
  readonly folder: string;
}

export function readSource(path: string): ConfigTree | readonly Problem[] {
  const main = readPart(path, null);
  if (!('tree' in main)) return main;
  const { files, findings } = includedFiles(main, path);
  const read = files.map((file) => readPart(file, file));
  const merged = mergeParts(
    main,
    read.filter((one) => 'tree' in one),
  );
  return {
    ...merged,
    file: path,
    included: files,
    findings: [...merged.findings, ...findings],
    unreadable: read.flatMap((one) => ('tree' in one ? includesItself(one) : one)).sort(byPlace),
  };
}

/** Omits top-level keys that begin with x-, which hold anchors for the other keys. */
function readPart(path: string, file: string | null): SourceFile | readonly Problem[] {
  const named = file === null ? {} : { file };
  const atTop = (message: string): readonly Problem[] => [{ line: 1, column: 1, path: '', message, ...named }];
  const read = readSmallFile(path);
  if ('failure' in read) return atTop(`the file can't be read: ${read.failure}`);
  const source = readDocument(read.text);
  if (!('tree' in source)) return source.map((problem) => ({ ...hideSecrets(problem, []), ...named }));
  const { tree } = source;
  if (tree === null || tree === undefined) return atTop('the file is empty');
  if (!isObject(tree)) return atTop('the file must be a mapping of keys');
  const keys = Object.entries(tree).filter(([key]) => !key.startsWith('x-'));
  return { ...source, tree: Object.fromEntries(keys), file, folder: dirname(resolve(path)) };
}

/** Files that the patterns name, in the order of the patterns, those of one pattern in the order of their names. */
function includedFiles({ tree: { include = [] }, folder }: SourceFile, path: string) {
  const findings: Finding[] = [];
  const patterns: readonly unknown[] = Array.isArray(include) ? include : [include];
  const files = patterns.flatMap((pattern, index) => {
    if (typeof pattern !== 'string') return [];
    const found = filesMatching(pattern, folder);
    const at = Array.isArray(include) ? ['include', index] : ['include'];
    if (found.length === 0) findings.push({ path: at, at: 'value', message: 'matches no file' });
    const others = found.filter((file) => resolve(folder, file) !== resolve(path));
    return others.map((file) => (isAbsolute(file) ? file : join(dirname(path), file)));
  });
  return { files: [...new Set(files)], findings };
}

function includesItself({ tree, file, placeOf }: SourceFile): readonly Problem[] {
  if (tree['include'] === undefined || file === null) return [];
  const message = 'only the configuration file itself can include others';
  return [{ ...placeOf(['include'], 'key'), file, path: 'include', message }];
}

type Merged = Omit<ConfigTree, 'file' | 'included' | 'unreadable'>;

function mergeParts(main: SourceFile, parts: readonly SourceFile[]): Merged {
  const findings: Finding[] = [...main.findings];
  const cut: Path[] = [...main.cut];
  /** Values that included files brought, by their paths in the tree. */
  const origins = new Map<string, { readonly part: SourceFile; readonly path: Path }>();
  const originOf = (path: Path) => {
    const found = longestPrefix(path, origins);
    return found ? { part: found.value.part, path: [...found.value.path, ...found.rest] } : { part: main, path };
  };
  const placeOf: Merged['placeOf'] = (path, at) => {
    const origin = originOf(path);
    const { file, placeOf: placeIn } = origin.part;
    return { ...placeIn(origin.path, at), path: formatPath(origin.path), ...(file !== null && { file }) };
  };
  let tree: JsonFields = main.tree;
  for (const part of parts) {
    /** Paths in the tree, by the paths in the part. */
    const moved = new Map<string, Path>();
    const merge = (base: unknown, value: unknown, treePath: Path, path: Path): unknown => {
      moved.set(formatPath(path), treePath);
      if (value === undefined && base !== undefined) return base;
      if (base === undefined) {
        origins.set(formatPath(treePath), { part, path });
        return value;
      }
      if (isObject(base) && isObject(value)) {
        const added = Object.entries(value).map(([key, inner]) => {
          return [key, merge(base[key], inner, [...treePath, key], [...path, key])] as const;
        });
        return { ...base, ...Object.fromEntries(added) };
      }
      if (Array.isArray(base) && Array.isArray(value)) {
        const list = [...base];
        for (const [index, item] of value.entries()) {
          // An account may have its overrides in another file.
          const { name } = fieldsOf(item);
          const isSame = (one: unknown) => name !== undefined && fieldsOf(one)['name'] === name;
          const same = treePath.length === 1 && treePath[0] === 'accounts' ? base.findIndex(isSame) : -1;
          const to = same < 0 ? list.length : same;
          list[to] = merge(list[to], item, [...treePath, to], [...path, index]);
        }
        return list;
      }
      const isAccountName = treePath.length === 3 && treePath[0] === 'accounts' && treePath[2] === 'name';
      if (!isAccountName) {
        const { line, column } = part.placeOf(path, 'value');
        const message = `is also in ${part.file}:${line}:${column}: write it in one file only`;
        findings.push({ path: treePath, at: 'value', message });
      }
      return base;
    };
    const inTree = (path: Path): Path => {
      const found = longestPrefix(path, moved);
      return found ? [...found.value, ...found.rest] : path;
    };
    tree = merge(tree, part.tree, [], []) as JsonFields;
    findings.push(...part.findings.map((finding) => ({ ...finding, path: inTree(finding.path) })));
    cut.push(...part.cut.map(inTree));
  }
  return { tree, findings, cut, placeOf, folderOf: (path) => originOf(path).part.folder };
}

function longestPrefix<Value>(path: Path, values: ReadonlyMap<string, Value>) {
  for (let length = path.length; length >= 0; length--) {
    const value = values.get(formatPath(path.slice(0, length)));
    if (value !== undefined) return { value, rest: path.slice(length) };
  }
  return null;
}
