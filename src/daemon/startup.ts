// Progress of the start: the page and the recipes start before the operator commands, and get them from here.
import type { CommandOutcome, DaemonCommands, ReloadRequest } from '../core/operator-command.ts';
import { failed } from '../operations/plan.ts';

export class Startup {
  #commands: DaemonCommands | null = null;

  /** Commands of the daemon, or null while it starts. */
  get commands(): DaemonCommands | null {
    return this.#commands;
  }

  /** Accepts operator commands from now on, because every part of the daemon runs. */
  finish(commands: DaemonCommands): void {
    this.#commands = commands;
  }

  /** Loads the configuration again; refuses while the daemon is starting. */
  async reload(request: ReloadRequest): Promise<CommandOutcome> {
    return this.#commands?.reload(request) ?? failed('The daemon is starting. Try again in a moment.');
  }
}
