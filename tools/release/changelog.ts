// CHANGELOG.md at a release: what is unreleased becomes a version with a date. Pure.

const unreleased = '## [Unreleased]\n';
const versionPattern = /^(\d+)\.(\d+)\.(\d+)$/;

export interface ReleasedChangelog {
  /** The whole page, with an empty list of unreleased changes. */
  readonly text: string;
  /** What is said of this version. */
  readonly notes: string;
}

/** `date`: YYYY-MM-DD. Throws a sentence when nothing is unreleased. */
export function released(changelog: string, version: string, date: string): ReleasedChangelog {
  const [before, after] = changelog.split(unreleased, 2);
  if (before === undefined || after === undefined) throw new Error('CHANGELOG.md has no section [Unreleased].');
  const end = after.search(/^## /m);
  const notes = (end < 0 ? after : after.slice(0, end)).trim();
  if (!notes.includes('\n- ')) throw new Error('CHANGELOG.md lists no unreleased change.');
  return { text: `${before}${unreleased}\n## [${version}] - ${date}\n${after}`, notes };
}

/** Whether the version may follow the other one, or is its first release. */
export function mayFollow(version: string, before: string): boolean {
  const [next, last] = [partsOf(version), partsOf(before)];
  if (next === null || last === null) return false;
  const first = next.findIndex((part, index) => part !== last[index]);
  return first < 0 || (next[first] ?? 0) > (last[first] ?? 0);
}

/** Of the image: each narrower name stays with this version, each wider one moves on with the next. */
export function imageTags(version: string): readonly string[] {
  const [major, minor] = partsOf(version) ?? [];
  return [version, `${major}.${minor}`, ...(major === 0 ? [] : [`${major}`]), 'latest'];
}

function partsOf(version: string): readonly number[] | null {
  return versionPattern.exec(version)?.slice(1).map(Number) ?? null;
}
