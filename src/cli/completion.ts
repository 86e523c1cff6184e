// `warmwarden completion bash|zsh|fish`: a script with which the shell completes commands and options.
import { Argument, Command } from 'commander';
import { bashScript, fishScript, type Grammar, zshScript } from './completion/scripts.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof scripts;

/** `all`: the commands to complete; asked when the script is written. */
export function completionCommand(all: () => Promise<readonly Command[]>): Command {
  const shells = Object.keys(scripts);
  return new Command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(shells))
    .action(async (shell: Shell) => void process.stdout.write(completionText(shell, await all())));
}

/** The script of a shell. */
export function completionText(shell: Shell, all: readonly Command[]): string {
  return scripts[shell](grammarOf(all));
}

/** Commands that shells ask are not completed. */
function grammarOf(commands: readonly Command[]): Grammar {
  const shown = commands.filter((command) => !command.name().startsWith('_'));
  const below = allBelow(shown);
  const options = below.flatMap(({ command }) => command.options);
  const choices = new Map<string, readonly string[]>();
  for (const { long, argChoices } of options) {
    if (long && argChoices) choices.set(long, [...new Set([...(choices.get(long) ?? []), ...argChoices])]);
  }
  const files = options.filter(({ flags }) => /<(file|path)>/.test(flags)).flatMap(({ long }) => long ?? []);
  return {
    words: new Map([
      ['', shown.map((command) => command.name())],
      ...below.map(({ path, command }) => [path, wordsOf(command)] as const),
    ]),
    choices,
    files: [...new Set(files)],
  };
}

interface Placed {
  /** The words of the command. */
  readonly path: string;
  readonly command: Command;
}

function allBelow(commands: readonly Command[], before = ''): readonly Placed[] {
  return commands.flatMap((command) => {
    const path = `${before}${command.name()}`;
    return [{ path, command }, ...allBelow(command.commands, `${path} `)];
  });
}

/** What may follow a command: its commands, its options, the choices of its arguments. */
function wordsOf(command: Command): readonly string[] {
  const inner = command.commands.map((one) => one.name());
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return [...inner, ...choices, ...command.options.flatMap(({ long }) => long ?? []), '--help'];
}
