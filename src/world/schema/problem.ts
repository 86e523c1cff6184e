// Problems of a configuration, worded so that a person can find the place and correct it.
import type { z } from 'zod';
import { secretKeys } from './section.ts';

/** Each step is a key, or an index in a list. */
export type Path = readonly (string | number)[];

/** Problem at a path whose line is not determined yet. The message may contain secrets until load.ts hides them. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  /** `key` if the key itself is the mistake (unknown or repeated). */
  readonly at: 'value' | 'key';
  /** Path of the other value that a conflict is about. Its place is named if it is in another file. */
  readonly other?: Path;
}

export interface Problem {
  /** File that the configuration includes; absent for the configuration file itself. */
  readonly file?: string;
  /** Line, counted from 1. Line and column are 1 if the file has no such place. */
  readonly line: number;
  readonly column: number;
  /** Path such as `alerts.channels[0].url`; empty for the file as a whole and for syntax. */
  readonly path: string;
  readonly message: string;
}

/** Returns a line such as `config.yaml:6:16 alerts.channels[0].url: is missing`. */
export function formatProblem(file: string, problem: Problem): string {
  const place = `${problem.file ?? file}:${problem.line}:${problem.column}`;
  return problem.path === '' ? `${place} ${problem.message}` : `${place} ${problem.path}: ${problem.message}`;
}

export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

export function byPlace(a: Problem, b: Problem): number {
  const byFile = (a.file ?? '').localeCompare(b.file ?? '');
  return byFile || a.line - b.line || a.column - b.column || a.path.localeCompare(b.path);
}

// Translates zod's issues into findings, one per mistake.

export function checkAgainst<Schema extends z.ZodType>(
  schema: Schema,
  tree: unknown,
): { findings: Finding[]; checked: z.output<Schema> | null } {
  const result = schema.safeParse(tree, { error: plainWords });
  if (result.success) return { findings: [], checked: result.data };
  return { findings: result.error.issues.flatMap((issue) => toFindings(issue, [])), checked: null };
}

function toFindings(issue: z.core.$ZodIssue, parent: Path): Finding[] {
  const path: Path = [...parent, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => ({ path: [...path, key], at: 'key', message: messages[index] ?? '' }));
  }
  if (issue.code === 'invalid_union') {
    // The intended alternative is the one whose own type or value matched.
    const meant = issue.errors.find((issues) =>
      issues.some((inner) => inner.path.length > 0 || !/^invalid_(type|value)$/.test(inner.code)),
    );
    if (meant) return meant.flatMap((inner) => toFindings(inner, path));
    const said = issue.errors.flat().find((inner) => inner.code === 'invalid_value');
    return [
      { path, at: 'value', message: issue.message === '' ? (said?.message ?? 'has the wrong format') : issue.message },
    ];
  }
  const message = issue.message === isMissing ? missingText(path) : issue.message;
  return [{ path, at: 'value', message }];
}

const isMissing = 'is missing';

function missingText(path: Path): string {
  const key = path.at(-1);
  return typeof key === 'string' && secretKeys.has(key) ? `${isMissing}: write ${key} or ${key}_file` : isMissing;
}

/** Never quotes the value, because it may be a secret. */
function plainWords(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return isMissing;
      return `must be ${wantedKinds[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}${withoutUnit(issue)}`;
    case 'too_small':
      if (issue.origin === 'array') return 'is an empty list; it needs at least one entry';
      return issue.origin === 'string'
        ? 'is empty'
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `is longer than ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'invalid_union':
      return '';
    case 'unrecognized_keys':
      return issue.keys.map(() => 'unknown key').join('\n');
    default:
      return 'has the wrong format';
  }
}

/** A number with a unit is no secret. */
function withoutUnit({ expected, input }: { readonly expected: string; readonly input?: unknown }): string {
  const number = (expected === 'number' || expected === 'int') && /^(\d{1,6}) ?[a-z]{1,7}$/i.exec(`${input}`)?.[1];
  return number ? `: write ${number}, without a unit` : '';
}

const wantedKinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
};

function kindOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number';
  const words: Record<string, string> = { object: 'a mapping of keys', string: 'a string', boolean: 'true or false' };
  return words[typeof value] ?? 'something else';
}
