// A command as one replica passes it to another: its name and its request, as the commands of a daemon take them.
import type { CommandOutcome, DaemonCommands } from '../core/operator-command.ts';
import type { Membership, Scope } from '../store/replicas/membership.ts';
import type { StoredRequests } from '../store/requests.ts';
import type { World } from '../world/world.ts';
import type { News } from './audit.ts';
import { invalid } from './plan.ts';

export type CommandKey = keyof DaemonCommands;
export type RequestOf<Key extends CommandKey> = Parameters<DaemonCommands[Key]>[0];

export type PassedCommand<Key extends CommandKey = CommandKey> = {
  readonly [One in Key]: { readonly name: One; readonly request: RequestOf<One> };
}[Key];

/** Whom a command is for: whoever does this work, or one replica. */
export type Target = Scope | `replica:${string}`;

/** What asks and what answers have in common. */
export interface PassingRooms {
  readonly world: World;
  readonly membership: Membership;
  readonly requests: StoredRequests;
  /** Of requests. */
  readonly news: News;
}

/** Without a notification, news of a request is seen within this. */
export const lookEveryMs = 1_000;

type Callable = { readonly [Key in CommandKey]: (request: RequestOf<Key>) => Promise<CommandOutcome> };

export async function carryOutPassed<Key extends CommandKey>(
  { name, request }: PassedCommand<Key>,
  commands: Callable,
): Promise<CommandOutcome> {
  // Of another version, which knows more.
  if (!Object.hasOwn(commands, name)) return invalid(`This replica has no command ${name}: it runs another version.`);
  return commands[name](request);
}
