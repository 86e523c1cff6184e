// The recipes of a store: through its daemon while one listens, else without it. The daemon may come and go meanwhile.
import type { ToolSource } from './source.ts';

/**
 * Each request goes to the daemon when it listens at that moment, and otherwise to `alone`. `daemonListens` rejects when a daemon
 * has the store and says nothing: the request is then refused with the sentence that it rejects with.
 */
export function nearestSource(
  daemon: ToolSource,
  alone: ToolSource,
  daemonListens: () => Promise<boolean>,
): ToolSource {
  const nearest = () =>
    daemonListens().then(
      (listens) => (listens ? daemon : alone),
      ({ message }: Error) => refusing(message),
    );
  return {
    foreign: false,
    list: async () => (await nearest()).list(),
    start: async (recipe, parameters, apply) => (await nearest()).start(recipe, parameters, apply),
    ended: async (run, wait) => (await nearest()).ended(run, wait),
    rows: async (run, cursor, limit) => (await nearest()).rows(run, cursor, limit),
    cancel: async (run) => (await nearest()).cancel(run),
  };
}

function refusing(sentence: string): ToolSource {
  const refuse = async () => ({ ok: false, said: [sentence] }) as const;
  return { foreign: false, list: refuse, start: refuse, ended: refuse, rows: refuse, cancel: refuse };
}
