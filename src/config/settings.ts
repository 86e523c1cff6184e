// Settings in force, each with its value in the form of the file and the origin of the value. Secrets are hidden.

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { literalProfile } from '../core/policy.ts';
import { isObject } from '../world/schema/json.ts';
import { formatPath, type Path } from '../world/schema/problem.ts';
import { secretKeys } from '../world/schema/section.ts';
import { configSchema } from './config.ts';
import { hiddenMark, hideIn, isSecretAt } from './hiding.ts';

// The schema as JSON Schema: one source for editors, the documentation and `check --show`.

/** Subset of JSON Schema that the schema of the file uses. */
export interface FileShape {
  readonly type?: string;
  /** Name of the kind of value for people: duration, share, cron. */
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, FileShape>>;
  /** Shape of each value of a mapping whose names the user chooses. */
  readonly additionalProperties?: FileShape | false;
  readonly required?: readonly string[];
  readonly items?: FileShape;
  readonly anyOf?: readonly FileShape[];
  readonly oneOf?: readonly FileShape[];
}

let made: FileShape | null = null;

/** FileShape of the file as a person writes it, with the defaults. */
export function fileShape(): FileShape {
  made ??= z.toJSONSchema(configSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // A secret may be in a file of its own instead.
      const needed = jsonSchema.required?.filter((key) => !secretKeys.has(key));
      if (needed?.length === 0) delete jsonSchema.required;
      else if (needed) jsonSchema.required = needed;
      // Not a format of JSON Schema: validators stop at it. The pattern beside it says the same.
      if ((jsonSchema.format as string | undefined) === 'includes') delete jsonSchema.format;
      const written = z.globalRegistry.get(zodSchema)?.['default'];
      if (written !== undefined) jsonSchema.default = written as never;
    },
  }) as FileShape;
  return made;
}

export function variantsOf(shape: FileShape): readonly FileShape[] {
  return shape.anyOf ?? shape.oneOf ?? [shape];
}

interface OriginPlace {
  /** File that the configuration includes; absent for the configuration file itself. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}

export type Origin =
  | { readonly kind: 'default' | 'profile' }
  /** Name of the key beside it that is higher. */
  | { readonly kind: 'raised'; readonly to: string }
  | ({ readonly kind: 'file' | 'secret_file' } & OriginPlace)
  | ({ readonly kind: 'environment'; readonly written: string } & OriginPlace);

export interface Setting {
  readonly path: Path;
  /** Scalar or list of scalars; `[hidden]` for a secret. */
  readonly value: unknown;
  readonly from: Origin;
  /** Secret value, several on lines of their own, or null if the setting is not secret. Never printed. */
  readonly secret: string | null;
}

/** Source of settings: the file after substitution, and the origin of each of its paths. */
interface SettingsSource {
  readonly tree: unknown;
  readonly secrets: readonly string[];
  readonly originOf: (path: Path) => Origin;
}

export function settingsOf(source: SettingsSource): readonly Setting[] {
  const found: Setting[] = [];
  const add = (path: Path, value: unknown, from: Origin) => {
    const hidden = isSecretAt(path, value);
    const shown = hidden ? hiddenMark : hideDeep(value, source.secrets);
    found.push({ path, value: shown, from, secret: hidden ? [value].flat().join('\n') : null });
  };
  const walk = (shape: FileShape, value: unknown, path: Path, inOverride: boolean): void => {
    const variant = variantFor(shape, value);
    if (isObject(value) && variant.properties) {
      for (const [key, inner] of Object.entries(variant.properties)) {
        const here = [...path, key];
        const plain = inOverride || (path[2] === 'overrides' && key === 'guard');
        const isReplaced = key === 'plan' && value['requests_per_minute'] !== undefined;
        if (value[key] !== undefined) walk(inner, value[key], here, plain);
        else if (!plain && !isReplaced) unwritten(inner, here);
      }
    } else if (isObject(value) && variant.additionalProperties) {
      for (const [key, inner] of Object.entries(value))
        walk(variant.additionalProperties, inner, [...path, key], inOverride);
    } else if (Array.isArray(value) && value.some(isObject) && variant.items) {
      for (const [index, item] of value.entries()) walk(variant.items, item, [...path, index], inOverride);
    } else add(path, value, source.originOf(path));
  };
  const unwritten = (shape: FileShape, path: Path): void => {
    if (shape.properties) {
      if (shape.default === undefined && !Object.values(shape.properties).every((inner) => inner.default !== undefined))
        return;
      for (const [key, inner] of Object.entries(shape.properties)) unwritten(inner, [...path, key]);
    } else if (shape.default !== undefined) add(path, shape.default, { kind: 'default' });
  };
  walk(fileShape(), source.tree, [], false);
  return profiled(found);
}

/** Change between two configurations, identified by name instead of by place in a list. */
export interface SettingChange {
  /** Name such as `accounts[acme].headroom`. */
  readonly name: string;
  /** Null if there was none. */
  readonly before: string | null;
  readonly after: string | null;
}

export function changesBetween(before: readonly Setting[], after: readonly Setting[]): readonly SettingChange[] {
  const [old, now] = [byName(before), byName(after)];
  const changes: SettingChange[] = [];
  for (const [name, setting] of now) {
    const was = old.get(name);
    if (was && was.secret === setting.secret && isDeepStrictEqual(was.value, setting.value)) continue;
    changes.push({ name, before: was ? valueText(was.value) : null, after: valueText(setting.value) });
  }
  for (const [name, { value }] of old) {
    if (!now.has(name)) changes.push({ name, before: valueText(value), after: null });
  }
  return changes;
}

export function originText(from: Origin): string {
  switch (from.kind) {
    case 'default':
      return 'default';
    case 'profile':
      return 'profile literal';
    case 'raised':
      return `raised to ${from.to}`;
    case 'file':
      return lineText(from);
    case 'secret_file':
      return `${lineText(from)}, from the file that it names`;
    case 'environment':
      return `${lineText(from)}, from ${from.written}`;
  }
}

function lineText({ file, line }: OriginPlace): string {
  return file === undefined ? `line ${line}` : `${file}:${line}`;
}

export function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (isObject(value)) return JSON.stringify(value);
  if (typeof value !== 'string') return String(value);
  const bare = /^[A-Za-z0-9_./@%:+-]+$/.test(value) && !/^(true|false|null|[\d.]+)$|^[-:]|:$/.test(value);
  return bare ? value : JSON.stringify(value);
}

/**
 * Settings by name. An item of a list goes by its name, and a route or a digest by its channels and its match, so that a
 * new item before it changes nothing.
 */
function byName(settings: readonly Setting[]): ReadonlyMap<string, Setting> {
  const names = new Map<string, string>();
  const routed = new Map<string, string>();
  for (const { path, value } of settings) {
    const [list, index = '', key = ''] = path.slice(1);
    if (path.at(-1) === 'name') names.set(formatPath(path.slice(0, -1)), String(value));
    else if ((list === 'routes' || list === 'digests') && (key === 'channels' || key === 'match')) {
      const item = formatPath(['alerts', list, index]);
      const words = [routed.get(item), path.slice(4).join('.'), valueText(value)];
      routed.set(item, words.filter(Boolean).join(' '));
    }
  }
  const places = new Map<string, number>();
  for (const [item, words] of routed) {
    const label = `${item.split('[')[0]} ${words}`;
    const place = (places.get(label) ?? 0) + 1;
    places.set(label, place);
    names.set(item, place === 1 ? words : `${words}, ${place}`);
  }
  const nameOf = (path: Path): string =>
    path.reduce<string>((text, step, index) => {
      if (typeof step !== 'number') return text === '' ? step : `${text}.${step}`;
      return `${text}[${names.get(formatPath(path.slice(0, index + 1))) ?? step}]`;
    }, '');
  return new Map(settings.map((setting) => [nameOf(setting.path), setting]));
}

function variantFor(shape: FileShape, value: unknown): FileShape {
  const variants = variantsOf(shape);
  if (Array.isArray(value)) return variants.find(({ items }) => items) ?? shape;
  if (!isObject(value)) return shape;
  const fits = ({ properties }: FileShape) =>
    properties !== undefined && (properties['type']?.const ?? value['type']) === value['type'];
  return variants.find(fits) ?? shape;
}

/** Settings with the values of the profile where the file has none, and with the numbers that `policyOf` raises. */
function profiled(settings: readonly Setting[]): readonly Setting[] {
  const isLiteral = settings.find(({ path }) => formatPath(path) === 'guard.profile')?.value === 'literal';
  return settings.map((setting) => {
    const name = formatPath(setting.path);
    const unraised = isLiteral ? ofLiteral(setting, name) : setting;
    const to = raisedTo[name];
    const least = to && settings.find(({ path }) => formatPath(path) === to)?.value;
    return to && Number(least) > Number(unraised.value)
      ? { ...unraised, value: least, from: { kind: 'raised', to: to.slice(to.lastIndexOf('.') + 1) } }
      : unraised;
  });
}

function ofLiteral(setting: Setting, name: string): Setting {
  const value = literalValues[name];
  if (value === undefined || setting.from.kind !== 'default') return setting;
  return { ...setting, value, from: { kind: 'profile' } };
}

/** Numbers that `policyOf` raises, each with the number that it is never below. */
const raisedTo: Readonly<Record<string, string>> = {
  'guard.window_max_days': 'guard.window_days',
  'guard.breaker.max_mailboxes': 'guard.breaker.min_mailboxes',
};

const literalValues: Readonly<Record<string, unknown>> = {
  'guard.window_max_days': literalProfile.windowMaxDays,
  'guard.min_bounces': literalProfile.minBounces,
};

function hideDeep(value: unknown, secrets: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => hideDeep(item, secrets));
  return typeof value === 'string' ? hideIn(value, secrets) : value;
}
