// Every link between the documents leads to a file that is in the repository, and to a heading that is in it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

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
