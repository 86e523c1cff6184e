// docs/faults.md and test/faults.md are true: the page names each case once and each fault of the simulator; the ledger says each case in
// full, with tests that exist.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faults } from '../tools/simulator/fault.ts';

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/faults.md', root), 'utf8');
const ledger = readFileSync(new URL('test/faults.md', root), 'utf8');

interface Case {
  readonly faults: readonly string[];
  readonly promise: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

/** A row of the page: several cases that have one answer. */
interface Row {
  readonly cases: readonly string[];
  readonly faults: readonly string[];
}

const faultsIn = (named: string) => [...named.matchAll(/`([\w-]+)`/g)].map(([, fault = '']) => fault);

/** Cases of test/faults.md by name: `## H1: the fault`, what happens, the faults of the simulator, the tests. */
const cases: ReadonlyMap<string, Case> = new Map(
  ledger
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [promise = ''] = section
        .split('\n')
        .slice(1)
        .join('\n')
        .split(/^In the simulator: |^Proofs:|^- `test/m);
      const [, named = ''] = /^In the simulator: ([\s\S]*?)\n\n/m.exec(section) ?? [];
      const tests = [...section.matchAll(/^- `((?:test|\.ci)\/[^`]+)`(?: "([^"]+)")?$/gm)];
      return [
        section.slice(0, section.indexOf(':')),
        {
          faults: faultsIn(named),
          promise: promise.trim(),
          tests: tests.map(([, file = '', name = '']) => ({ file, name })),
        },
      ] as const;
    }),
);

/** Rows of the tables: when, what Warmwarden does, the cases, the faults of the simulator. */
const rows: readonly Row[] = page.split('\n').flatMap((line) => {
  const [, , third = '', named = ''] = line.split(' | ');
  const isRow = /^[THSO]\d/.test(third);
  return isRow ? [{ cases: third.match(/\b[THSO]\d+\b/g) ?? [], faults: faultsIn(named) }] : [];
});

/** Whether the file says the name; a sentence of a table of tests may be broken by nothing. */
function says(file: string, name: string): boolean {
  try {
    return readFileSync(new URL(file, root), 'utf8').replaceAll("\\'", "'").includes(name);
  } catch {
    return false;
  }
}

const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);
const known = [...upTo('T', 11), ...upTo('H', 23), ...upTo('S', 13), ...upTo('O', 10)];

test('every case T1 to T11, H1 to H23, S1 to S13 and O1 to O10 is on the page once, and in the ledger in this order', () => {
  expect(rows.flatMap((row) => row.cases).sort()).toEqual([...known].sort());
  expect([...cases.keys()]).toEqual(known);
});

test('every case says what happens, and has tests that exist', () => {
  const tests = [...cases.values()].flatMap((one) => one.tests);
  expect([...cases].filter(([, one]) => one.promise === '' || one.tests.length === 0)).toEqual([]);
  expect(tests.length).toBeGreaterThan(170);
  expect(tests.filter(({ file, name }) => !says(file, name))).toEqual([]);
});

test('page and ledger name every fault of the simulator, and no other; a row has only faults of its cases', () => {
  const all = Object.keys(faults).sort();
  expect([...new Set(rows.flatMap((row) => row.faults))].sort()).toEqual(all);
  expect([...new Set([...cases.values()].flatMap((one) => one.faults))].sort()).toEqual(all);
  for (const row of rows) {
    const theirs = row.cases.flatMap((name) => cases.get(name)?.faults ?? []);
    expect(row.faults.filter((fault) => !theirs.includes(fault))).toEqual([]);
  }
});

test('a name that is not there is found out', () => {
  expect(says('test/api/faults.test.ts', 'H1: a fault that nobody has seen')).toBe(false);
  expect(says('test/no-such.test.ts', '')).toBe(false);
});
