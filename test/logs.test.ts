// docs/operating.md against the sources: every message that is written out there is documented.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sourceFiles } from './layers.ts';

const root = join(import.meta.dirname, '../src');
const docs = readFileSync(join(import.meta.dirname, '../docs/operating.md'), 'utf8');
const call = /log\.(?:info|warn|error)\(\s*(?:\{[^()]*?\},\s*|\w+,\s*)?(?:\w+ \? )?'([^'\n]+)'(?: : '([^'\n]+)')?/g;

test('every message of the daemon stands in docs/operating.md', () => {
  const files = sourceFiles(root).filter((file) => !file.startsWith('simulator/') && file !== 'world.ts');
  const messages = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(call)].flatMap(([, one, other]) => [one, other]),
  );
  const said = messages.filter((message) => message !== undefined);
  expect(said.length).toBeGreaterThan(25);
  expect(said.filter((message) => !docs.includes(message))).toEqual([]);
});
