// The text of a configuration as a tree: what an alias stands for.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readDocument } from '../../src/world/schema/document.ts';

function treeOf(text: string): unknown {
  const read = readDocument(text);
  if (!('tree' in read)) throw new Error(read.map(({ message }) => message).join('\n'));
  return read.tree;
}

test('an alias stands for the last value before it with its anchor, as in yaml itself', () => {
  const text = 'first: &a [1, &b 2]\nsecond: *a\nthird: &a {b: *b}\nfourth: [*a, *b]\nfifth: *a\n';
  expect(treeOf(text)).toEqual(parse(text));
});
