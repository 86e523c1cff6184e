// The configuration of a command, or its problems on stderr with the exit code of DESIGN.md section 4.
import { existsSync } from 'node:fs';
import { loadConfig, type ValidConfig } from '../config/load.ts';
import { loadPlaces, type Places } from '../config/places.ts';
import { formatProblem, type Problem } from '../config/problem.ts';
import { exitUsage } from './exit-codes.ts';

const beginning = 'Name your file with --config FILE. To begin one: cp config.example.yaml config.yaml';

/**
 * null when the file has problems: each is a line on stderr then, and the exit code is set. With `json` they are on
 * standard output too.
 */
export function loadOrSay(file: string, json = false): ValidConfig | null {
  const loaded = loadConfig(file, process.env);
  if (loaded.ok) return loaded;
  if (json) process.stdout.write(`${JSON.stringify({ file, valid: false, problems: loaded.problems }, null, 2)}\n`);
  return complain(file, loaded.problems);
}

function complain(file: string, problems: readonly Problem[]): null {
  for (const problem of problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
  if (!existsSync(file)) process.stderr.write(`${beginning}\n`);
  process.exitCode = exitUsage;
  return null;
}

/**
 * Where the store and the recipes of a configuration are, for commands that speak to its daemon or read its store:
 * whatever else is wrong with the file, and without the daemon's environment. null as above.
 */
export function findPlaces(file: string): Extract<Places, { ok: true }> | null {
  const places = loadPlaces(file, process.env);
  return places.ok ? places : complain(file, places.problems);
}

/** Only where the store is. */
export function findStore(file: string): string | null {
  return findPlaces(file)?.storePath ?? null;
}
