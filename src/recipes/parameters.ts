// What a run is asked with, checked against the recipe's typed parameters: every mistake at once.
import { didYouMean } from '../core/nearest.ts';
import type { Parameter, ParameterType, ParameterValue, ParameterValues } from '../core/recipe.ts';
import { sentence } from '../core/wording/explain.ts';

const maxTextLength = 1_000;

type Checked = { readonly values: ParameterValues } | { readonly problems: readonly string[] };

/** Every parameter with its value, defaults written out; or one sentence a mistake. Text is read as what is wanted. */
export function checkParameters(parameters: readonly Parameter[], given: Readonly<Record<string, unknown>>): Checked {
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
  const shown = JSON.stringify(name.slice(0, 64));
  if (known.length === 0) return `${shown} is not a parameter of this recipe: it has none`;
  const guess = didYouMean(name, known);
  return `${shown} is not a parameter of this recipe${guess === '' ? `; it has ${known.join(', ')}` : guess}`;
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

/** A value as the parameter's type wants it, within its limits. */
export function readValue(
  { type, oneOf, minimum, maximum }: Pick<Parameter, 'type' | 'oneOf' | 'minimum' | 'maximum'>,
  given: unknown,
): Value {
  const value = converted(type, given);
  if (value === null) return { wrong: wanted[type] };
  if (typeof value === 'string') {
    if (oneOf && !oneOf.includes(value))
      return { wrong: `must be one of ${oneOf.join(', ')}${didYouMean(value, oneOf)}` };
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
