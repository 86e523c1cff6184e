// Progress of the start: the page and the recipes start before the operator commands, and get them from here.
import type { CommandOutcome, Operate, ReloadRequest } from '../core/operator-command.ts';
import { failed } from '../operations/plan.ts';

export class Startup {
  #operate: Operate | null = null;

  /** Operator commands of the daemon, or null while it starts. */
  get operate(): Operate | null {
    return this.#operate;
  }

  /** Accepts operator commands from now on, because every part of the daemon runs. */
  finish(operate: Operate): void {
    this.#operate = operate;
  }

  /** Loads the configuration again; refuses while the daemon is starting. */
  async reload(request: ReloadRequest): Promise<CommandOutcome> {
    return this.#operate?.('reload', request) ?? failed('The daemon is starting. Try again in a moment.');
  }
}
