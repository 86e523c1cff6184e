// `warmwarden check` as a process sees it, one file a mistake in bad/ with the exact lines for it, and commands beside the daemon that
// find its store.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { loadPlaces } from '../../src/config/places.ts';
import { formatProblem } from '../../src/world/schema/problem.ts';
import { commandLine } from '../support/command-line.ts';
import { Workplace } from '../support/process.ts';

const folder = 'test/config';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function run(file: string, environment: Record<string, string> = {}, ...more: readonly string[]) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { code: status, ...said } = await commandLine(['check', '--config', `${folder}/${file}`, ...more]);
  return { status, ...said };
}

describe('check', () => {
  test('says every problem on stderr, one a line, and exits with 2; with --json the problems are JSON as well', async () => {
    const said = 'test/config/bad/unknown-key.yaml:5:1 pol: unknown key (did you mean poll?)';
    const plain = await run('bad/unknown-key.yaml');
    expect(plain).toEqual({ status: 2, stdout: '', stderr: `${said}\n` });
    const { status, stdout, stderr } = await run('bad/unknown-key.yaml', {}, '--json');
    const problems = [{ line: 5, column: 1, path: 'pol', message: 'unknown key (did you mean poll?)' }];
    expect([status, stderr, JSON.parse(stdout)]).toEqual([
      ...[2, ''],
      { error: { code: 'configuration', message: said, problems } },
    ]);
  });

  test('says what a valid file holds, with its warnings, and exits with 0', async () => {
    expect(await run('good.yaml', { API_KEY: 'sk_live_1234' })).toEqual({
      status: 0,
      stdout: 'test/config/good.yaml is valid: 1 account, no channels\n',
      stderr: 'warning: test/config/good.yaml:1:1 alerts.channels: there is no channel: no alert will be sent\n',
    });
  });
});

const badFolder = join(import.meta.dirname, 'bad');
const files = readdirSync(badFolder).filter((name) => name.endsWith('.yaml'));
const environment = { API_KEY: 'sk_live_hush_of_the_environment', EMPTY: '' };
/** Every secret in the files and the environment holds one of these: the word, or its base64. */
const secretMarks = ['hush', 'aHVzaGh1c2', '[object'];

function complaints(name: string): string {
  const loaded = loadConfig(join(badFolder, name), environment);
  if (loaded.ok) return 'no complaint';
  return loaded.problems.map((problem) => `${formatProblem(name, problem)}\n`).join('');
}

describe('a file with a mistake', () => {
  test.each(files)('%s is refused with exactly the lines beside it, and none of them holds a secret', (name) => {
    const said = complaints(name);
    expect(said).toBe(readFileSync(join(badFolder, name.replace('.yaml', '.txt')), 'utf8'));
    for (const mark of secretMarks) expect(said).not.toContain(mark);
  });

  test('the files do hold secrets that could be printed', () => {
    const holding = files.filter((name) => readFileSync(join(badFolder, name), 'utf8').includes('hush'));
    expect(holding.length).toBeGreaterThan(50);
  });
});

function placesOf(config: object | string, environment: Record<string, string> = {}) {
  using place = new Workplace();
  const places = loadPlaces(place.configure(config), environment);
  return { folder: place.folder, places };
}

describe('the place of the store', () => {
  it('is found beside keys whose environment is not there and sections that are wrong', () => {
    const accounts = [{ name: 'acme', api_key: '$' + '{NO_SUCH_KEY}', nonsense: 1 }];
    const { folder, places } = placesOf({ accounts, no_such_section: 1, store: { url: 'sqlite:./here.db' } });
    expect(places).toEqual({
      ok: true,
      store: join(folder, 'here.db'),
      accountNames: ['acme'],
    });
  });

  it('may stand in the environment', () => {
    const { folder, places } = placesOf({ store: { url: 'sqlite:$' + '{STORE}' } }, { STORE: 'there.db' });
    expect(places).toMatchObject({ store: join(folder, 'there.db') });
  });

  it('is a problem with its line when it is wrong itself', () => {
    const { places } = placesOf({ accounts: [], store: { url: 'mysql:x' } });
    expect(places).toMatchObject({ ok: false, problems: [{ line: 3, path: 'store.url' }] });
    expect(placesOf('- a list').places).toMatchObject({ ok: false });
    expect(loadPlaces('/no/such/file', {})).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringContaining('does not exist') }],
    });
  });
});
