// Every command by its name, in the order of the help. A start loads the sources of the one that it runs.
import type { Command } from 'commander';

const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run.ts')).runCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  channels: async () => (await import('./channels.ts')).channelsCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
  simulator: async () => (await import('./simulator.ts')).simulatorCommand(),
  decide: async () => (await import('./decide.ts')).decideCommand(),
  backtest: async () => (await import('./backtest.ts')).backtestCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  alerts: async () => (await import('./alerts.ts')).alertsCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  history: async () => (await import('./history.ts')).historyCommand(),
  pause: async () => (await import('./mailbox-commands.ts')).pauseCommand(),
  resume: async () => (await import('./mailbox-commands.ts')).resumeCommand(),
  mode: async () => (await import('./mailbox-commands.ts')).modeCommand(),
  limit: async () => (await import('./mailbox-commands.ts')).limitCommand(),
  undo: async () => (await import('./mailbox-commands.ts')).undoCommand(),
  token: async () => (await import('./token.ts')).tokenCommand(),
  mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  recipes: async () => (await import('./recipes.ts')).recipesCommand(),
  breaker: async () => (await import('./breaker.ts')).breakerCommand(),
  contest: async () => (await import('./contest.ts')).contestCommand(),
  writes: async () => (await import('./writes.ts')).writesCommand(),
  silence: async () => (await import('./silence.ts')).silenceCommand(),
  store: async () => (await import('./store.ts')).storeCommand(),
  reload: async () => (await import('./reload.ts')).reloadCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(allCommands),
  // Asked by the image's health check.
  __alive: async () => (await import('./alive.ts')).aliveCommand(),
};

/** Every command. */
export async function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(loaders).map((load) => load()));
}

/** The command that these words begin with; none for the version, all of them for the help and for a word that is none. */
export async function commandsFor(words: readonly string[]): Promise<readonly Command[]> {
  if (words.length === 1 && /^(-V|--version)$/.test(words[0] ?? '')) return [];
  const name = words.find((word) => !word.startsWith('-')) ?? '';
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  return load ? [await load()] : allCommands();
}
