// The guard settings of a file with a guard section, or of a whole configuration, of which nothing else is read.
import { dirname, resolve } from 'node:path';
import type { GuardSettings } from '../../config/config.ts';
import { inconsistencies } from '../../config/consistency.ts';
import { readDocument } from '../../config/document.ts';
import { guardSchema } from '../../config/guard-schema.ts';
import { hideSecrets, secretsIn } from '../../config/hiding.ts';
import { byPlace, checkAgainst, formatPath, formatProblem, type Problem } from '../../config/problem.ts';
import { section } from '../../config/section.ts';
import { readSmallFile } from '../../config/small-file.ts';
import { substitute } from '../../config/substitute.ts';
import { CommandError } from '../terminal/command-error.ts';

const guardFile = section({ guard: guardSchema });

/** Throws a CommandError with every problem of the section. */
export function guardOf(file: string): GuardSettings {
  const source = readDocument(readText(file));
  if (!('tree' in source)) throw problemsOf(file, source);
  const { tree } = source;
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree))
    throw new CommandError('configuration', `${file} must be a mapping with a guard section.`);
  const written: Readonly<Record<string, unknown>> = { ...tree };
  // Beside accounts it is a whole configuration; in any other file a key beside guard is a mistake.
  const relevant = written['accounts'] === undefined ? written : { guard: written['guard'] ?? {} };
  const substitution = substitute(relevant, process.env, dirname(resolve(file)));
  const { findings, checked } = checkAgainst(guardFile, substitution.tree);
  const all = [...source.findings, ...substitution.findings, ...findings, ...inconsistencies(substitution.tree)];
  if (all.length === 0 && checked !== null) return checked.guard;
  const secrets = secretsIn(tree);
  const problems = all.map((finding) => ({
    ...source.placeOf(finding.path, finding.at),
    path: formatPath(finding.path),
    message: finding.message,
  }));
  throw problemsOf(file, problems.map((problem) => hideSecrets(problem, secrets)).sort(byPlace));
}

function readText(file: string): string {
  const read = readSmallFile(file);
  if ('failure' in read) throw new CommandError('configuration', `${file} can't be read: ${read.failure}`);
  return read.text;
}

function problemsOf(file: string, problems: readonly Problem[]): CommandError {
  const lines = problems.map((problem) => formatProblem(file, problem));
  return new CommandError('configuration', lines.join('\n'), problems);
}
