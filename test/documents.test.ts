// Every link between the documents leads to a file and a heading that are in the repository; CHANGELOG.md is in the form of
// keepachangelog.com; every page keeps to its number of words.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { defaultPolicy } from '../src/core/policy.ts';
import { minuteMs } from '../src/core/time.ts';
import { countText, pageCounts, pageTexts, wordsIn } from '../tools/docs/count.ts';
import { styleOf } from '../tools/docs/style.ts';

const root = join(import.meta.dirname, '..');
const folders = ['docs', 'docs/decisions', 'grafana'];

/** Markdown files, relative to the repository. */
const documents = ['.', ...folders].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** Fences hold examples. */
const prose = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, '');

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
}

const anchorsOf = (text: string) =>
  [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

/** What a document links to that is not there. */
function brokenIn(document: string, text: string): readonly string[] {
  return [...prose(text).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
    ([link, path = '', anchor]) => {
      const target = path === '' ? join(root, document) : resolve(root, dirname(document), path);
      if (path !== '' && !existsSync(target)) return [`${document}: ${link}`];
      if (anchor === undefined) return [];
      return anchorsOf(path === '' ? text : readFileSync(target, 'utf8')).includes(anchor)
        ? []
        : [`${document}: ${link}`];
    },
  );
}

test('every link of a document leads somewhere', () => {
  expect(documents.length).toBeGreaterThan(20);
  expect(documents.flatMap((document) => brokenIn(document, readFileSync(join(root, document), 'utf8')))).toEqual([]);
});

test('every document that the sources name is in the repository', () => {
  const named = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(root, 'src', file), 'utf8');
      return [...text.matchAll(/\b(?:docs|grafana)\/[\w/-]+\.md\b/g)].map(([name]) => name);
    });
  expect(new Set(named).size).toBeGreaterThan(3);
  expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
});

const page = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const kinds = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

test('the circuit breaker is defined with the numbers of the policy', () => {
  const { minMailboxes, maxMailboxes, minDomains, windowMs, sharePpm } = defaultPolicy.breaker;
  const definitions = documents.flatMap((name) =>
    readFileSync(join(root, name), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|') && line.includes('(circuit breaker)')),
  );
  expect(definitions.length).toBeGreaterThan(0);
  expect(sharePpm).toBe(100_000);
  for (const line of definitions)
    for (const said of [
      "a tenth of an API's running mailboxes",
      `minimum ${minMailboxes}, maximum ${maxMailboxes}`,
      `on ${minDomains} or more domains`,
      `After ${windowMs / minuteMs} minutes, on fresh data, it acts`,
      'emergencies',
    ])
      expect(line.toLowerCase()).toContain(said.toLowerCase());
});

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

test('no page has more words than its budget', () => {
  const counts = pageCounts();
  expect(counts.length).toBeGreaterThan(15);
  expect(counts.filter(({ words, budget }) => words > budget)).toEqual([]);
});

test('a word has a letter or a digit', () => {
  expect(wordsIn('# Two words\n| --- | 1% |\n```\nnpm ci && npm start\n```')).toBe(7);
  expect(
    countText([{ page: 'a.md', words: 3, budget: 2 }])
      .split('\n')
      .at(-1),
  ).toMatch(/^all +3 +2 +1$/);
});

test('sentences are short: 12 words on average, and few of more than 30', () => {
  const { wordsASentence, longPercent } = styleOf(pageTexts());
  expect(wordsASentence).toBeLessThan(12);
  expect(longPercent).toBeLessThan(2);
});

test('what was tried with Warmwarden is what the check of the clients tries', () => {
  const script = readFileSync(join(root, '.ci/clients'), 'utf8');
  const [tried = ''] = readFileSync(join(root, 'docs/compatibility.md'), 'utf8').split('## Around the daemon');
  const plain = (text: string) => text.replace(/^'(.*)'$/, '$1');
  // A version that the program itself says is compared when the check runs.
  const trials = [...script.matchAll(/^tried ('[^']+'|\S+) ('[^']+'|"[^"]+"+\)?[^"]*"|\S+) /gm)].map(
    ([, what = '', version = '']) => [plain(what), version.includes('$(') ? null : plain(version)],
  );
  const rows = [...tried.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)]
    .map(([, what = '', version = '']) => [what, version])
    .filter(([what]) => what !== 'tool' && what !== '---');
  const versions = new Map(rows.map(([what, version]) => [what, version]));
  expect(trials.map(([what]) => what)).toEqual(rows.map(([what]) => what));
  expect(trials.map(([what, version]) => version ?? versions.get(what ?? ''))).toEqual(
    rows.map(([, version]) => version),
  );
});

test('documents name the versions of Node.js that package.json has', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [, oldest, next] = /^\^(\d+\.\d+)\.0 \|\| >=(\d+)\.0\.0$/.exec(engines.node) ?? [];
  const skipped = Number(next) - 1;
  for (const name of ['README.md', 'docs/installing.md']) {
    const text = readFileSync(join(root, name), 'utf8');
    expect([name, text.match(new RegExp(`Node\\.js ${oldest} or newer\\W+(but )?not ${skipped}\\b`))?.length]).toEqual([
      name,
      2,
    ]);
  }
  // The checkout brings its own, which any of these starts.
  const own = String(oldest).split('.')[0];
  for (const name of ['README.md', 'CONTRIBUTING.md', 'docs/getting-started.md']) {
    const text = readFileSync(join(root, name), 'utf8');
    expect([
      name,
      /Node\.js (20 or newer|from 20)/.test(text),
      text.includes(`its own ${own}`) || text.includes(`Node.js ${own}`),
    ]).toEqual([name, true, true]);
  }
});

/** It begins with a clone and stays in its folder. */
const inTheCheckout = ['docs/getting-started.md'];

test('a document that people follow from elsewhere has no npx: it would ask the registry for an unpublished name', () => {
  const docs = documents.filter((file) => file.startsWith('docs/'));
  const asking = docs.filter((file) => /npx warmwarden|"npx"/.test(readFileSync(join(root, file), 'utf8')));
  expect(asking).toEqual(inTheCheckout);
});
