// A release: the changelog's unreleased changes get a version and a date, versions only grow, and tags of the image follow.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { imageTags, released } from '../../tools/release/changelog.ts';

const page = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- B.\n\n## [0.1.0] - 2026-01-01\n\n### Added\n\n- A.\n';

test('what is unreleased becomes the version, and its notes', () => {
  const { text, notes } = released(page, '0.2.0', '2026-02-02');
  expect(text).toContain(
    '## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n### Added\n\n- B.\n\n## [0.1.0] - 2026-01-01\n',
  );
  expect(notes).toBe('### Added\n\n- B.');
});

test('nothing unreleased is no release', () => {
  const { text } = released(page, '0.2.0', '2026-02-02');
  expect(() => released(text, '0.3.0', '2026-03-03')).toThrow('lists no unreleased change');
  expect(() => released('# Changelog\n', '0.3.0', '2026-03-03')).toThrow('no section [Unreleased]');
});

test('the changelog of this checkout can be released', () => {
  const own = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  expect(released(own, '9.9.9', '2026-02-02').notes).toContain('### Added');
});

test('the image has a tag for the version and for each line that it is the newest of; 0 is no line', () => {
  expect(imageTags('1.2.3')).toEqual(['1.2.3', '1.2', '1', 'latest']);
  expect(imageTags('0.2.3')).toEqual(['0.2.3', '0.2', 'latest']);
});
