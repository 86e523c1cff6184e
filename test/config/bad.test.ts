// One file a mistake in bad/, with the exact lines that `check` prints for it beside it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/world/schema/problem.ts';

const folder = join(import.meta.dirname, 'bad');
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const environment = { API_KEY: 'sk_live_hush_of_the_environment', EMPTY: '' };
/** Every secret in the files and the environment holds one of these: the word, or its base64. */
const secretMarks = ['hush', 'aHVzaGh1c2', '[object'];

function complaints(name: string): string {
  const loaded = loadConfig(join(folder, name), environment);
  if (loaded.ok) return 'no complaint';
  return loaded.problems.map((problem) => `${formatProblem(name, problem)}\n`).join('');
}

describe('a file with a mistake', () => {
  test.each(files)('%s is refused with exactly the lines beside it, and none of them holds a secret', (name) => {
    const said = complaints(name);
    expect(said).toBe(readFileSync(join(folder, name.replace('.yaml', '.txt')), 'utf8'));
    for (const mark of secretMarks) expect(said).not.toContain(mark);
  });

  test('the files do hold secrets that could be printed', () => {
    const holding = files.filter((name) => readFileSync(join(folder, name), 'utf8').includes('hush'));
    expect(holding.length).toBeGreaterThan(50);
  });

  test('ten mistakes in one file are ten lines', () => {
    expect(complaints('ten-mistakes.yaml').trim().split('\n')).toHaveLength(10);
  });
});
