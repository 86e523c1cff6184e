// A recipe's YAML file -> what can be run, or every problem of it with line and column.
import { z } from 'zod';
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
  type RecipeSchedule,
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
import { cronComplaint, duration, truth, whole } from '../world/schema/scalars.ts';
import { oneOf, optional, section } from '../world/schema/section.ts';
import { checkSelect } from './select.ts';

export interface Definition {
  readonly recipe: Recipe;
  readonly select: string;
  readonly step: RecipeStep | null;
}

/** Parameter names that HTTP, MCP or the SELECT itself use. */
const reservedNames: readonly string[] = ['now', 'apply', 'limit', 'offset'];
const line = (max: number) => z.string().trim().min(1).max(max);
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: () => 'must be text, a number, true or false' });

const parameterSchema = section({
  type: oneOf(parameterTypes),
  description: line(500),
  default: optional(scalar, undefined, 'The value when none is given.'),
  optional: optional(truth(), undefined, 'It may be omitted without a default: the SELECT sees NULL.'),
  one_of: optional(z.array(z.string().min(1)).min(1), undefined, 'The values that it may have.'),
  names: optional(oneOf(namedThings), undefined, 'What it names: a run without rows fails when nothing has this name.'),
  minimum: optional(z.number(), undefined, 'The smallest number that it may be.'),
  maximum: optional(z.number(), undefined, 'The largest number that it may be.'),
});
type WrittenParameter = z.output<typeof parameterSchema>;

const doSchema = section({
  operation: oneOf(operations),
  reason: line(200),
  mode: optional(oneOf(warmupModes), undefined, 'For the operation mode: the mode to set.'),
  limit: optional(
    whole(1, largestLimit),
    undefined,
    'For the operation limit: the target daily limit to set, emails a day.',
  ),
  for: optional(duration(60_000), undefined, 'For the operation silence: how long.'),
});

/** Operation of `do:`, with its arguments besides the row. */
export type RecipeStep = z.output<typeof doSchema>;

const recipeSchema = section({
  id: z
    .string()
    .max(64)
    .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'must be lowercase letters and digits with single dashes, such as at-risk'),
  title: line(120),
  description: line(2_000),
  parameters: optional(z.record(z.string(), parameterSchema), undefined, 'Its parameters, by name.'),
  select: z.string().min(1).max(20_000),
  do: optional(doSchema, undefined, 'What an applied run does for each row.'),
  schedule: optional(
    section({
      cron: z.string(),
      time_zone: optional(z.string(), 'UTC', 'An IANA name, such as Europe/Berlin.'),
      apply: optional(truth(), false, 'Whether scheduled runs carry out do:.'),
    }),
    undefined,
    'When it runs automatically.',
  ),
});
type WrittenRecipe = z.output<typeof recipeSchema>;

/** Reads a definition. Problems name it `file`. */
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
  return { definition: build(checked, builtIn) };
}

/** Problems that involve more than one key. */
function inconsistencies(written: WrittenRecipe): readonly Finding[] {
  return [
    ...Object.entries(written.parameters ?? {}).flatMap(([name, one]) => parameterFindings(name, one)),
    ...selectFindings(written),
    ...doFindings(written),
    ...scheduleFindings(written),
  ];
}

function finding(path: Finding['path'], message: string, at: Finding['at'] = 'value'): Finding {
  return { path, message, at };
}

function parameterFindings(name: string, written: WrittenParameter): readonly Finding[] {
  const path = ['parameters', name];
  const found: Finding[] = [];
  if (!/^[a-z][a-z0-9_]{0,39}$/.test(name)) {
    found.push(finding(path, 'must be lowercase letters, digits and underscores, at most 40 of them', 'key'));
  }
  if (reservedNames.includes(name)) found.push(finding(path, 'this name is reserved: choose another', 'key'));
  if (written.default !== undefined && written.optional) {
    found.push(finding([...path, 'optional'], 'a parameter with a default is already optional', 'key'));
  }
  const numeric = written.type === 'integer' || written.type === 'number';
  for (const key of ['minimum', 'maximum'] as const) {
    if (written[key] !== undefined && !numeric) found.push(finding([...path, key], 'is for numbers only', 'key'));
  }
  for (const key of ['one_of', 'names'] as const) {
    if (written[key] && written.type !== 'string') found.push(finding([...path, key], 'is for strings only', 'key'));
  }
  if (written.default !== undefined) {
    const read = readValue(buildParameter(name, written), written.default);
    if ('wrong' in read) found.push(finding([...path, 'default'], read.wrong));
  }
  return found;
}

function selectFindings({ select, parameters = {}, do: step }: WrittenRecipe): readonly Finding[] {
  const problems = checkSelect(select, Object.keys(parameters), step !== undefined);
  return problems.map((message) => finding(['select'], message));
}

const operationKeys = { mode: 'mode', limit: 'limit', for: 'silence' } as const;

function doFindings({ do: step }: WrittenRecipe): readonly Finding[] {
  if (!step) return [];
  const found: Finding[] = [];
  for (const [key, operation] of Object.entries(operationKeys) as [keyof typeof operationKeys, string][]) {
    const there = step[key] !== undefined;
    if (there && step.operation !== operation)
      found.push(finding(['do', key], `is for the operation ${operation} only`, 'key'));
    if (!there && step.operation === operation)
      found.push(finding(['do', key], `is missing: the operation ${operation} needs it`));
  }
  return found;
}

function scheduleFindings({ schedule, do: step, parameters = {} }: WrittenRecipe): readonly Finding[] {
  if (!schedule) return [];
  const found: Finding[] = [];
  const wrong = cronComplaint(schedule.cron, schedule.time_zone);
  if (wrong !== null) found.push(finding(['schedule', 'cron'], wrong));
  if (!isTimeZone(schedule.time_zone ?? 'UTC')) {
    found.push(finding(['schedule', 'time_zone'], 'is not a time zone: write an IANA name, such as Europe/Berlin'));
  }
  if (step?.operation === 'resume') {
    found.push(finding(['schedule'], 'only a person may run a recipe that resumes: remove the schedule', 'key'));
  }
  if (schedule.apply && !step) found.push(finding(['schedule', 'apply'], 'there is no do: to apply', 'key'));
  for (const [name, one] of Object.entries(parameters)) {
    if (one.default === undefined && !one.optional) {
      found.push(finding(['parameters', name], 'needs a default: a scheduled run has no parameters', 'key'));
    }
  }
  return found;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function build(written: WrittenRecipe, builtIn: boolean): Definition {
  const { id, title, description, select, do: step } = written;
  const parameters = Object.entries(written.parameters ?? {}).map(([name, one]) => buildParameter(name, one));
  return {
    recipe: {
      id,
      title,
      description,
      parameters,
      operation: step?.operation ?? null,
      schedule: scheduleOf(written),
      builtIn,
    },
    select,
    step: step ?? null,
  };
}

function scheduleOf({ schedule }: WrittenRecipe): RecipeSchedule | null {
  if (!schedule) return null;
  return { cron: schedule.cron, timeZone: schedule.time_zone ?? 'UTC', apply: schedule.apply ?? false };
}

function buildParameter(name: string, written: WrittenParameter): Parameter {
  return {
    name,
    type: written.type,
    description: written.description,
    required: written.default === undefined && !written.optional,
    default: written.default ?? null,
    oneOf: written.one_of ?? null,
    names: written.names ?? null,
    minimum: written.minimum ?? null,
    maximum: written.maximum ?? null,
  };
}

// The parameters of a run, checked against those of its recipe: every mistake at once.

const maxTextLength = 1_000;

type CheckedParameters = { readonly values: ParameterValues } | { readonly problems: readonly string[] };

/** Every parameter with its value, defaults written out; or one sentence a mistake. Text is converted to the type of its parameter. */
export function checkParameters(
  parameters: readonly Parameter[],
  given: Readonly<Record<string, unknown>>,
): CheckedParameters {
  const names = parameters.map(({ name }) => name);
  const problems = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => unknownParameter(name, names));
  const values: Record<string, ParameterValue> = {};
  for (const parameter of parameters) {
    const read = givenOrDefault(parameter, Object.hasOwn(given, parameter.name) ? given[parameter.name] : undefined);
    if ('wrong' in read) problems.push(`the parameter ${parameter.name} ${read.wrong}`);
    else values[parameter.name] = read.value;
  }
  return problems.length > 0 ? { problems: problems.map(sentence) } : { values };
}

function unknownParameter(name: string, known: readonly string[]): string {
  const has = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
  return `${JSON.stringify(name.slice(0, 64))} is not a parameter of this recipe: ${has}`;
}

type Value = { readonly value: ParameterValue } | { readonly wrong: string };

function givenOrDefault(parameter: Parameter, given: unknown): Value {
  if (given === undefined || given === null) {
    return parameter.required ? { wrong: 'is missing' } : { value: parameter.default };
  }
  return readValue(parameter, given);
}

const wanted: Readonly<Record<ParameterType, string>> = {
  string: 'must be text',
  integer: 'must be a whole number',
  number: 'must be a number',
  boolean: 'must be true or false',
};

/** Converts a value to the type of its parameter, within its limits. */
function readValue(
  { type, oneOf, minimum, maximum }: Pick<Parameter, 'type' | 'oneOf' | 'minimum' | 'maximum'>,
  given: unknown,
): Value {
  const value = converted(type, given);
  if (value === null) return { wrong: wanted[type] };
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

function converted(type: ParameterType, given: unknown): string | number | boolean | null {
  switch (type) {
    case 'string':
      return typeof given === 'string' ? given : null;
    case 'boolean':
      if (typeof given === 'boolean') return given;
      return given === 'true' ? true : given === 'false' ? false : null;
    case 'integer':
    case 'number': {
      const text = typeof given === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(given);
      const number = text ? Number(given) : given;
      const fits = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number);
      return fits ? (number as number) : null;
    }
  }
}
