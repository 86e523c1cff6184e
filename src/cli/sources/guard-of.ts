// The guard settings of a file with a guard section, or of a whole configuration, of which nothing else is read.
import { dirname, resolve } from 'node:path';
import type { GuardSettings } from '../../config/config.ts';
import { inconsistencies } from '../../config/consistency.ts';
import { guardSchema } from '../../config/guard-schema.ts';
import { checkPart, readSource } from '../../config/source.ts';
import { formatProblem, type Problem } from '../../schema/problem.ts';
import { section } from '../../schema/section.ts';
import { CommandError } from '../errors.ts';

const guardFile = section({ guard: guardSchema });

/** Throws a CommandError with every problem of the section. */
export function guardOf(file: string): GuardSettings {
  const source = readSource(file);
  if (!('tree' in source)) throw problemsOf(file, source);
  const tree: Readonly<Record<string, unknown>> = { ...source.tree };
  // Beside accounts it is a whole configuration; in any other file a key beside guard is a mistake.
  const written = tree['accounts'] === undefined ? tree : { guard: tree['guard'] ?? {} };
  const folder = dirname(resolve(file));
  const schema = guardFile;
  const part = checkPart({ source, written, schema, environment: process.env, folder, rules: inconsistencies });
  if ('problems' in part) throw problemsOf(file, part.problems);
  return part.checked.guard;
}

function problemsOf(file: string, problems: readonly Problem[]): CommandError {
  const lines = problems.map((problem) => formatProblem(file, problem));
  return new CommandError('configuration', lines.join('\n'), problems);
}
