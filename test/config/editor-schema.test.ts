// config.schema.json as editors and validators read it: real configurations are valid, an empty key is absent as it is for the daemon.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ConfigFolder } from '../support/config-folder.ts';
import { root } from '../support/process.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
}

const schema = JSON.parse(readFileSync(join(root, 'config.schema.json'), 'utf8')) as Schema;
// Strict, as ajv-cli is.
const ajv = new Ajv2020({ strict: true });
const validate = ajv.compile(schema);
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const account = '{name: acme, base_url: "https://mailboxes.example.com", api_key: sk_live_1234, plan: pro}';
const written = {
  'one account': `accounts: [${account}]\n`,
  'empty sections': `accounts: [${account}]\nalerts:\n  channels:\nguard:\npoll:\nserver:\nrecipes:\nstore:\nlog:\n`,
  'empty keys': `accounts: [${account}]\nguard: {enforce: , profile: , window_days: }\nserver: {listen: , auth: }\n`,
  variables: `accounts: [${account}]\nguard: {enforce: "\${ENFORCE:-false}"}\nserver: {listen: "\${LISTEN:-127.0.0.1:7025}"}\n`,
};
const files = [
  'config.example.yaml',
  'test/config/good.yaml',
  'grafana/warmwarden.yaml',
  ...['compose', 'kubernetes', 'kubernetes-replicas', 'systemd'].map((name) => `docs/install/${name}/config.yaml`),
];

test.each([...files.map((file) => [file, read(file)] as const), ...Object.entries(written)])(
  '%s is valid',
  (_, text) => {
    validate(parse(text));
    expect(validate.errors).toBeNull();
  },
);

test.each(Object.entries(written))('the daemon takes it, too: %s', (_, text) => {
  expect(new ConfigFolder().accept(text).ok).toBe(true);
});

test.each([
  ['an unknown key', `accounts: [${account}]\nguards: {}\n`],
  ['a mistyped key without a value', `accounts: [${account}]\nguard:\n  min_bouces:\n`],
  ['a wrong word', `accounts: [${account}]\nguard: {profile: mild}\n`],
  ['a required key without a value', 'accounts: [{name: , base_url: "https://mailboxes.example.com", api_key: k}]\n'],
])('%s is not valid, and the daemon refuses it', (_, text) => {
  expect([validate(parse(text)), new ConfigFolder().load(text).ok]).toEqual([false, false]);
});

/** Every schema below one, with its path. */
function* within(one: Schema, path = ''): Generator<readonly [string, Schema]> {
  yield [path, one];
  for (const [key, inner] of Object.entries(one.properties ?? {})) yield* within(inner, `${path}.${key}`);
  if (one.items) yield* within(one.items, `${path}[]`);
  for (const inner of one.anyOf ?? []) yield* within(inner, path);
}

const all = [...within(schema)];

test('a key that need not be written may be empty', () => {
  const optional = all.flatMap(([path, { properties = {}, required = [] }]) =>
    Object.entries(properties).flatMap(([key, one]) =>
      required.includes(key) ? [] : [[`${path}.${key}`, one] as const],
    ),
  );
  expect(optional.length).toBeGreaterThan(250);
  expect(optional.filter(([, one]) => !ajv.validate(one, null)).map(([path]) => path)).toEqual([]);
});

test('each format is one of JSON Schema', () => {
  expect(all.filter(([, { format }]) => format !== undefined).map(([path]) => path)).toEqual([]);
});
