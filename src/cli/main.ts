// The command line: every command, its help, and the exit code.
import { Command, Help, type HelpConfiguration } from 'commander';
import { commandName } from '../world/command-name.ts';
import { version } from '../world/version.ts';
import { exitMeanings, showError } from './errors.ts';
import { withExamples } from './examples.ts';
import { helpEntry, watchOutputs } from './terminal.ts';

/** Commands by name, in the order of the help. Loads only the sources of the command that runs. */
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
  pause: async () => (await import('./operations.ts')).pauseCommand(),
  resume: async () => (await import('./operations.ts')).resumeCommand(),
  mode: async () => (await import('./operations.ts')).modeCommand(),
  limit: async () => (await import('./operations.ts')).limitCommand(),
  undo: async () => (await import('./operations.ts')).undoCommand(),
  token: async () => (await import('./token.ts')).tokenCommand(),
  mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  recipes: async () => (await import('./recipes.ts')).recipesCommand(),
  breaker: async () => (await import('./operations.ts')).breakerCommand(),
  contest: async () => (await import('./operations.ts')).contestCommand(),
  writes: async () => (await import('./writes.ts')).writesCommand(),
  silence: async () => (await import('./silence.ts')).silenceCommand(),
  store: async () => (await import('./store.ts')).storeCommand(),
  reload: async () => (await import('./operations.ts')).reloadCommand(),
  // The health check of the image runs it.
  __alive: async () => (await import('./operations.ts')).aliveCommand(),
};

export async function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(loaders).map((load) => load()));
}

/** Command that these words begin with; empty for --version, and all commands for the help or an unknown word. */
async function commandsFor(words: readonly string[]): Promise<readonly Command[]> {
  if (words.length === 1 && /^(-V|--version)$/.test(words[0] ?? '')) return [];
  const name = words.find((word) => !word.startsWith('-')) ?? '';
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  return load ? [await load()] : allCommands();
}

const usualHelp = new Help();

/** Help format that shows required options in the usage line, and marks each of them. */
const help: HelpConfiguration = {
  commandUsage: (command) => {
    const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => `${flags} `);
    return usualHelp.commandUsage(command).replace('[options]', () => `${required.join('')}[options]`);
  },
  optionDescription: (option) => `${usualHelp.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
};

const exitCodes = `Exit codes:\n${exitMeanings.map(([code, meaning]) => helpEntry(`  ${code}  `, meaning)).join('\n')}`;

/** Option that may be anywhere on the line. */
const debugOption = '--debug';

/** Runs the command line, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  watchOutputs();
  const words = argv.filter((word) => word !== debugOption);
  const showing = { json: words.includes('--json'), debug: argv.includes(debugOption) };
  const program = new Command(commandName)
    .description(
      'Guards the warm-up of email mailboxes: watches bounces, acts before the reputation suffers, and explains why.',
    )
    .version(version)
    .option(debugOption, 'show the stack trace of an error')
    .showHelpAfterError(`Try \`${commandName} --help\`.`)
    .configureHelp(help)
    .addHelpText('after', `\n${exitCodes}`)
    .exitOverride();
  // The only output with --json is JSON, also for an error.
  if (showing.json) program.configureOutput({ writeErr: () => {} });
  for (const command of await commandsFor(words.slice(2)))
    program.addCommand(withExamples(inheriting(command, program)), { hidden: command.name().startsWith('_') });
  try {
    await program.parseAsync(words);
  } catch (error) {
    process.exitCode = showError(error, showing);
  }
}

/** Gives a command, and its subcommands, the settings of its parent: none of them ends the process by itself. */
function inheriting(command: Command, parent: Command, words = `${parent.name()} ${command.name()}`): Command {
  command.copyInheritedSettings(parent).showHelpAfterError(`Try \`${words} --help\`.`);
  for (const inner of command.commands) inheriting(inner, command, `${words} ${inner.name()}`);
  return command;
}
