// The command line: every command, its help, and the exit code.
import { Command, Help, type HelpConfiguration } from 'commander';
import { version } from '../world/program.ts';
import { exitMeanings, showError } from './errors.ts';
import type { operationCommands } from './operations.ts';
import { helpEntry, watchOutputs } from './terminal.ts';

const operation = (name: keyof typeof operationCommands) => async () =>
  (await import('./operations.ts')).operationCommands[name]();

/** Commands by name, in the order of the help. Loads only the sources of the command that runs. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).initCommand(),
  run: async () => (await import('./run.ts')).runCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  channels: async () => (await import('./channels.ts')).channelsCommand(),
  demo: async () => (await import('../../tools/simulator/demo.ts')).demoCommand(),
  simulator: async () => (await import('../../tools/simulator/command.ts')).simulatorCommand(),
  decide: async () => (await import('./decide.ts')).decideCommand(),
  backtest: async () => (await import('./backtest.ts')).backtestCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  alerts: async () => (await import('./alerts.ts')).alertsCommand(),
  ack: operation('ack'),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  history: async () => (await import('./history.ts')).historyCommand(),
  pause: operation('pause'),
  resume: operation('resume'),
  mode: operation('mode'),
  limit: operation('limit'),
  set: operation('set'),
  connect: async () => (await import('./connect.ts')).connectCommand(),
  undo: operation('undo'),
  token: async () => (await import('./token.ts')).tokenCommand(),
  mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  recipes: async () => (await import('./recipes.ts')).recipesCommand(),
  breaker: operation('breaker'),
  contest: operation('contest'),
  writes: async () => (await import('./writes.ts')).writesCommand(),
  silence: async () => (await import('./silence.ts')).silenceCommand(),
  store: async () => (await import('./store.ts')).storeCommand(),
  reload: operation('reload'),
  // The health check of the image runs it.
  __alive: operation('__alive'),
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
  const program = new Command('warmwarden')
    .description(
      'Guards the warm-up of email mailboxes: watches bounces, acts before the reputation suffers, and explains why.',
    )
    .version(version)
    .option(debugOption, 'show the stack trace of an error')
    .showHelpAfterError('Try `warmwarden --help`.')
    .configureHelp(help)
    .addHelpText('after', `\n${exitCodes}`)
    .exitOverride();
  // The only output with --json is JSON, also for an error.
  if (showing.json) program.configureOutput({ writeErr: () => {} });
  for (const command of await commandsFor(words.slice(2)))
    program.addCommand(inheriting(command, program), { hidden: command.name().startsWith('_') });
  try {
    await program.parseAsync(words);
  } catch (error) {
    process.exitCode = showError(error, showing);
  }
}

/**
 * Gives a command, and its subcommands, the settings of its parent, so that none of them ends the process by itself, and
 * their examples.
 */
function inheriting(command: Command, parent: Command, words = command.name()): Command {
  const shown = examplesOf(words);
  const isDemanding = command.options.some(({ mandatory }) => mandatory);
  const example = isDemanding && shown[0] ? `For example: ${shown[0]}\n` : '';
  command.copyInheritedSettings(parent).showHelpAfterError(`${example}Try \`warmwarden ${words} --help\`.`);
  if (shown.length > 0) command.addHelpText('after', `\nExamples:\n  ${shown.join('\n  ')}`);
  for (const inner of command.commands) inheriting(inner, command, `${words} ${inner.name()}`);
  return command;
}

/** Examples for the help of the command with these words: the most common lines, with their purpose. */
export function examplesOf(words: string): readonly string[] {
  return examples.filter((line) => new RegExp(`(^|\\| )warmwarden ${words}( |$)`).test(line));
}

const examples = [
  'warmwarden init',
  'warmwarden init --base-url https://mailboxes.example.com --key-env WARMUP_API_KEY --channel https://hooks.slack.com/services/...',
  'warmwarden run --config config.yaml   # kill -HUP PID reloads the configuration',
  'warmwarden check --config config.yaml',
  'warmwarden check --show               # the settings in force, and where each value came from',
  'warmwarden doctor',
  'warmwarden doctor --json | jq \'.checks[] | select(.result == "problem") | .message\'',
  'warmwarden channels test ops',
  'warmwarden channels preview guard_acted --channel ops',
  'warmwarden channels resend ops --reason "the receiver is back"',
  'warmwarden demo',
  'warmwarden demo --speed 60 --port 8080',
  'warmwarden simulator',
  'warmwarden simulator --port 7031 --scenario provider-block',
  'warmwarden simulator breach amelia.ward@northbeam.example   # in a running simulator',
  'warmwarden simulator emergency a@b.example',
  'warmwarden simulator dns-failure b.example',
  'warmwarden simulator disconnect a@b.example',
  'warmwarden simulator repair b.example',
  'warmwarden simulator pause a@b.example                      # by others, as raise-mode and raise-limit',
  'warmwarden simulator raise-mode a@b.example',
  'warmwarden simulator raise-limit a@b.example',
  'warmwarden simulator unwell',
  'warmwarden simulator clock-off',
  'warmwarden simulator well',
  'warmwarden simulator --key sk_live_a,*@a.example --key sk_live_b,enterprise,*@b.example',
  'warmwarden decide --mode slow --stats answer.json',
  'cat answer.json | warmwarden decide --mode balanced',
  'warmwarden backtest --config config.yaml',
  'warmwarden backtest --config config.yaml --days 30',
  'warmwarden status',
  'warmwarden status --json | jq \'.mailboxes[] | select(.state != "ok") | .email\'',
  'warmwarden explain a@b.example',
  'warmwarden explain acme/a@b.example --limit 100',
  'warmwarden history --since 24h',
  'warmwarden history --by ann',
  'warmwarden history --mailbox a@b.example --guard    # also what Warmwarden did by itself',
  'warmwarden pause a@b.example --reason "list is being cleaned"',
  'warmwarden pause a@b.example --dry-run  # only show what it would do',
  'warmwarden resume a@b.example --reason "list is clean" --yes',
  'warmwarden mode a@b.example slow --reason "new domain"',
  'warmwarden limit a@b.example 15 --reason "too many emails for a new domain"',
  'warmwarden set a@b.example reply_rate=30 send_window=8-18',
  'warmwarden connect mailboxes.csv --dry-run',
  'warmwarden connect mailboxes.csv --account north',
  'warmwarden undo --since 1h --reason "the API counted bounces twice"',
  'warmwarden alerts list',
  'warmwarden alerts list --details',
  'warmwarden alerts list --severity critical --json',
  'warmwarden ack ID --reason "the provider is on it"',
  'warmwarden token new grafana --role scraper',
  'warmwarden token new bot --recipe-key --plan cloud --role viewer',
  'warmwarden breaker apply --reason "the bounces are real"',
  'warmwarden breaker discard --reason "the API counted bounces twice"',
  'warmwarden contest end a@b.example --reason "agreed with the client"',
  'warmwarden writes off --reason "migration" --for 24h',
  'warmwarden writes off --account acme --reason "key is shared today"',
  'warmwarden writes on --account acme   # ends exactly that stop',
  'warmwarden silence add --rule dns_failing --for 4h --reason "DNS moves"',
  'warmwarden silence list',
  'warmwarden silence expire ID',
  'warmwarden store check',
  'warmwarden store backup /backup/warmwarden-$(date +%F).db',
  'warmwarden store copy --from sqlite:./data/warmwarden.db',
  'warmwarden reload --dry-run   # what would change',
  'warmwarden reload',
  'warmwarden mcp',
  'warmwarden mcp --base-url https://recipes.example.com/v1',
  'warmwarden recipes list',
  'warmwarden recipes run at-risk --param bounces=3',
];
