// A configuration in several files: what merges, whose line an error names, where relative paths begin; merge keys and x- keys.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { settingsText } from '../../src/cli/check.ts';
import { guardOf } from '../../src/cli/configuration.ts';
import { loadConfig } from '../../src/config/load.ts';
import { loadPlaces } from '../../src/config/places.ts';
import { formatProblem } from '../../src/world/schema/problem.ts';
import { commandLine } from '../support/command-line.ts';
import { ConfigFolder } from '../support/config-folder.ts';
import { root } from '../support/process.ts';

const place = new ConfigFolder();
const parts = join(place.folder, 'conf.d');
const account = (name: string, more = '') =>
  `accounts:\n  - {name: ${name}, base_url: "https://${name}.example", api_key: sk_live_${name}1234${more}}\n`;
const channel = (name: string) =>
  `alerts:\n  channels:\n    - {name: ${name}, type: slack, url: "https://hooks.slack.com/services/${name}"}\n`;

beforeEach(() => {
  rmSync(parts, { recursive: true, force: true });
  mkdirSync(parts);
});

/** Loads a file that includes conf.d, with the files in it. */
function load(files: Readonly<Record<string, string>>, main = '') {
  for (const [name, text] of Object.entries(files)) place.write(`conf.d/${name}`, text);
  return place.load(main.includes('include:') ? main : `include: conf.d/*.yaml\n${main}`);
}

function said(files: Readonly<Record<string, string>>, main = ''): readonly string[] {
  const loaded = load(files, main);
  const problems = loaded.ok ? [] : loaded.problems.map((one) => formatProblem('config.yaml', one));
  return problems.map((one) => one.replaceAll(`${place.folder}/`, ''));
}

function accepted(files: Readonly<Record<string, string>>, main = '') {
  const loaded = load(files, main);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

describe('files that are included', () => {
  test('bring accounts, channels and routes in the order of their names, after those of the file itself', () => {
    const route = '  routes: [{match: {account: b}, channels: [b]}]\n';
    const { config, included } = accepted(
      { 'b.yaml': account('b') + channel('b') + route, 'a.yaml': account('a') + channel('a'), '.c.yaml': 'wrong' },
      `${account('main')}alerts: {group_wait: 1m}\n`,
    );
    expect(config.accounts.map(({ name }) => name)).toEqual(['main', 'a', 'b']);
    expect(config.alerts.channels.map(({ name }) => name)).toEqual(['a', 'b']);
    expect([config.alerts.groupWaitMs, config.alerts.routes]).toEqual([
      60_000,
      [{ match: { account: ['b'] }, channels: ['b'] }],
    ]);
    expect(included.map((file) => file.slice(parts.length))).toEqual(['/a.yaml', '/b.yaml']);
  });

  test('come in the order of a list, each once, and never the file itself', () => {
    const { config } = accepted(
      { 'a.yaml': account('a'), 'b.yaml': account('b') },
      'include: [conf.d/b.yaml, "conf.d/*.yaml", "*.yaml"]\n',
    );
    expect(config.accounts.map(({ name }) => name)).toEqual(['b', 'a']);
  });

  test('may add to an account of another file; the later override wins', () => {
    const more = (value: string) =>
      `accounts: [{name: main, overrides: [{match: "*", guard: {min_bounces: ${value}}}]}]\n`;
    const { config } = accepted({ 'a.yaml': more('3'), 'b.yaml': more('4') }, account('main', ', tags: [one]'));
    expect(config.accounts).toMatchObject([
      { name: 'main', tags: ['one'], overrides: [{ guard: { minBounces: 3 } }, { guard: { minBounces: 4 } }] },
    ]);
  });

  test('have relative paths of their own: secrets, recipes, the store', () => {
    place.write('conf.d/key', 'sk_live_of_a_file\n');
    const text = account('a').replace(/api_key: \w+/, 'api_key_file: key');
    const { config, secretFiles } = accepted({
      'a.yaml': `${text}recipes: {directory: ours}\nstore: {url: "sqlite:s.db"}\n`,
    });
    expect([config.accounts[0]?.apiKey, [...secretFiles.keys()]]).toEqual(['sk_live_of_a_file', [join(parts, 'key')]]);
    expect([config.recipes.directory, config.store]).toEqual([join(parts, 'ours'), join(parts, 's.db')]);
    expect(loadPlaces(join(place.folder, 'config.yaml'), {})).toMatchObject({
      store: join(parts, 's.db'),
      accountNames: ['a'],
    });
  });

  test('are named by the settings in force, and hide their secrets', async () => {
    const { settings } = accepted({ 'a.yaml': `${account('a')}guard: {near_limit: 70%}\n` });
    const lines = settingsText(settings()).replaceAll(/ +/g, ' ').split('\n');
    expect(lines).toContain(` near_limit: 70% # ${parts}/a.yaml:3`);
    expect(lines.join()).not.toContain('sk_live');
    const { code, stdout } = await commandLine(['check', '--json', '--config', join(place.folder, 'config.yaml')]);
    expect([code, JSON.parse(stdout).settings]).toEqual([
      0,
      expect.arrayContaining([
        { path: 'guard.near_limit', value: '70%', from: 'file', file: `${parts}/a.yaml`, line: 3, column: 21 },
      ]),
    ]);
    expect(guardOf(join(place.folder, 'config.yaml'))).toMatchObject({ nearLimitPpm: 700_000 });
  });
});

const enforced = `${account('a')}guard: {enforce: true}\n`;
const twoPlans = account('b', ', plan: pro, plan: pro');
const sameKey = account('b').replace(/"https.*/, '"https://a.example", api_key: sk_live_a1234}');
const noMapping = `${account('a')}x-a: &a [1]\nguard:\n  <<: *a\n`;

/** What is wrong, conf.d/a.yaml, conf.d/b.yaml, how the problem begins below conf.d, and where else it says that something is. */
test.each<[string, string, string, string, string?]>([
  ['a mistake', account('a'), account('b', ', plan: big'), 'b.yaml:2:76 accounts[0].plan: "big" must'],
  ['an unknown key', `${account('a')}gard: {}\n`, '', 'a.yaml:3:1 gard: unknown key (did you mean guard?)'],
  ['a key twice in a file', account('a'), twoPlans, 'b.yaml:2:81 accounts[0].plan: this key appears twice'],
  ['broken YAML, before all else', 'accounts: [', 'gard: 1\n', 'a.yaml:1:12 YAML: a ] is missing'],
  ['an empty file', '# later\n', account('b'), 'a.yaml:1:1 the file is empty'],
  ['include in an included file', `${account('a')}include: b.yaml\n`, '', 'a.yaml:3:1 include: only the'],
  ['a value in two files', enforced, 'guard:\n  enforce: true\n', 'a.yaml:3:18 guard.enforce: ', 'b.yaml:2:12'],
  ['a list and a mapping', account('a'), 'accounts: {name: b}\n', 'a.yaml:2:3 accounts: is also', 'b.yaml:1:11'],
  ['a channel in two', account('a') + channel('x'), channel('x'), 'b.yaml:3:14 alerts.channels[0].name', 'a.yaml:5:14'],
  ['a key of the API in two', account('a'), sameKey, 'b.yaml:2:55 accounts[0].api_key: is also', 'a.yaml:2:55'],
  ['two forms of a secret', account('a'), 'accounts: [{name: a, api_key_file: key}]\n', 'b.yaml:1:36 accounts[0].api_'],
  ['a merge of no mapping', noMapping, '', 'a.yaml:5:3 guard.<<: must name the anchor of a mapping'],
])('%s is a problem with the file and line that hold it', (_, a, b, problem, other = '') => {
  const [found = '', ...more] = said({ 'a.yaml': a, ...(b && { 'b.yaml': b }) });
  expect([found.slice(0, `conf.d/${problem}`.length), more]).toEqual([`conf.d/${problem}`, []]);
  expect(found).toContain(other);
});

test('so is a mistake of the file itself', () => {
  expect(said({ 'a.yaml': account('a') }, 'include: [conf.d/a.yaml, conf.d/b.yaml, "other/*.yaml"]\n')).toEqual([
    'config.yaml:1:26 include[1]: matches no file',
    'config.yaml:1:41 include[2]: matches no file',
  ]);
  expect(said({ 'a.yaml': 'log: {level: warn}\n' }, `${account('a')}log: {level: info}\n`)).toEqual([
    'config.yaml:4:14 log.level: is also in conf.d/a.yaml:1:14: write it in one file only',
  ]);
  expect(said({}, `include: {a: b}\n${account('a')}`)).toEqual(['config.yaml:1:10 include: has the wrong format']);
});

test('a broken file of one client leaves the place of the store to the write stop', () => {
  load({ 'a.yaml': 'accounts: [', 'b.yaml': account('b') }, 'store: {url: "sqlite:here.db"}\n');
  expect(loadPlaces(join(place.folder, 'config.yaml'), {})).toMatchObject({
    ...{ ok: true, store: join(place.folder, 'here.db'), accountNames: ['b'] },
  });
});

describe('merge keys', () => {
  const empty = { 'a.yaml': 'log: {level: info}\n' };
  const withBases = (guard: string) =>
    `x-one: &one {min_bounces: 3, window_days: 9}\nx-two: &two {min_bounces: 4, burst: act}\n${account('a')}guard:\n${guard}`;

  test.each([
    ['a mapping', '  <<: *one\n', { minBounces: 3, windowDays: 9 }],
    ['two, of which the first wins', '  <<: [*one, *two]\n', { minBounces: 3, windowDays: 9, burst: 'act' }],
    ['what is not written beside them', '  min_bounces: 5\n  <<: *one\n', { minBounces: 5, windowDays: 9 }],
    ['what they merge', '  <<: {<<: *two, window_days: 8}\n', { minBounces: 4, burst: 'act', windowDays: 8 }],
  ])('bring %s', (_, guard, wanted) => {
    expect(accepted(empty, `include: conf.d/*.yaml\n${withBases(guard)}`).config.accounts[0]?.guard).toEqual(wanted);
  });

  test('place a mistake where the value stands; a mapping that merges itself adds nothing', () => {
    expect(
      said(empty, `include: conf.d/*.yaml\n${withBases('  <<: *one\n').replace('window_days: 9', 'window_days: 0')}`),
    ).toEqual(['config.yaml:2:43 guard.window_days: must be at least 1']);
    expect(said(empty, `include: conf.d/*.yaml\n${account('a')}guard: &g\n  <<: *g\n  enforce: false\n`)).toEqual([]);
  });
});

test('the schema for editors takes an included file, and the example of the documentation is valid', () => {
  const schema = JSON.parse(readFileSync(join(root, 'config.schema.json'), 'utf8'));
  const validate = new Ajv2020({ strict: true }).compile(schema);
  const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
  const [main = '', part = ''] =
    /```yaml\n(# config\.yaml\n.*?)```/s.exec(page)?.[1]?.split('\n# conf.d/north.yaml\n') ?? [];
  const added = 'accounts: [{name: north, overrides: [{match: "*"}]}]\n';
  for (const text of [main, part, added]) expect([text, validate(parse(text, { merge: true }))]).toEqual([text, true]);
  for (const text of ['accounts: [{name: north}]\n', 'y-a: 1\n']) expect(validate(parse(text))).toBe(false);
  mkdirSync(join(place.folder, 'secrets'), { recursive: true });
  place.write('secrets/north', 'sk_live_north\n');
  place.write('secrets/north-slack', 'https://hooks.slack.com/services/north\n');
  place.write('conf.d/north.yaml', part);
  place.write('config.yaml', main);
  const loaded = loadConfig(join(place.folder, 'config.yaml'), {});
  expect(loaded.ok && loaded.config.accounts[0]?.overrides).toMatchObject([
    { tags: ['vip'], guard: { enforce: false } },
  ]);
});

test('an empty key of an included file leaves the value of another file, and an unknown empty key is refused', () => {
  const main = `${account('main')}guard:\n  min_bounces: 4\n`;
  expect(accepted({ 'a.yaml': 'guard:\n  min_bounces:\n' }, main).ok).toBe(true);
  expect(said({ 'a.yaml': 'guard:\n  min_bouces:\n' }, main)).toEqual([
    'conf.d/a.yaml:2:3 guard.min_bouces: unknown key (did you mean min_bounces?)',
  ]);
});
