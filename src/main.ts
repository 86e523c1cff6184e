// argv, exit code. Nothing else.
import { Command, CommanderError } from 'commander';
import { backtestCommand } from './commands/backtest.ts';
import { breakerCommand } from './commands/breaker.ts';
import { channelsCommand } from './commands/channels.ts';
import { checkCommand } from './commands/check.ts';
import { completionCommand } from './commands/completion.ts';
import { contestCommand } from './commands/contest.ts';
import { decideCommand } from './commands/decide.ts';
import { demoCommand } from './commands/demo.ts';
import { withExamples } from './commands/examples.ts';
import { exitDone, exitFailed, exitUsage } from './commands/exit-codes.ts';
import { explainCommand } from './commands/explain.ts';
import { keysCommand } from './commands/keys.ts';
import { modeCommand, pauseCommand, resumeCommand, undoCommand } from './commands/mailbox-commands.ts';
import { mcpCommand } from './commands/mcp.ts';
import { watchOutputs } from './commands/outputs.ts';
import { recipesCommand } from './commands/recipes.ts';
import { reloadCommand } from './commands/reload.ts';
import { runCommand } from './commands/run.ts';
import { silenceCommand } from './commands/silence.ts';
import { simulatorCommand } from './commands/simulator.ts';
import { statusCommand } from './commands/status.ts';
import { writesCommand } from './commands/writes.ts';
import { version } from './version.ts';

/** Understood anywhere on the line. */
const debugOption = '--debug';

const exitCodes = 'Exit codes: 0 done; 1 failed; 2 usage or configuration; 3 the store belongs to a newer version.';

/** Runs the command line, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  watchOutputs();
  const program = new Command('warmwarden')
    .description('Guards the warm-up of email mailboxes: watches bounces, acts before reputation burns, and says why.')
    .version(version)
    .option('--debug', 'show where in the program an error came from')
    .showHelpAfterError('Try `warmwarden --help`.')
    .addHelpText('after', `\n${exitCodes}`)
    .exitOverride();
  const commands = [
    runCommand(),
    checkCommand(),
    channelsCommand(),
    demoCommand(),
    simulatorCommand(),
    decideCommand(),
    backtestCommand(),
    statusCommand(),
    explainCommand(),
    pauseCommand(),
    resumeCommand(),
    modeCommand(),
    undoCommand(),
    keysCommand(),
    mcpCommand(),
    recipesCommand(),
    breakerCommand(),
    contestCommand(),
    writesCommand(),
    silenceCommand(),
    reloadCommand(),
    completionCommand(() => program.commands),
  ];
  for (const command of commands) program.addCommand(withExamples(inheriting(command, program)));
  try {
    await program.parseAsync(argv.filter((word) => word !== debugOption));
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
