// docs/faults.md is true: every row of the faults is in it, every fault that it names exists, and test/faults.md names tests of each row.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faults } from '../tools/simulator/fault.ts';

const root = new URL('../', import.meta.url);
const page = readFileSync(new URL('docs/faults.md', root), 'utf8');
const ledger = readFileSync(new URL('test/faults.md', root), 'utf8');

interface Row {
  readonly name: string;
  readonly faults: readonly string[];
  readonly tests: readonly { readonly file: string; readonly name: string }[];
}

const faultsIn = (named: string) => [...named.matchAll(/`([\w-]+)`/g)].map(([, fault = '']) => fault);
const testsIn = (proof: string) =>
  [...proof.matchAll(/`([^`]+)`(?: "([^"]+)")?/g)].map(([, file = '', name = '']) => ({ file, name }));

/** Tests of each row, by its name: a section of test/faults.md. */
const proofs = new Map(
  ledger.split(/^## /m).map((section) => [section.split('\n', 1)[0] ?? '', testsIn(section)] as const),
);
const proofOf = (name: string) => proofs.get(name) ?? [];

/** The rows of the table, then the sections on our own side: `### O1: ...`. */
function rowsOf(text: string): readonly Row[] {
  return [...tableRows(text), ...sections(text)];
}

function sections(text: string): readonly Row[] {
  return text
    .split(/^### /m)
    .filter((section) => /^O\d+: /.test(section))
    .map((section) => {
      const [, named = ''] = /^In the simulator: (.*)$/m.exec(section) ?? [];
      const name = section.slice(0, section.indexOf(':'));
      return { name, faults: faultsIn(named), tests: proofOf(name) };
    });
}

function tableRows(text: string): readonly Row[] {
  return text
    .split('\n')
    .map((line) => line.split(' | '))
    .filter(([first = '']) => /^\| [THS]\d+$/.test(first))
    .map(([first = '', , , named = '']) => ({
      name: first.slice(2),
      faults: faultsIn(named),
      tests: proofOf(first.slice(2)),
    }));
}

/** Whether the file says the name; a sentence of a table of tests may be broken by nothing. */
function says(file: string, name: string): boolean {
  try {
    return readFileSync(new URL(file, root), 'utf8').replaceAll("\\'", "'").includes(name);
  } catch {
    return false;
  }
}

const rows = rowsOf(page);
const ofOurOwn = ({ name }: Row) => name.startsWith('O');
const upTo = (letter: string, last: number) => Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

test('every row T1 to T11, H1 to H23 and S1 to S13 stands on the page, with a test', () => {
  const ofTheApi = rows.filter((row) => !ofOurOwn(row)).map(({ name }) => name);
  expect(ofTheApi).toEqual([...upTo('T', 11), ...upTo('H', 23), ...upTo('S', 13)]);
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test('no fault of our own side stands on the page twice, they are in order, and each has a test', () => {
  const own = rows.filter(ofOurOwn);
  expect(own.length).toBeGreaterThan(7);
  expect(own.filter(({ tests }) => tests.length === 0)).toEqual([]);
  const numbers = own.map(({ name }) => Number(name.slice(1)));
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
});

test('the ledger has no row that the page lacks, and every test that it names exists', () => {
  const named = rows.flatMap(({ tests }) => tests);
  expect([...proofs.keys()].slice(1)).toEqual(rows.map(({ name }) => name));
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ file, name }) => !says(file, name))).toEqual([]);
});

test('the page names every fault of the simulator, and no other', () => {
  expect([...new Set(rows.flatMap((row) => row.faults))].sort()).toEqual(Object.keys(faults).sort());
});

test('a name that is not there is found out', () => {
  expect(says('test/api/faults.test.ts', 'H1: a fault that nobody has seen')).toBe(false);
  expect(says('test/no-such.test.ts', '')).toBe(false);
});
