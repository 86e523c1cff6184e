// One table: how a command can end, the exit code that says so, and the `code` of its error in JSON. Every command follows it.

export const exitDone = 0;
export const exitFailed = 1;
/** Usage or configuration is wrong, or a name is unknown. */
const exitUsage = 2;
/** The store belongs to a newer version. */
const exitNewerStore = 3;

/** What each exit code means, as `--help` and docs/cli.md say it. */
export const exitMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [exitDone, 'done, also when there was nothing to do'],
  [exitFailed, 'failed, or mailboxes are not guarded'],
  [exitUsage, 'usage or configuration is wrong, or a mailbox, channel, recipe or silence is unknown'],
  [exitNewerStore, 'the store belongs to a newer version'],
];

/** The kinds of error: what each means, and its exit code. */
export const errorKinds = {
  usage: { exitCode: exitUsage, meaning: 'an option, an argument or a command is wrong or missing' },
  configuration: { exitCode: exitUsage, meaning: 'the configuration file has problems; `problems` lists them' },
  unknown_name: { exitCode: exitUsage, meaning: 'no mailbox, channel, recipe or silence has this name' },
  confirmation_needed: { exitCode: exitUsage, meaning: 'a change needs `--yes` where there is no terminal' },
  invalid: {
    exitCode: exitUsage,
    meaning:
      'the daemon refused the request: it names something unknown, makes no sense, or has a configuration with problems',
  },
  changed: { exitCode: exitFailed, meaning: 'the situation changed after the question; nothing was done' },
  declined: { exitCode: exitFailed, meaning: 'the person at the terminal said no' },
  no_daemon: { exitCode: exitFailed, meaning: 'no daemon answers' },
  unauthorized: { exitCode: exitFailed, meaning: 'the daemon does not accept the token' },
  no_store: { exitCode: exitFailed, meaning: 'there is no store, or it cannot be used' },
  newer_store: { exitCode: exitNewerStore, meaning: 'the store belongs to a newer version' },
  failed: { exitCode: exitFailed, meaning: 'it was not done, or not all of it' },
} as const;

export type ErrorKind = keyof typeof errorKinds;
