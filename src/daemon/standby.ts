// Answers of a standby process, over HTTP and to commands.
import type { Config } from '../config/config.ts';
import { pathOf } from '../core/store-failure.ts';
import { failed } from '../operations/plan.ts';
import { startCommandSocket } from '../operations/socket.ts';
import { type StandbyState, standbyText, startStandbyServer } from '../web/server.ts';
import { Teardowns } from '../world/loop.ts';
import { version } from '../world/program.ts';
import type { World } from '../world/world.ts';

export class Standby {
  readonly #config: Pick<Config, 'server' | 'store'>;
  readonly #world: World;
  readonly #parts: Teardowns;
  #state: StandbyState | null = null;
  #starting: Promise<void> | null = null;

  constructor(config: Pick<Config, 'server' | 'store'>, world: World) {
    this.#config = config;
    this.#world = world;
    this.#parts = new Teardowns(world.log);
  }

  /** `active` holds the lease; `failure` says why the lease can't be read, or is null. */
  show(active: string, failure: Error | null): void {
    const { log } = this.#world;
    if (this.#state?.active !== active) log.info({ active }, 'standing by');
    this.#state = { active, failure: failure?.message ?? null };
    this.#starting ??= this.#start(() => this.#state ?? { active, failure: null });
  }

  /** Resolves when the address and the socket are free again. */
  async end(): Promise<void> {
    await this.#starting;
    await this.#parts.takeDown();
  }

  /** Serves, and never rejects: a process that can't show that it is a standby is one nonetheless. */
  async #start(state: () => StandbyState): Promise<void> {
    const { server, store } = this.#config;
    const { log } = this.#world;
    try {
      const running = await startStandbyServer(server, state);
      this.#parts.add('standby server', () => running.close());
      const questions = {
        json: async (name: string) =>
          name === 'version'
            ? { status: 200, body: { version } }
            : { status: 503, body: { message: standbyText(state()) } },
        recipes: () => Response.json({ message: standbyText(state()) }, { status: 503 }),
      };
      const refuse = async () =>
        failed(
          `${standbyText(state())} Nothing was done: run the command where that process runs, or with --url and a token.`,
        );
      const socket = await startCommandSocket(pathOf(store), refuse, questions);
      this.#parts.add('standby commands', () => socket.close());
    } catch (error) {
      log.error({ err: error }, 'this standby cannot be asked which process is active');
    }
  }
}
