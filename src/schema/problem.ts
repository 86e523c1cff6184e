// What is wrong with a configuration, said so that a person can go there and put it right.
import type { z } from 'zod';
import { secretKeys } from './section.ts';

/** A step into the file: a key, or the index in a list. */
export type Path = readonly (string | number)[];

/** Something wrong at a path, before its line is known. Messages may hold secrets until load.ts has hidden them. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  /** key: the key itself is the mistake (an unknown or repeated one). */
  readonly at: 'value' | 'key';
}

/** Something wrong at a place of the file. Holds no secrets. */
export interface Problem {
  /** From 1; 1:1 when the file has no such place. */
  readonly line: number;
  readonly column: number;
  /** As `alerts.channels[0].url`; empty for the file as a whole and for syntax. */
  readonly path: string;
  readonly message: string;
}

/** `config.yaml:6:16 alerts.channels[0].url: is missing` */
export function formatProblem(file: string, problem: Problem): string {
  const place = `${file}:${problem.line}:${problem.column}`;
  return problem.path === '' ? `${place} ${problem.message}` : `${place} ${problem.path}: ${problem.message}`;
}

/** `alerts.channels[0].url` */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** In the order in which a person reads the file. */
export function byPlace(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column || a.path.localeCompare(b.path);
}

// What zod says of a tree -> findings in our words, one a mistake.

type Issue = z.core.$ZodIssue;

/** The schema's complaints, or what it makes of the tree. */
export function checkAgainst<Schema extends z.ZodType>(
  schema: Schema,
  tree: unknown,
): { findings: Finding[]; checked: z.output<Schema> | null } {
  const result = schema.safeParse(tree, { error: plainWords });
  if (result.success) return { findings: [], checked: result.data };
  return { findings: result.error.issues.flatMap((issue) => toFindings(issue, [])), checked: null };
}

function toFindings(issue: Issue, parent: Path): Finding[] {
  const path: Path = [...parent, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n');
    return issue.keys.map((key, index) => ({ path: [...path, key], at: 'key', message: messages[index] ?? '' }));
  }
  if (issue.code === 'invalid_union') {
    // The alternative that got past its first look is the one that was meant.
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

/** A secret may be written in two forms. */
function missingText(path: Path): string {
  const key = path.at(-1);
  return typeof key === 'string' && secretKeys.has(key) ? `${isMissing}: write ${key} or ${key}_file` : isMissing;
}

/** For every issue whose schema has no words of its own. Values are never quoted here: they may be secrets. */
function plainWords(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return isMissing;
      return `must be ${wantedKinds[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case 'too_small':
      if (issue.origin === 'array') return 'is an empty list; it needs at least one entry';
      return issue.origin === 'string' ? 'is empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `is longer than ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'invalid_union':
      return '';
    default:
      return 'has the wrong format';
  }
}

const wantedKinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys',
};

/** A value's kind, in words that people use for YAML. */
function kindOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number';
  const words: Record<string, string> = { object: 'a mapping of keys', string: 'a string', boolean: 'true or false' };
  return words[typeof value] ?? 'something else';
}
