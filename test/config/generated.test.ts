// What is made of the schema: the editors' file and the documentation are current, and fit the example.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { generated } from '../../tools/docs/generated.ts';

const root = join(import.meta.dirname, '../..');

const pages = [...(await generated())].map(([file, text]) => ({ file: relative(root, file), text }));
test.each(pages)('$file is what `npm run docs` writes', ({ file, text }) => {
  expect(readFileSync(join(root, file), 'utf8')).toBe(text);
});

test('the documentation has a row for every key of the schema', () => {
  const text = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  const rows = text.match(/^\| `[a-z_.[\]]+` \|/gm) ?? [];
  expect(rows.length).toBeGreaterThan(80);
  expect(text).not.toMatch(/undefined|\[object/);
});
