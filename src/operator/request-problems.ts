// What zod says of a request, in plain words for whoever sent it: `mailbox: required`.
import type { z } from 'zod';

/** Reads what was asked, or says what is wrong with it. */
export function readRequest<Shape extends z.ZodType>(
  shape: Shape,
  asked: unknown,
): { readonly read: z.output<Shape> } | { readonly wrong: string } {
  const result = shape.safeParse(asked, { error: plainWords });
  if (result.success) return { read: result.data };
  const problems = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? `the body ${message}` : `${path.join('.')}: ${message}`,
  );
  return { wrong: problems.join('; ') };
}

/** undefined: zod's own words will do. Values are not quoted. */
function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'required' : `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.input === undefined ? 'required' : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has the unknown ${issue.keys.length === 1 ? 'key' : 'keys'} ${issue.keys.join(', ')}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'too_small':
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    default:
      return undefined;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};
