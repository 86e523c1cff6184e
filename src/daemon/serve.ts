// Serves the page, the metrics, the probes and the recipes over HTTP.
import type { Config } from '../config/config.ts';
import { callersOf } from '../web/recipes/recipe-routes.ts';
import { type RunningServer, startServer } from '../web/server.ts';
import type { Teardowns } from '../world/loop.ts';
import { version } from '../world/program.ts';
import type { DaemonRooms } from './open.ts';
import { readinessOf, type Startup } from './readiness.ts';

export interface Served {
  readonly url: string;
  readonly pageUrl: string;
  readonly renew: RunningServer['renew'];
  readonly answer: RunningServer['answer'];
}

/** Rejects with one sentence if the address is not available. */
export async function serve(
  { host, port, publicUrl, pathPrefix, tls }: Config['server'],
  { opened, startup }: { readonly opened: DaemonRooms; readonly startup: Startup },
  teardowns: Teardowns,
): Promise<Served> {
  const { world, live, store, fleet, metrics, recipes } = opened;
  const timeZone = () => live.config.alerts.rules.timeZone;
  const ready = () => readinessOf({ fleet, operate: startup.operate, zone: timeZone(), now: world.clock.now() });
  const server = await startServer({
    fleet,
    world,
    ready,
    timeZone,
    muteTimes: () => live.config.alerts.muteTimes,
    policyOf: (mailbox) => live.policyOf(mailbox),
    history: store.audit,
    entries: store,
    deliveries: (limit, before) => store.outbox.recentDeliveries(limit, before),
    transitions: (limit, before) => store.outbox.recentTransitions(limit, before),
    host,
    port,
    tls,
    publicUrl,
    pathPrefix,
    trustedProxies: () => live.config.server.trustedProxies,
    allowedHosts: () => live.config.server.allowedHosts,
    auth: () => live.config.server.auth,
    sessionKey: await store.sessionKey(),
    metrics,
    operate: () => startup.operate,
    recipes: { service: recipes.runner, world, callerOf: callersOf(() => live.config.recipes.apiKeys) },
    version,
  });
  teardowns.add('server', () => server.close());
  const pageUrl = publicUrl ?? `${server.url}${pathPrefix}`;
  return { url: server.url, pageUrl, answer: server.answer, renew: server.renew };
}
