import { RecipeApi } from '../../src/recipes/client/client.ts';
import { serveTools } from '../../src/recipes/mcp/tool-server.ts';
import { type Clock, systemClock } from '../../src/world/world.ts';
import { pairedRpc } from './bare-rpc.ts';
import { RecipeHost } from './recipe-service.ts';
import { silentWorld } from './silent-world.ts';

/** `foreign`: the service is not the user's own daemon. */
export async function served(clock: Clock = systemClock(), foreign = true) {
  const host = await RecipeHost.start();
  const world = silentWorld(clock);
  const api = new RecipeApi({ baseUrl: host.baseUrl, apiKey: host.key }, world);
  const { rpc, wire } = pairedRpc();
  const noted: string[] = [];
  const note = (text: string) => noted.push(text);
  const closed = serveTools(wire, { service: { api, foreign }, version: '1', note }, world);
  const end = async () => {
    rpc.end();
    await closed;
    await api.close();
    await host[Symbol.asyncDispose]();
  };
  return { host, rpc, noted, [Symbol.asyncDispose]: end };
}

/** With a client that has said hello. */
export async function connected(...how: Parameters<typeof served>) {
  const service = await served(...how);
  await service.rpc.initialize();
  return service;
}
