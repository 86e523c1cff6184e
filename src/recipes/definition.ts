// A recipe's YAML file -> what can be run, or every problem of it with line and column.
import { z } from 'zod';
import { didYouMean } from '../core/nearest.ts';
import { largestLimit, warmupModes } from '../core/policy.ts';
import {
  namedThings,
  operations,
  type Parameter,
  type ParameterType,
  type ParameterValue,
  type ParameterValues,
  parameterTypes,
  type Recipe,
} from '../core/recipe.ts';
import { sentence } from '../core/wording/explain.ts';
import { readDocument } from '../world/schema/document.ts';
import {
  byPlace,
  checkAgainst,
  type Finding,
  formatPath,
  formatProblem,
  type Problem,
} from '../world/schema/problem.ts';
import { cronComplaint, duration, timeZone, truth, whole } from '../world/schema/scalars.ts';
import { keyed, notOneOf, oneOf, optional, optionalGroup, section } from '../world/schema/section.ts';
import { checkSelect } from './select.ts';

export interface Definition {
  readonly recipe: Recipe;
  readonly select: string;
  readonly step: RecipeStep | null;
}

const line = (max: number) => z.string().trim().min(1).max(max);
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: () => 'must be text, a number, true or false' });

const parameterSchema = section(
  {
    type: oneOf(parameterTypes),
    description: line(500),
    default: optional(scalar, 'The value when none is given.'),
    optional: optional(truth(), 'It may be omitted without a default: the SELECT sees NULL.'),
    oneOf: optional(z.array(z.string().min(1)).min(1), 'The values that it may have.'),
    names: optional(oneOf(namedThings), 'What it names: a run without rows fails when nothing has this name.'),
    minimum: optional(z.number(), 'The smallest number that it may be.'),
    maximum: optional(z.number(), 'The largest number that it may be.'),
  },
  (keys, refuse) => {
    const { type, default: standsIn } = keys;
    const isNumber = type === 'integer' || type === 'number';
    if (standsIn !== undefined && keys['optional'] === true)
      refuse('optional', 'a parameter with a default is already optional');
    for (const key of ['minimum', 'maximum'])
      if (keys[key] !== undefined && !isNumber) refuse(key, 'is for numbers only');
    for (const key of ['one_of', 'names'])
      if (keys[key] !== undefined && type !== 'string') refuse(key, 'is for strings only');
    const { minimum, maximum } = keys;
    if (typeof minimum === 'number' && typeof maximum === 'number' && minimum > maximum)
      refuse('minimum', `is ${minimum}, and maximum is ${maximum}: no number fits both`);
  },
).transform(({ default: standsIn = null, optional: mayLack = false, ...keys }) => ({
  oneOf: null,
  names: null,
  minimum: null,
  maximum: null,
  ...keys,
  default: standsIn,
  required: standsIn === null && !mayLack,
}));

const reason = line(200);
const stepSchema = z.discriminatedUnion(
  'operation',
  [
    section({ operation: z.literal(['pause', 'resume', 'refresh']), reason }),
    section({ operation: z.literal('mode'), reason, mode: oneOf(warmupModes) }),
    section({ operation: z.literal('limit'), reason, limit: whole(1, largestLimit) }),
    section({
      operation: z.literal('set'),
      reason,
      replyRate: optional(whole(0, 100), 'Percent.'),
      sendWindow: optional(z.string(), 'First hour and end of sending, such as 8-18.'),
    }),
    section({ operation: z.literal('silence'), reason, forMs: duration(60_000) }),
  ],
  {
    error: ({ code, input }) =>
      code === 'invalid_union' ? notOneOf((input as { operation?: unknown }).operation, operations) : undefined,
  },
);

export type RecipeStep = z.output<typeof stepSchema>;

const recipeSchema = section({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'must be lowercase letters and digits with single dashes, such as at-risk'),
  title: line(120),
  description: line(2_000),
  parameters: keyed(z.record(z.string(), parameterSchema), {}, 'Its parameters, by name.').transform((written) =>
    Object.entries(written).map(([name, keys]): Parameter => ({ name, ...keys })),
  ),
  select: z.string().min(1).max(20_000),
  do: optional(stepSchema, 'What an applied run does for each row.'),
  schedule: optionalGroup(
    'When it runs automatically.',
    {
      cron: z.string(),
      timeZone: keyed(timeZone(), 'UTC', 'An IANA name, such as Europe/Berlin.'),
      apply: keyed(truth(), false, 'Whether scheduled runs carry out do:.'),
    },
    ({ cron, time_zone: zone }, refuse) => {
      const wrong = typeof cron === 'string' ? cronComplaint(cron, typeof zone === 'string' ? zone : 'UTC') : null;
      if (wrong !== null) refuse('cron', wrong);
    },
  ),
});
type WrittenRecipe = z.output<typeof recipeSchema>;

/** Problems name the definition `file`. */
export function readDefinition(
  text: string,
  { file, builtIn }: { readonly file: string; readonly builtIn: boolean },
): { readonly definition: Definition } | { readonly problems: readonly string[] } {
  const say = (problems: readonly Problem[]) => ({ problems: problems.map((one) => formatProblem(file, one)) });
  const source = readDocument(text);
  if (!('tree' in source)) return say(source);
  const { findings, checked } = checkAgainst(recipeSchema, source.tree ?? {});
  const all = [...source.findings, ...findings, ...(checked ? inconsistencies(checked) : [])];
  if (all.length > 0 || !checked) {
    const placed = all.map(({ path, at, message }) => ({
      ...source.placeOf(path, at),
      path: formatPath(path),
      message,
    }));
    return say(placed.sort(byPlace));
  }
  const { select, do: step = null, schedule = null, ...about } = checked;
  return { definition: { recipe: { ...about, operation: step?.operation ?? null, schedule, builtIn }, select, step } };
}

/** HTTP, MCP or the SELECT itself use these names. */
const reservedNames: readonly string[] = ['now', 'apply', 'limit', 'offset'];

function inconsistencies({ parameters, select, do: step, schedule }: WrittenRecipe): readonly Finding[] {
  const found: Finding[] = [];
  const refuse = (path: Finding['path'], message: string, at: Finding['at'] = 'value') =>
    found.push({ path, message, at });
  for (const parameter of parameters) {
    const path = ['parameters', parameter.name];
    if (!/^[a-z][a-z0-9_]{0,39}$/.test(parameter.name))
      refuse(path, 'must be lowercase letters, digits and underscores, at most 40 of them', 'key');
    if (reservedNames.includes(parameter.name)) refuse(path, 'this name is reserved: choose another', 'key');
    const read = parameter.default === null ? null : readValue(parameter, parameter.default);
    if (read && 'wrong' in read) refuse([...path, 'default'], read.wrong);
    if (schedule && parameter.required) refuse(path, 'needs a default: a scheduled run has no parameters', 'key');
  }
  const names = parameters.map(({ name }) => name);
  for (const message of checkSelect(select, names, step !== undefined)) refuse(['select'], message);
  if (schedule && step?.operation === 'resume')
    refuse(['schedule'], 'only a person may run a recipe that resumes: remove the schedule', 'key');
  if (schedule?.apply && !step) refuse(['schedule', 'apply'], 'there is no do: to apply', 'key');
  return found;
}

// Parameters of a run.

const maxTextLength = 1_000;

type CheckedParameters = { readonly values: ParameterValues } | { readonly problems: readonly string[] };

/** Returns all values, also defaults, or one sentence a mistake. Text is converted to the parameter's type. */
export function checkParameters(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, unknown>>,
): CheckedParameters {
  const names = parameters.map(({ name }) => name);
  const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  const problems = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `${JSON.stringify(name.slice(0, 64))} is not a parameter of this recipe${didYouMean(name, names) || `: ${known}`}`,
    );
  const values: Record<string, ParameterValue> = {};
  for (const parameter of parameters) {
    const { name, required } = parameter;
    const value = Object.hasOwn(given, name) ? (given[name] ?? null) : null;
    const standsIn: Value = required
      ? { wrong: `is missing (on the command line: --param ${name}=...)` }
      : { value: parameter.default };
    const read = value === null ? standsIn : readValue(parameter, value);
    if ('wrong' in read) problems.push(`the parameter ${name} ${read.wrong}`);
    else values[name] = read.value;
  }
  return problems.length > 0 ? { problems: problems.map(sentence) } : { values };
}

type Value = { readonly value: ParameterValue } | { readonly wrong: string };

const numberIn = (given: unknown, fits: (number: unknown) => boolean): ParameterValue => {
  const isText = typeof given === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(given);
  const number = isText ? Number(given) : given;
  return fits(number) ? (number as number) : null;
};

/** Readers of JSON values and of text from a command line: null for a wrong one. */
const types: Readonly<
  Record<ParameterType, { readonly wanted: string; readonly read: (given: unknown) => ParameterValue }>
> = {
  string: { wanted: 'must be text', read: (given) => (typeof given === 'string' ? given : null) },
  integer: { wanted: 'must be a whole number', read: (given) => numberIn(given, Number.isSafeInteger) },
  number: { wanted: 'must be a number', read: (given) => numberIn(given, Number.isFinite) },
  boolean: {
    wanted: 'must be true or false',
    read: (given) => (given === true || given === 'true' ? true : given === false || given === 'false' ? false : null),
  },
};

function readValue({ type, oneOf, minimum, maximum }: Omit<Parameter, 'name'>, given: unknown): Value {
  const value = types[type].read(given);
  if (value === null) return { wrong: types[type].wanted };
  if (typeof value === 'string') {
    if (oneOf && !oneOf.includes(value)) return { wrong: `must be one of ${oneOf.join(', ')}` };
    return value.length > maxTextLength ? { wrong: `is longer than ${maxTextLength} characters` } : { value };
  }
  if (typeof value === 'number') {
    if (minimum !== null && value < minimum) return { wrong: `must be at least ${minimum}` };
    if (maximum !== null && value > maximum) return { wrong: `must be at most ${maximum}` };
  }
  return { value };
}
