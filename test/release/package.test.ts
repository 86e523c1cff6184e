// What the package installs and carries: no install scripts, permissive licenses, and every file that the program reads beside itself.
import { globSync, readFileSync } from 'node:fs';
import { dirname, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { installedPackages } from '../../tools/docs/licenses.ts';
import { entries, inAscii } from '../../tools/release/bundle.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** They ask for no more than to be named. */
const permissive = ['MIT', 'MIT-0', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense'];

test('no package that is installed with Warmwarden runs a script, and each may be used freely', () => {
  const installed = installedPackages();
  const names = installed.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  expect(names).not.toContain('vitest');
  expect(installed.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
  expect(installed.filter(({ license }) => !permissive.includes(license ?? ''))).toEqual([]);
});

test('the documents of the package lead to each other and show their pictures, without the network', () => {
  const cwd = new URL('../../', import.meta.url);
  const listed: readonly string[] = [...manifest.files, 'README.md'];
  const packed = new Set(listed.flatMap((one) => globSync([one, `${one}/**`], { cwd })));
  const documents = [...packed].filter((file) => file.endsWith('.md'));
  expect(documents.length).toBeGreaterThan(30);
  const outside = documents.flatMap((document) => {
    const prose = readFileSync(new URL(document, cwd), 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '');
    const targets = [...prose.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, to = '']) =>
      normalize(`${dirname(document)}/${to}`),
    );
    return targets.filter((to) => !packed.has(to.replace(/\/$/, '')));
  });
  // The policy is for GitHub.
  expect([...new Set(outside)]).toEqual(['.github/SECURITY.md']);
});

test('what is started or imported by its path is a file of its own in the package', () => {
  const started = globSync('src/**/*-{thread,child}.ts', { cwd: new URL('../../', import.meta.url) });
  const imported = Object.values<{ default?: string }>(manifest.exports).flatMap((one) => one.default ?? []);
  const own = [...started.map((file) => file.slice('src/'.length, -'.ts'.length))];
  const exported = imported.map((file) => file.slice('./dist/'.length, -'.js'.length));
  expect(new Set(entries)).toEqual(new Set([...own, ...exported, 'cli/main']));
});

test('the code of the package is ASCII, and means what it meant', () => {
  const code = "return ['Budget · é', `a\\n→ 🙂`, 'x🙂y'.replace(/[🙂·]/u, ''), '\\\\·']";
  const escaped = inAscii(code);
  expect(escaped).toMatch(/^[ -~]*$/);
  expect(new Function(escaped)()).toEqual(new Function(code)());
  expect(() => inAscii('String.raw`·`')).toThrow('must not be escaped');
});
