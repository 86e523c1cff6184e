// CHANGELOG.md is in the form of keepachangelog.com, and each entry is short enough to be read.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

test('every version lists its changes under the headings of Keep a Changelog, in their order', () => {
  const versions = page.split(/^## /m).slice(1);
  expect(versions[0]).toMatch(/^\[Unreleased\]\n/);
  for (const version of versions) {
    const headings = [...version.matchAll(/^### (.*)$/gm)].map(([, heading = '']) => heading);
    expect(headings).toEqual(kinds.filter((kind) => headings.includes(kind)));
    expect(headings.length).toBeGreaterThan(0);
  }
});

test('an entry has at most two lines', () => {
  const entries = page.split(/^(?=- )/m).slice(1);
  expect(entries.length).toBeGreaterThan(20);
  const long = entries.filter((entry) => (entry.split(/\n\n|\n(?=#)/)[0] ?? '').trim().split('\n').length > 2);
  expect(long).toEqual([]);
});
