// The configuration of a command, or its problems on stderr with the exit code of DESIGN.md section 4.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shellPath } from '../command-name.ts';
import { loadConfig, type ValidConfig } from '../config/load.ts';
import { loadPlaces, type Places } from '../config/places.ts';
import { formatProblem, type Problem } from '../config/problem.ts';
import { exitUsage } from './exit-codes.ts';

/** It ships with the program. */
const example = fileURLToPath(new URL('../../config.example.yaml', import.meta.url));

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
  if (!existsSync(file)) {
    const begin = `cp ${shellPath(example, process.cwd())} config.yaml`;
    process.stderr.write(`Name your file with --config FILE. To begin one: ${begin}\n`);
  }
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
