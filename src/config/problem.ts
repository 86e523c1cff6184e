// What is wrong with a configuration, said so that a person can go there and put it right.

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
