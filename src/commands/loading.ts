// The configuration of a command, or its problems on stderr with the exit code of DESIGN.md section 4.
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';

/** Usage or configuration is wrong. */
const exitUsage = 2;

/** null when the file has problems: each is a line on stderr then, and the exit code is set. */
export function loadOrSay(file: string): Extract<LoadedConfig, { ok: true }> | null {
  const loaded = loadConfig(file, process.env);
  if (loaded.ok) return loaded;
  for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
  process.exitCode = exitUsage;
  return null;
}
