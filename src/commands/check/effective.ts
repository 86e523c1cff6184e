// The settings in force as YAML, each with where its value came from. Pure.
import type { Path } from '../../config/problem.ts';
import { formatPath } from '../../config/problem.ts';
import { type Origin, originText, type Setting, valueText } from '../../config/settings.ts';

/** Where the comments begin, unless a line is longer. */
const commentColumn = 52;

/** YAML for people: a default that is written out is no longer one that a profile may change. Ends with a line break. */
export function settingsText(settings: readonly Setting[]): string {
  const lines: string[] = [];
  let before: Path = [];
  for (const { path, value, from } of settings) {
    const shared = sharedSteps(before, path);
    for (const [depth, step] of path.entries()) {
      const last = depth === path.length - 1;
      if (typeof step === 'number' || (depth < shared && !last)) continue;
      const first = typeof path[depth - 1] === 'number' && shared < depth;
      const indent = `${'  '.repeat(first ? depth - 1 : depth)}${first ? '- ' : ''}`;
      const line = last ? `${indent}${step}: ${valueText(value)}` : `${indent}${step}:`;
      lines.push(last ? `${line.padEnd(commentColumn)} # ${originText(from)}` : line);
    }
    before = path;
  }
  return `${lines.join('\n')}\n`;
}

/** For programs: names in snake_case, places from 1. */
export function settingsJson(settings: readonly Setting[]) {
  return settings.map(({ path, value, from }) => ({
    path: formatPath(path),
    value,
    from: from.kind,
    ...placeOf(from),
  }));
}

function placeOf(from: Origin) {
  if (!('line' in from)) return {};
  const { line, column } = from;
  return from.kind === 'environment' ? { line, column, written: from.written } : { line, column };
}

function sharedSteps(a: Path, b: Path): number {
  const differs = b.findIndex((step, depth) => a[depth] !== step);
  return differs < 0 ? b.length : differs;
}
