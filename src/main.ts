// argv, exit code. Nothing else.
import { Command, CommanderError } from 'commander';
import { commandName } from './command-name.ts';
import { commandsFor } from './commands/commands.ts';
import { withExamples } from './commands/examples.ts';
import { exitDone, exitFailed, exitUsage } from './commands/exit-codes.ts';
import { watchOutputs } from './commands/outputs.ts';
import { version } from './version.ts';

/** Understood anywhere on the line. */
const debugOption = '--debug';

const exitCodes = 'Exit codes: 0 done; 1 failed; 2 usage or configuration; 3 the store belongs to a newer version.';

/** Runs the command line, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  watchOutputs();
  const program = new Command(commandName)
    .description('Guards the warm-up of email mailboxes: watches bounces, acts before reputation burns, and says why.')
    .version(version)
    .option('--debug', 'show where in the program an error came from')
    .showHelpAfterError(`Try \`${commandName} --help\`.`)
    .addHelpText('after', `\n${exitCodes}`)
    .exitOverride();
  const words = argv.filter((word) => word !== debugOption);
  for (const command of await commandsFor(words.slice(2)))
    program.addCommand(withExamples(inheriting(command, program)));
  try {
    await program.parseAsync(words);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exitDone : exitUsage;
      return;
    }
    const said = error instanceof Error ? error : new Error(String(error));
    process.stderr.write(`warmwarden: ${argv.includes(debugOption) ? said.stack : said.message}\n`);
    process.exitCode = exitFailed;
  }
}

/** With the parent's settings, also for the commands below it: none of them ends the process by itself. */
function inheriting(command: Command, parent: Command, words = `${parent.name()} ${command.name()}`): Command {
  command.copyInheritedSettings(parent).showHelpAfterError(`Try \`${words} --help\`.`);
  for (const inner of command.commands) inheriting(inner, command, `${words} ${inner.name()}`);
  return command;
}
