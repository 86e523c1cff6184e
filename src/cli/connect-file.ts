// The file of `connect`: CSV or YAML, one row a mailbox. A password is in the environment or in a file of its own, so that
// rows can be written to another file without it.
import { dirname, extname, resolve } from 'node:path';
import { z } from 'zod';
import type { ConfigTree } from '../config/include.ts';
import { checkPart } from '../config/source.ts';
import { readDocument } from '../world/schema/document.ts';
import { isObject, type JsonFields } from '../world/schema/json.ts';
import { type Finding, formatPath, type Path, type Problem } from '../world/schema/problem.ts';
import { hostName, whole } from '../world/schema/scalars.ts';
import { keyed, optional, secret, section } from '../world/schema/section.ts';
import { readSmallFile } from '../world/schema/small-file.ts';

const maxFileBytes = 8 * 1024 * 1024;
const smtpPort = 587;
const imapPort = 993;
const port = (usual: number) => keyed(whole(1, 65_535), usual, 'Its port.');

const rowSchema = section({
  email: z.string().regex(/^[^\s@]+@[^\s@]+$/, 'is not an email address'),
  account: optional(z.string(), 'The account that gets the mailbox.'),
  smtpHost: hostName(),
  smtpPort: port(smtpPort),
  smtpUser: optional(z.string().min(1), 'Its user. Default: the address.'),
  smtpPass: secret(z.string().min(1)),
  imapHost: hostName(),
  imapPort: port(imapPort),
  imapUser: optional(z.string().min(1), 'Its user. Default: the address.'),
  imapPass: secret(z.string().min(1)),
});
const rowsSchema = section({ mailboxes: z.array(rowSchema).min(1, 'has no row') });
const secretColumns = ['smtp_pass', 'imap_pass'] as const;

export interface ConnectRow extends z.output<typeof rowSchema> {
  /** The row as its file has it, with references to its passwords. */
  readonly written: JsonFields;
}

/** Reads the rows of a file, or returns every problem in it. */
export function readRows(
  file: string,
  environment: NodeJS.ProcessEnv,
): { readonly rows: readonly ConnectRow[] } | { readonly problems: readonly Problem[] } {
  const read = readSmallFile(file, maxFileBytes);
  if ('failure' in read) return { problems: [atTop(`the file can't be read: ${read.failure}`)] };
  const source = extname(file).toLowerCase() === '.csv' ? readCsv(read.text) : readYaml(read.text);
  if (Array.isArray(source)) return { problems: source };
  const { written, findings, placeOf } = source as RowSource;
  const tree: ConfigTree = {
    ...{ file, included: [], cut: [], unreadable: [], tree: { mailboxes: written } },
    findings: [...findings, ...plainPasswords(written)],
    placeOf: (path, at) => ({ ...placeOf(path.slice(1), at), path: formatPath(path) }),
    folderOf: () => dirname(resolve(file)),
  };
  const part = checkPart({
    ...{ source: tree, written: tree.tree, schema: rowsSchema, environment },
    rules: () => repeatedAddresses(written),
  });
  if ('problems' in part) return part;
  return { rows: part.checked.mailboxes.map((row, index) => ({ ...row, written: written[index] ?? {} })) };
}

interface RowSource {
  readonly written: readonly JsonFields[];
  readonly findings: readonly Finding[];
  readonly placeOf: (path: Path, at: Finding['at']) => { readonly line: number; readonly column: number };
}

function atTop(message: string): Problem {
  return { line: 1, column: 1, path: '', message };
}

function readYaml(text: string): RowSource | readonly Problem[] {
  const source = readDocument(text);
  if (!('tree' in source)) return source;
  const { tree, placeOf } = source;
  if (!Array.isArray(tree) || !tree.every(isObject))
    return [atTop('the file must be a list of mappings, one a mailbox')];
  const findings = source.findings.map((finding) => ({ ...finding, path: ['mailboxes', ...finding.path] }));
  return { written: tree, findings, placeOf };
}

/** Reads RFC 4180: a header, then a record a row. An empty cell counts as absent. */
function readCsv(text: string): RowSource | readonly Problem[] {
  const { records, brokenAt } = csvRecords(text.replace(/^\uFEFF/, ''));
  if (brokenAt !== null)
    return [{ ...atTop('a quotation mark is in the middle of a cell, or is never closed'), line: brokenAt }];
  const [header, ...lines] = records.filter(({ cells }) => cells.some((cell) => cell !== ''));
  if (!header) return [atTop('the file is empty')];
  const names = header.cells.map((cell) => cell.trim().toLowerCase());
  const long = lines.find(({ cells }) => cells.length > names.length);
  if (long) return [{ ...atTop('the row has more cells than the header'), line: long.line }];
  const written = lines.map(({ cells }) => {
    const named = names.map((name, index) => [name, cells[index]?.trim() ?? ''] as const);
    return Object.fromEntries(named.filter(([, cell]) => cell !== ''));
  });
  const lineOf = (index: unknown) => (typeof index === 'number' ? lines[index]?.line : null) ?? header.line;
  return { written, findings: [], placeOf: ([index]) => ({ line: lineOf(index), column: 1 }) };
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** `brokenAt`: line from which the text is no CSV, or null. */
function csvRecords(text: string): { readonly records: readonly CsvRecord[]; readonly brokenAt: number | null } {
  const records: CsvRecord[] = [];
  let [line, begunAt, length] = [1, 1, 0];
  let cells: string[] = [];
  for (const [whole, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy)) {
    length += whole.length;
    if (whole === '' && cells.length === 0) continue;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    records.push({ line: begunAt, cells });
    [cells, begunAt] = [[], line];
  }
  return { records, brokenAt: length < text.length ? line : null };
}

/** A password in the file itself would also be in the file of what failed. */
function plainPasswords(written: readonly JsonFields[]): readonly Finding[] {
  return written.flatMap((row, index) =>
    secretColumns.flatMap((name) => {
      const value = row[name];
      if (value === undefined || (typeof value === 'string' && /^\$\{[A-Za-z_]\w*\}$/.test(value))) return [];
      const message = `must be an environment variable, as \${NAME}; or write ${name}_file`;
      return [{ path: ['mailboxes', index, name], at: 'value' as const, message }];
    }),
  );
}

function repeatedAddresses(written: readonly JsonFields[]): readonly Finding[] {
  const seen = new Map<string, number>();
  return written.flatMap(({ email }, index) => {
    if (typeof email !== 'string') return [];
    const first = seen.get(email.toLowerCase());
    if (first === undefined) {
      seen.set(email.toLowerCase(), index);
      return [];
    }
    return [{ path: ['mailboxes', index, 'email'], at: 'value' as const, message: `is also in mailboxes[${first}]` }];
  });
}
