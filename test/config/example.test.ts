// config.example.yaml against the schema: every key stands in it, every default is the schema's.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDocument } from '../../src/config/document.ts';
import { checkAgainst } from '../../src/config/findings.ts';
import { guardSchema } from '../../src/config/guard-schema.ts';
import { loadConfig } from '../../src/config/load.ts';
import { policyOf } from '../../src/config/mailbox-rules.ts';
import { fileShape, type Shape } from '../../src/config/shape.ts';
import { defaultPolicy } from '../../src/model/policy.ts';

const file = join(import.meta.dirname, '../../config.example.yaml');
const text = readFileSync(file, 'utf8');
const shape = fileShape();

/** Every key of the schema with its path; `[]` stands for the items of a list. */
function keysOf(of: Shape, path = ''): { path: string; shape: Shape }[] {
  const own = Object.entries(of.properties ?? {}).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return [{ path: here, shape: inner }, ...keysOf(inner, here)];
  });
  const items = of.items ? keysOf(of.items, `${path}[]`) : [];
  return [...own, ...items, ...[...(of.anyOf ?? []), ...(of.oneOf ?? [])].flatMap((inner) => keysOf(inner, path))];
}

/** Every value of the tree, by the same paths. */
function valuesOf(tree: unknown, path = '', into = new Map<string, unknown[]>()): Map<string, unknown[]> {
  into.set(path, [...(into.get(path) ?? []), tree]);
  if (Array.isArray(tree)) for (const item of tree) valuesOf(item, `${path}[]`, into);
  else if (typeof tree === 'object' && tree !== null) {
    for (const [key, value] of Object.entries(tree)) valuesOf(value, path === '' ? key : `${path}.${key}`, into);
  }
  return into;
}

type Holder = Record<string | number, unknown>;

/** Every key of the tree that is written, with the steps to it. */
function placesOf(
  tree: unknown,
  path = '',
  steps: (string | number)[] = [],
): { path: string; steps: (string | number)[] }[] {
  if (Array.isArray(tree)) return tree.flatMap((item, index) => placesOf(item, `${path}[]`, [...steps, index]));
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) => {
    const here = { path: path === '' ? key : `${path}.${key}`, steps: [...steps, key] };
    return [here, ...placesOf(value, here.path, here.steps)];
  });
}

function treeOf(yaml: string): unknown {
  const source = readDocument(yaml);
  if (!('tree' in source)) throw new Error(JSON.stringify(source));
  return source.tree;
}

const live = valuesOf(treeOf(text));
/** With the commented keys taken in; where both stand, the comment is the later one and counts. */
const full = valuesOf(treeOf(text.replace(/^( *)# ( *(?:- )?[a-z_0-9]+:(?: .*)?)$/gm, '$1$2')));
const keys = keysOf(shape);
/** Their default says "nothing", and the example shows what a person would write. */
const shown = new Set(['accounts', 'alerts.channels']);
/** Sections that nobody has unless they are written: the example shows them in comments. */
const commented = /^alerts\.(digest|heartbeat|channels\[\]\.apply)\b/;
/** Keys of an override are those of guard. */
const isOverride = (path: string) => path.startsWith('accounts[].overrides[].guard.');

describe('config.example.yaml', () => {
  test('has every key of the schema, written or commented', () => {
    expect(keys.length).toBeGreaterThan(80);
    const missing = keys.map((key) => key.path).filter((path) => !full.has(path) && !isOverride(path));
    expect(missing).toEqual([]);
  });

  test('has no key that the schema does not know, in its comments neither', () => {
    const known = new Set(keys.map((key) => key.path));
    const unknown = [...full.keys()].filter((path) => path !== '' && !path.endsWith('[]') && !known.has(path));
    expect(unknown).toEqual([]);
  });

  test('gives every key with a default that default, and not commented out', () => {
    const wrong = keys.flatMap(({ path, shape: { default: wanted } }) => {
      if (wanted === undefined || isOverride(path) || shown.has(path) || JSON.stringify(wanted) === '{}') return [];
      const written = (commented.test(path) ? full : live).get(path) ?? ['nothing'];
      return written.every((value) => JSON.stringify(value) === JSON.stringify(wanted))
        ? []
        : [`${path}: ${JSON.stringify(written)} instead of ${JSON.stringify(wanted)}`];
    });
    expect(wrong).toEqual([]);
  });

  test('is valid with its three variables, and only with them', () => {
    const environment = {
      ACME_API_KEY: 'sk_live_1234',
      SLACK_URL: 'https://hooks.slack.com/services/a',
      HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    };
    expect(loadConfig(file, environment)).toMatchObject({ ok: true, warnings: [] });
    const without = loadConfig(file, {});
    expect(without.ok ? [] : without.problems.map((problem) => problem.message)).toEqual([
      'the environment variable ACME_API_KEY is not set',
      'the environment variable SLACK_URL is not set',
      'the environment variable HOOK_SECRET is not set',
    ]);
  });
});

describe('leaving a key out', () => {
  const environment = {
    ACME_API_KEY: 'sk_live_1234',
    SLACK_URL: 'https://hooks.slack.com/services/a',
    HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  };
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-example-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const configOf = (tree: unknown) => {
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify(tree));
    const loaded = loadConfig(join(folder, 'config.yaml'), environment);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    // Written defaults and left out ones are the same policy.
    return {
      ...loaded.config,
      accounts: loaded.config.accounts.map((one) => ({ ...one, guard: policyOf(one.guard) })),
    };
  };
  const whole = configOf(treeOf(text));
  const optional = new Set(
    keys.filter(({ shape: { default: written } }) => written !== undefined).map(({ path }) => path),
  );
  const places = placesOf(treeOf(text)).filter(
    ({ path }) => optional.has(path) && !shown.has(path) && path !== 'alerts',
  );

  test('is tried for every key that has a default', () => {
    expect(places.length).toBeGreaterThan(60);
  });

  test.each(places)('$path changes nothing', ({ steps }) => {
    const tree = treeOf(text);
    const holder = steps.slice(0, -1).reduce<Holder>((inner, step) => inner[step] as Holder, tree as Holder);
    delete holder[steps.at(-1) ?? ''];
    expect(configOf(tree)).toEqual(whole);
  });
});

describe('the schema', () => {
  test('describes every key', () => {
    expect(keys.filter((key) => !key.shape.description).map((key) => key.path)).toEqual([]);
  });

  test("shows the guard's defaults as the model has them", () => {
    const guard = shape.properties?.['guard'] ?? {};
    const defaults = (of: Shape): unknown =>
      of.properties
        ? Object.fromEntries(Object.entries(of.properties).map(([key, inner]) => [key, defaults(inner)]))
        : of.default;
    const { checked } = checkAgainst(guardSchema, defaults(guard));
    expect(policyOf(checked ?? {})).toEqual(defaultPolicy);
    expect(checked?.breaker?.windowMs).toBe(defaultPolicy.breaker.windowMs);
  });
});
