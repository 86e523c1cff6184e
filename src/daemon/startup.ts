// How far the start has come: the page and the recipes are there before the operator commands, and ask here for them.
import type { CommandOutcome, DaemonCommands, ReloadRequest } from '../core/operator-command.ts';
import { failed } from '../operations/plan.ts';

export class Startup {
  #commands: DaemonCommands | null = null;

  /** null while the daemon is starting. */
  get commands(): DaemonCommands | null {
    return this.#commands;
  }

  /** Every part of the daemon runs: operator commands are carried out from now on. */
  finish(commands: DaemonCommands): void {
    this.#commands = commands;
  }

  /** Loads the configuration again; refuses while the daemon is starting. */
  async reload(request: ReloadRequest): Promise<CommandOutcome> {
    return this.#commands?.reload(request) ?? failed('The daemon is starting. Try again in a moment.');
  }
}
