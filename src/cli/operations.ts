// Commands that have the daemon change something. Each shows its effect first: it asks on a terminal, and needs --yes
// without one.
import { createInterface } from 'node:readline/promises';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { CommandOutcome } from '../core/operator-command.ts';
import { largestLimit, warmupModes } from '../core/policy.ts';
import { secondMs } from '../core/time.ts';
import {
  type OperationBody,
  type OperationName,
  settingNames,
  unknownSetting,
} from '../operations/command-requests.ts';
import { userName } from '../operations/socket.ts';
import { findStore } from './configuration.ts';
import {
  addressOf,
  askDaemon,
  type DaemonAddress,
  type DaemonOptions,
  daemonListens,
  withDaemonOptions,
} from './daemon.ts';
import { CommandError, exitDone } from './errors.ts';
import { configOption, duration, printJson, wholeNumber } from './options.ts';
import { printLines } from './terminal.ts';

export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

export interface ChangeOptions extends DaemonOptions, ConfirmOptions {
  readonly reason: string;
}

/** Fields that each change request carries: who asks, why, and whether the change is carried out. */
export interface Carried {
  readonly by: string;
  readonly reason: string;
  readonly dry_run: boolean;
  readonly plan: string | null;
}

export function withConfirmOptions(command: Command): Command {
  return command
    .option('--yes', 'do not ask; needed without a terminal')
    .option('--dry-run', 'show the effect and change nothing');
}

export function withChangeOptions(command: Command): Command {
  return withConfirmOptions(withDaemonOptions(command)).addOption(
    new Option('--reason <text>', 'why, for the audit log').default('', 'none'),
  );
}

/** Has the daemon carry out an operation: shows the effect, asks, prints the outcome and sets the exit code. */
export async function operate<Name extends OperationName>(
  options: ChangeOptions,
  name: Name,
  body: Omit<OperationBody<Name>, keyof Carried>,
): Promise<void> {
  await change(options, (daemon, carried) => askDaemon(daemon, name, { ...body, ...carried } as OperationBody<Name>));
}

/** Like `operate`, but `send` carries out the operation. */
export async function change(
  options: ChangeOptions,
  send: (daemon: DaemonAddress, carried: Carried) => Promise<CommandOutcome>,
): Promise<void> {
  const { yes = false, dryRun = false, reason, json = false } = options;
  const address = addressOf(options);
  const ask = (isDry: boolean, plan: string | null = null) =>
    send(address, { by: userName(), reason, dry_run: isDry, plan });
  let outcome = await ask(dryRun || !yes);
  // Asks again if the effect has changed since the question.
  while (!dryRun && (outcome.result === 'planned' || (!yes && outcome.result === 'changed'))) {
    mustBeConfirmed(options);
    if (!(await agrees(outcome.messages))) throw declined();
    outcome = await ask(false, outcome.plan ?? null);
  }
  report(outcome, json);
}

/** Prints a successful outcome. Throws a CommandError with the sentences of any other outcome. */
function report({ result, messages, counts }: CommandOutcome, json: boolean): void {
  if (result === 'changed' || result === 'failed' || result === 'invalid')
    throw new CommandError(result, messages.join('\n'));
  process.exitCode = exitDone;
  if (json) return void printJson('pause', { result, messages, ...(counts && { counts }) });
  printLines([...messages, ...(result === 'planned' ? ['This was a dry run: nothing was done.'] : [])]);
}

/** Throws a CommandError if the change can't be confirmed. */
export function mustBeConfirmed({ yes = false, dryRun = false }: ConfirmOptions): void {
  if (yes || dryRun || process.stdin.isTTY === true) return;
  throw new CommandError(
    'confirmation_needed',
    'Nothing was done: there is no terminal to ask on, so add --yes to do it, or --dry-run to see what it would do.',
  );
}

export function declined(): CommandError {
  return new CommandError('declined', 'Nothing was done.');
}

/** Asks the person at the terminal, on stderr, since a program may read the output. */
export async function agrees(effect: readonly string[]): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const question = [...effect, 'Do you want to continue? [y/N] '].join('\n');
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } catch (error) {
    // Ctrl-C and Ctrl-D mean no.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    process.stderr.write('\n');
    return false;
  } finally {
    terminal.close();
  }
}

function onMailbox(name: string, description: string): Command {
  return withChangeOptions(new Command(name))
    .description(description)
    .argument('<mailbox>', 'its address, its id, or ACCOUNT/ADDRESS');
}

function operatingOn(name: string, operation: 'pause' | 'resume' | 'contest-end', description: string): Command {
  return onMailbox(name, description).action((mailbox: string, options: ChangeOptions) =>
    operate(options, operation, { mailbox }),
  );
}

type SettingsBody = Pick<OperationBody<'set'>, 'reply_rate' | 'send_window'>;

/** Settings with one more, as it is typed: `reply_rate=30`. */
function settingIn(typed: string, before: SettingsBody): SettingsBody {
  const [, name = typed, value = ''] = /^([^=]*)=(.*)$/s.exec(typed) ?? [];
  if (!settingNames.includes(name)) throw new InvalidArgumentError(`${name}: ${unknownSetting(name)}.`);
  if (value === '') throw new InvalidArgumentError(`Write ${name}=VALUE.`);
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is named twice.`);
  return { ...before, [name]: name === 'reply_rate' ? wholeNumber(0, 100)(value) : value };
}

const heldApi = 'the API, as the message names it; needed only while those of several APIs hold actions';

/** Commands that only have the daemon change something, and the health check of a container. */
export const operationCommands = {
  pause: () => operatingOn('pause', 'pause', 'pause the warm-up of a mailbox; campaign sending continues'),
  resume: () => operatingOn('resume', 'resume', 'resume the warm-up of a mailbox, no matter who paused it'),
  mode: () =>
    onMailbox('mode', 'set the warm-up mode of a mailbox')
      .addArgument(new Argument('<mode>', 'the mode').choices(warmupModes))
      .action((mailbox: string, mode: (typeof warmupModes)[number], options: ChangeOptions) =>
        operate(options, 'mode', { mailbox, mode }),
      ),
  limit: () =>
    onMailbox('limit', 'set the target daily limit of a mailbox, at most what its mode allows')
      .addArgument(new Argument('<emails>', 'how many emails a day').argParser(wholeNumber(1, largestLimit)))
      .action((mailbox: string, limit: number, options: ChangeOptions) =>
        operate(options, 'limit', { mailbox, limit }),
      ),
  set: () =>
    onMailbox('set', 'change settings of a warm-up other than mode and daily limit')
      .argument('<settings...>', 'such as reply_rate=30 send_window=8-18', (text: string, before?: SettingsBody) =>
        settingIn(text, before ?? {}),
      )
      .action((mailbox: string, settings: SettingsBody, options: ChangeOptions) =>
        operate(options, 'set', { mailbox, ...settings }),
      ),
  undo: () =>
    withChangeOptions(new Command('undo'))
      .description(
        'undo what Warmwarden did by itself, and daily limits and settings changed with `limit` and `set`, unless others have changed them since',
      )
      .requiredOption('--since <duration>', 'how far back, for example 1h', duration)
      .action((options: ChangeOptions & { readonly since: number }) =>
        operate(options, 'undo', { since_seconds: options.since / secondMs }),
      ),
  breaker: () =>
    new Command('breaker')
      .description(
        'decide about the actions that the circuit breaker holds, when much of the fleet would change at once',
      )
      .addCommand(
        withChangeOptions(new Command('apply'))
          .description('carry out the held actions where writes are on')
          .argument('[api]', heldApi)
          .action((api: string | undefined, options: ChangeOptions) => operate(options, 'breaker-apply', { api })),
      )
      .addCommand(
        withChangeOptions(new Command('discard'))
          .description('drop the held actions: the data is wrong; on these mailboxes only bounces from now on count')
          .argument('[api]', heldApi)
          .action((api: string | undefined, options: ChangeOptions) => operate(options, 'breaker-discard', { api })),
      ),
  contest: () => {
    const does = 'let Warmwarden act again on a mailbox where others reversed its changes';
    return new Command('contest')
      .description('let Warmwarden act again on mailboxes where others reversed its changes')
      .addCommand(operatingOn('end', 'contest-end', does));
  },
  ack: () =>
    withChangeOptions(new Command('ack'))
      .description('acknowledge an alert: no reminders and no escalation of it until it ends or gets worse')
      .argument('<alert>', 'its id, as `alerts list` shows it')
      .action((alert: string, options: ChangeOptions) => operate(options, 'acknowledge', { alert })),
  reload: () =>
    withChangeOptions(new Command('reload'))
      .description('reload the configuration of the running daemon; a file with problems changes nothing')
      .option(
        '--force',
        'accept a file that removes more than 20% of the guarded mailboxes, or every channel except recipes; asks first',
      )
      .action(({ force = false, ...options }: ChangeOptions & { readonly force?: boolean }) =>
        // The daemon refuses a file that looks like a mistake, so only --force needs a confirmation.
        operate(force ? options : { ...options, yes: true }, 'reload', { force }),
      ),
  /** Uses the socket, so it does not depend on the addresses, TLS and tokens in `server`. */
  __alive: () =>
    new Command('__alive').addOption(configOption()).action(async ({ config }: { readonly config: string }) => {
      // A standby is alive, too.
      if (!(await daemonListens(findStore(config)))) throw new CommandError('failed', 'No daemon answers.');
    }),
};
