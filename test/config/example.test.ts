// config.example.yaml against the schema: every key stands in it, every default is the schema's. What is made of the schema is current.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createChannel, takesDigest } from '../../src/channels/channels.ts';
import { guardSchema } from '../../src/config/guard-schema.ts';
import { policyOf } from '../../src/config/mailbox-rules.ts';
import { type FileShape, fileShape } from '../../src/config/settings.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { readDocument } from '../../src/world/schema/document.ts';
import { checkAgainst } from '../../src/world/schema/problem.ts';
import { generated } from '../../tools/docs/generated.ts';
import { people } from '../channels/people.ts';
import { ConfigFolder } from '../support/config-folder.ts';
import { silentWorld } from '../support/silent-world.ts';
import { channelSecrets } from './channel-secrets.ts';

const file = join(import.meta.dirname, '../../config.example.yaml');
const text = readFileSync(file, 'utf8');
const shape = fileShape();

/** Every key of the schema with its path; `[]` stands for the items of a list. */
function keysOf(of: FileShape, path = ''): { path: string; shape: FileShape }[] {
  const own = Object.entries(of.properties ?? {}).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return [{ path: here, shape: inner }, ...keysOf(inner, here)];
  });
  const items = of.items ? keysOf(of.items, `${path}[]`) : [];
  return [...own, ...items, ...[...(of.anyOf ?? []), ...(of.oneOf ?? [])].flatMap((inner) => keysOf(inner, path))];
}

type Holder = Record<string | number, unknown>;

interface Place {
  readonly path: string;
  readonly steps: readonly (string | number)[];
  readonly value: unknown;
}

/** Every key of the tree that is written, with its value and the steps to it. */
function placesOf(tree: unknown, path = '', steps: Place['steps'] = []): readonly Place[] {
  if (Array.isArray(tree)) return tree.flatMap((item, index) => placesOf(item, `${path}[]`, [...steps, index]));
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) => {
    const here = { path: path === '' ? key : `${path}.${key}`, steps: [...steps, key], value };
    return [here, ...placesOf(value, here.path, here.steps)];
  });
}

/** Every value of the tree, by the same paths. */
const valuesOf = (tree: unknown) => Map.groupBy(placesOf(tree), ({ path }) => path);

function treeOf(yaml: string): unknown {
  const source = readDocument(yaml);
  if (!('tree' in source)) throw new Error(JSON.stringify(source));
  return source.tree;
}

/** With the `# ` in front of keys taken away, and with `# # ` made `# `. */
const uncommented = (yaml: string) => yaml.replace(/^( *)# ( *(?:# )?(?:- )?[a-z_0-9]+:(?: .*)?)$/gm, '$1$2');
/** The example with its channels taken in, as a person would. */
const withChannels = text.replace(/(?<=^ {2}channels:.*\n)(?: {4}# .*\n)+/m, uncommented);

const live = valuesOf(treeOf(text));
/** With all commented keys taken in; where both stand, the comment is the later one and counts. */
const full = valuesOf(treeOf(uncommented(uncommented(text))));
const keys = keysOf(shape);
/** Their default says "nothing", and the example shows what a person would write. */
const shown = new Set(['accounts', 'alerts.channels']);
/** Sections that nobody has unless they are written: the example shows them in comments. */
const commented = /^alerts\.(digests\[|heartbeat\b|channels\[\]|templates\[\])/;
/** Keys of an override are those of guard. */
const isOverride = (path: string) => path.startsWith('accounts[].overrides[].guard.');

const folder = new ConfigFolder();

/** What `check` says about it. */
function checked(yaml: string, env: NodeJS.ProcessEnv) {
  const loaded = folder.load(yaml, env);
  const said = (problems: readonly { readonly message: string }[]) => problems.map(({ message }) => message);
  return loaded.ok
    ? { problems: [], warnings: said(loaded.warnings) }
    : { problems: said(loaded.problems), warnings: [] };
}

describe('config.example.yaml', () => {
  test('has every key of the schema, written or commented', () => {
    expect(keys.length).toBeGreaterThan(80);
    const missing = keys.map((key) => key.path).filter((path) => !full.has(path) && !isOverride(path));
    expect(missing).toEqual([]);
  });

  test('has no key that the schema does not know, in its comments neither', () => {
    const known = new Set(keys.map((key) => key.path));
    // The names of headers and secrets are a person's own.
    const unknown = [...full.keys()].filter((path) => !known.has(path) && !/\.(headers|secrets)\./.test(path));
    expect(unknown).toEqual([]);
  });

  test('gives every key with a default that default, and not commented out', () => {
    const wrong = keys.flatMap(({ path, shape: { default: wanted } }) => {
      if (wanted === undefined || isOverride(path) || shown.has(path) || JSON.stringify(wanted) === '{}') return [];
      const written = (commented.test(path) ? full : live).get(path)?.map(({ value }) => value) ?? ['nothing'];
      return written.every((value) => JSON.stringify(value) === JSON.stringify(wanted))
        ? []
        : [`${path}: ${JSON.stringify(written)} instead of ${JSON.stringify(wanted)}`];
    });
    expect(wrong).toEqual([]);
  });

  test('is valid as copied once its account has a key; the one warning is that there is no channel', () => {
    const { problems, warnings } = checked(text, { ACME_API_KEY: 'sk_live_1234' });
    expect([problems, warnings]).toEqual([[], ['there is no channel: no alert will be sent']]);
    expect(checked(text, {}).problems).toEqual(['the environment variable ACME_API_KEY is not set']);
  });

  test('is valid with its channels, which need a variable for each secret', () => {
    const { problems, warnings } = checked(withChannels, channelSecrets);
    const local = 'is missing: links in messages lead to 127.0.0.1, which opens only on this machine';
    expect([problems, [...warnings].sort()]).toEqual([[], [local, 'no route leads to fix: it gets no alerts']]);
    const { ACME_API_KEY: _, ...ofChannels } = channelSecrets;
    expect(checked(withChannels, { ACME_API_KEY: 'sk_live_1234' }).problems).toEqual(
      Object.keys(ofChannels).map((name) => `the environment variable ${name} is not set`),
    );
  });
});

test('the digest is refused to exactly the channels that render none', () => {
  const digest = { name: 'digest', title: 'The day', at: 0, sections: [] } as const;
  const shown = folder.accept(withChannels, channelSecrets).config.alerts.channels.map((settings) => {
    const channel = createChannel(settings, { world: silentWorld(), ...people });
    return { type: settings.type, takes: takesDigest(settings), renders: channel.renderNotice(digest) !== null };
  });
  expect(new Set(shown.map(({ type }) => type)).size).toBe(18);
  expect(shown.filter(({ takes, renders }) => takes !== renders)).toEqual([]);
});

test.each([
  ['auth: none ', 'server.auth.tokens[0].sha256'],
  ['api_keys: \\[\\] ', 'recipes.api_keys[0].sha256'],
])(
  'a token or key of the example that is taken in as it stands is refused, and told how to make one: under %s',
  (empty, place) => {
    const taken = text.replace(new RegExp(`^ *${empty}.*\n(?: *# .*\n)+`, 'm'), (section) =>
      uncommented(section).replace(/^.*\n/, ''),
    );
    const loaded = folder.load(taken, channelSecrets);
    const problems = loaded.ok ? [] : loaded.problems.map(({ path, message }) => [path, message]);
    expect(problems).toEqual([[place, expect.stringMatching(/64 hex digits: .*`warmwarden token new NAME --/)]]);
  },
);

describe('leaving a key out', () => {
  const configOf = (tree: unknown) => {
    const { config } = folder.accept(JSON.stringify(tree), channelSecrets);
    // Written defaults and left out ones are the same policy.
    return {
      ...config,
      accounts: config.accounts.map((one) => ({ ...one, guard: policyOf(one.guard) })),
    };
  };
  const example = treeOf(withChannels);
  const whole = configOf(example);
  const optional = new Set(
    keys.filter(({ shape: { default: written } }) => written !== undefined).map(({ path }) => path),
  );
  const places = placesOf(example).filter(({ path }) => optional.has(path) && !shown.has(path) && path !== 'alerts');

  test('is tried for every key that has a default', () => {
    expect(places.length).toBeGreaterThan(60);
  });

  const byDepth = Map.groupBy(places, ({ steps }) => steps.length);
  test.each([...byDepth])('at depth %i changes nothing', (_, those) => {
    const tree = structuredClone(example);
    for (const { steps } of those) {
      const holder = steps.slice(0, -1).reduce<Holder>((inner, step) => inner[step] as Holder, tree as Holder);
      delete holder[steps.at(-1) ?? ''];
    }
    expect(configOf(tree)).toEqual(whole);
  });
});

describe('the schema', () => {
  test('describes every key', () => {
    expect(keys.filter((key) => !key.shape.description).map((key) => key.path)).toEqual([]);
  });

  test("shows the guard's defaults as the model has them", () => {
    const guard = shape.properties?.['guard'] ?? {};
    const defaults = (of: FileShape): unknown =>
      of.properties
        ? Object.fromEntries(Object.entries(of.properties).map(([key, inner]) => [key, defaults(inner)]))
        : of.default;
    const { checked } = checkAgainst(guardSchema, defaults(guard));
    expect(policyOf(checked ?? {})).toEqual(defaultPolicy);
    expect(checked?.breaker?.windowMs).toBe(defaultPolicy.breaker.windowMs);
  });
});

const root = join(import.meta.dirname, '../..');

const pages = [...(await generated())].map(([file, text]) => ({ file: relative(root, file), text }));
test.each(pages)('$file is what `npm run docs` writes', ({ file, text }) => {
  expect(readFileSync(join(root, file), 'utf8')).toBe(text);
});
