// A person's wish on the command line: the configuration names the daemon, the daemon answers in sentences.
import { userInfo } from 'node:os';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { HandOutcome } from '../model/hand.ts';

const exitFailed = 1;
const exitUsage = 2;

/** Asks the daemon of a configuration file and prints what it says; sets the exit code. */
export async function wish(file: string, ask: (storePath: string, by: string) => Promise<HandOutcome>): Promise<void> {
  const loaded = loadConfig(file, process.env);
  if (!loaded.ok) {
    for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`);
    process.exitCode = exitUsage;
    return;
  }
  const { done, said } = await ask(loaded.config.store.path, userInfo().username);
  for (const sentence of said) (done ? process.stdout : process.stderr).write(`${sentence}\n`);
  if (!done) process.exitCode = exitFailed;
}
