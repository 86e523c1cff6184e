// What zod says of a request, in plain words for whoever sent it: `mailbox: required`.
import type { z } from 'zod';

/** Reads what was asked, or says what is wrong with it. `whole`: what it is called where a problem is of no one field. */
export function readRequest<Shape extends z.ZodType>(
  shape: Shape,
  asked: unknown,
  whole: 'the body' | 'the query',
): { readonly read: z.output<Shape> } | { readonly wrong: string } {
  const result = shape.safeParse(asked, { error: plainWords });
  if (result.success) return { read: result.data };
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.') || whole}: ${message}`);
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
