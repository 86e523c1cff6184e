// The configuration of a command, or its problems on stderr with the exit code of DESIGN.md section 4.
import { loadConfig, locateStore, type ValidConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';

/** Usage or configuration is wrong. */
const exitUsage = 2;

/** null when the file has problems: each is a line on stderr then, and the exit code is set. */
export function loadOrSay(file: string): ValidConfig | null {
  const loaded = loadConfig(file, process.env);
  if (loaded.ok) return loaded;
  for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
  process.exitCode = exitUsage;
  return null;
}

/**
 * Where the store of a configuration is, for commands that speak to its daemon or read its store: whatever else is
 * wrong with the file, and without the daemon's environment. null as above.
 */
export function findStore(file: string): string | null {
  return locateStore(file, process.env) ?? loadOrSay(file)?.config.store.path ?? null;
}
