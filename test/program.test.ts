// A command in a message runs as it is printed, however the program was started.
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { commandNameOf, type Started } from '../src/world/program.ts';
import { folderOfFile } from './support/new-folder.ts';
import { bin, root } from './support/process.ts';

const folder = folderOfFile();

/** A link to src/bin.js as npm makes it, in a folder of the scratch one. */
function link(...below: string[]): string {
  const path = join(folder, ...below, 'warmwarden');
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(bin, path);
  return path;
}

const here = dirname(process.execPath);
function nameOf(path: string, { env = {}, cwd = root }: { cwd?: string; env?: Started['env'] } = {}) {
  return commandNameOf({ argv: ['node', path, 'run'], env: { PATH: here, ...env }, cwd: () => cwd });
}

const npm = (event: string) => ({ npm_lifecycle_event: event });

it('is its name where it is installed on the PATH, whatever starts it', () => {
  const path = link('global/bin');
  const env = { PATH: `/usr/bin:${dirname(path)}` };
  expect([nameOf(path, { env }), nameOf(path, { env: { ...env, ...npm('npx') } })]).toEqual([
    'warmwarden',
    'warmwarden',
  ]);
});

it('is npx and its name where npm started it: in a checkout, beside a project, from a script', () => {
  const local = link('project/node_modules/.bin');
  // In a checkout npx makes a link to it in a folder of its own.
  const cached = link('.npm/_npx/e62c3728b9dd9392/node_modules/.bin');
  const names = [
    nameOf(local, { env: npm('npx') }),
    nameOf(cached, { env: npm('npx') }),
    nameOf(bin, { env: npm('start') }),
  ];
  expect(names).toEqual(['npx warmwarden', 'npx warmwarden', 'npx warmwarden']);
});

it('is the path of the file or the link where that was given', () => {
  const aside = link('opt/bin');
  expect(nameOf(bin)).toBe('node src/bin.js');
  expect(nameOf(bin, { cwd: '/' })).toBe(`node ${bin.slice(1)}`);
  expect(nameOf(bin, { cwd: folder })).toBe(`node ${bin}`);
  expect(nameOf(aside)).toBe(aside);
  expect(nameOf(aside, { cwd: dirname(aside) })).toBe('./warmwarden');
});

it('is one word to a shell, each part of it', () => {
  const odd = link("it's a folder");
  expect(nameOf(odd)).toBe(`'${odd.replace("'", "'\\''")}'`);
});

/** It begins with a clone and stays in its folder. */
const inTheCheckout = ['getting-started.md'];

it('is never npx in a document that people follow from elsewhere: npx would ask the registry for an unpublished name', () => {
  const docs = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md'));
  const asking = docs.filter((file) => /npx warmwarden|"npx"/.test(readFileSync(join(root, 'docs', file), 'utf8')));
  expect(docs.length).toBeGreaterThan(5);
  expect(asking).toEqual(inTheCheckout);
});
