// `npm run release -- VERSION`: everything of a release but the upload: changelog, version, commit, tag, package, SBOM, checksums.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedPackages } from '../docs/licenses.ts';
import { imageTags, mayFollow, released } from './changelog.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'release');

function run(command: string, args: readonly string[], cwd = root): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Throws a sentence for what must be so before anything is changed. */
function refuseUnready(version: string): void {
  const before: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  if (!mayFollow(version, before)) throw new Error(`${version} cannot follow ${before}: write it as 1.2.3.`);
  if (run('git', ['status', '--porcelain']) !== '') throw new Error('The checkout has uncommitted changes.');
  if (run('git', ['tag', '--list', `v${version}`]) !== '') throw new Error(`The tag v${version} exists already.`);
}

/** Returns what is said of the version. */
function commitVersion(version: string): string {
  const path = join(root, 'CHANGELOG.md');
  const { text, notes } = released(readFileSync(path, 'utf8'), version, new Date().toISOString().slice(0, 10));
  writeFileSync(path, text);
  run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version']);
  // docs/openapi.json names it.
  run('npm', ['run', 'docs']);
  run('git', ['commit', '--all', '--message', `release: ${version}`]);
  run('git', ['tag', '--annotate', `v${version}`, '--message', `Warmwarden ${version}`]);
  return notes;
}

function writeArtifacts(notes: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.md'), `${notes}\n`);
  run('npm', ['pack', '--pack-destination', folder]);
  for (const [format, text] of softwareBills()) writeFileSync(join(folder, `sbom.${format}.json`), text);
  const sums = readdirSync(folder).map((name) => {
    const digest = createHash('sha256').update(readFileSync(join(folder, name)));
    return `${digest.digest('hex')}  ${name}`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`);
}

/**
 * What the package installs, by format. Of the checkout itself npm would leave out what development needs, too: so it is asked
 * in a folder without development. Throws when a package is missing all the same.
 */
function softwareBills(): ReadonlyMap<string, string> {
  const alone = mkdtempSync(join(tmpdir(), 'warmwarden-release-'));
  try {
    const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const place = join(alone, manifest.name);
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
    copyFileSync(join(root, 'package-lock.json'), join(place, 'package-lock.json'));
    run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], place);
    const bills = new Map<string, string>();
    for (const format of ['cyclonedx', 'spdx']) {
      const text = run('npm', ['sbom', '--package-lock-only', '--sbom-format', format], place);
      const missing = installedPackages().filter(({ name }) => !text.includes(`"${name}"`));
      if (missing.length > 0) throw new Error(`The SBOM lacks ${missing.map(({ name }) => name).join(', ')}.`);
      bills.set(format, text);
    }
    return bills;
  } finally {
    rmSync(alone, { recursive: true });
  }
}

function whatIsLeft(version: string): string {
  const tags = imageTags(version).map((tag) => `--tag IMAGE:${tag}`);
  return [
    `Release ${version} is committed and tagged here, and ${folder} has its files. Nothing was uploaded. What is left:`,
    `  git push origin HEAD v${version}`,
    `  npm publish release/warmwarden-${version}.tgz --provenance --access public`,
    `  docker buildx build --platform linux/amd64,linux/arm64 --build-arg BASE=node:24-slim@sha256:DIGEST --build-arg VERSION=${version} --build-arg REVISION=${run('git', ['rev-parse', 'HEAD'])} ${tags.join(' ')} --push .`,
    'To take it back before the push:',
    `  git tag --delete v${version} && git reset --hard HEAD~1`,
  ].join('\n');
}

const version = process.argv[2] ?? '';
try {
  refuseUnready(version);
  writeArtifacts(commitVersion(version));
  say(whatIsLeft(version));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
