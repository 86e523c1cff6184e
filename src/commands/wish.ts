// A person's wish on the command line: the configuration names the daemon, the daemon answers in sentences.
import { userInfo } from 'node:os';
import type { HandOutcome } from '../model/hand.ts';
import { loadOrSay } from './loading.ts';

const exitFailed = 1;

/** Asks the daemon of a configuration file and prints what it says; sets the exit code. */
export async function wish(file: string, ask: (storePath: string, by: string) => Promise<HandOutcome>): Promise<void> {
  const loaded = loadOrSay(file);
  if (!loaded) return;
  const { done, said } = await ask(loaded.config.store.path, userInfo().username);
  for (const sentence of said) (done ? process.stdout : process.stderr).write(`${sentence}\n`);
  if (!done) process.exitCode = exitFailed;
}
