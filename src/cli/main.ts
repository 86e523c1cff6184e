// argv, exit code. Nothing else.
import { Command } from 'commander';
import { commandName } from '../world/command-name.ts';
import { version } from '../world/version.ts';
import { commandsFor } from './commands.ts';
import { withExamples } from './examples.ts';
import { exitMeanings, showError } from './terminal/command-error.ts';
import { watchOutputs } from './terminal/outputs.ts';
import { showsRequired } from './terminal/required-options.ts';
import { helpEntry } from './terminal/wrapped.ts';

/** Understood anywhere on the line. */
const debugOption = '--debug';

const exitCodes = `Exit codes:\n${exitMeanings.map(([code, meaning]) => helpEntry(`  ${code}  `, meaning)).join('\n')}`;

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
    .option('--debug', 'show the stack trace of an error')
    .showHelpAfterError(`Try \`${commandName} --help\`.`)
    .configureHelp(showsRequired)
    .addHelpText('after', `\n${exitCodes}`)
    .exitOverride();
  // Where an error is JSON, it is nothing else.
  if (showing.json) program.configureOutput({ writeErr: () => {} });
  for (const command of await commandsFor(words.slice(2)))
    program.addCommand(withExamples(inheriting(command, program)), { hidden: command.name().startsWith('_') });
  try {
    await program.parseAsync(words);
  } catch (error) {
    process.exitCode = showError(error, showing);
  }
}

/** With the parent's settings, also for the commands below it: none of them ends the process by itself. */
function inheriting(command: Command, parent: Command, words = `${parent.name()} ${command.name()}`): Command {
  command.copyInheritedSettings(parent).showHelpAfterError(`Try \`${words} --help\`.`);
  for (const inner of command.commands) inheriting(inner, command, `${words} ${inner.name()}`);
  return command;
}
