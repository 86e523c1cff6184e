// Starts the real server on a free loopback port over a fleet filled by hand, with everything else that it is handed.
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import type { MetricsSettings } from '../../src/metrics/fleet-series.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../src/web/server.ts';
import type { World } from '../../src/world/world.ts';
import { type MovedClock, movedClock } from '../../tools/simulator/moved-clock.ts';
import { undocumented } from '../support/api-document.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { silentWorld } from '../support/silent-world.ts';
import { expectNoSleepers } from '../support/sleepers.ts';
import { type Answer, sent } from './browser.ts';
import { now } from './example-fleet.ts';

export const metricsSettings: MetricsSettings = {
  policyOf: () => defaultPolicy,
  mailboxLabel: 'email',
  enforcing: () => true,
  tagsOf: () => [],
};

export function stillWorld(): World & { readonly clock: MovedClock } {
  return silentWorld(movedClock(now));
}

export function metricsOf(fleet: Fleet, world: World, changes: Partial<MetricsSettings> = {}): Metrics {
  return createMetrics({ fleet, version: '0.1.0', world, settings: { ...metricsSettings, ...changes } });
}

/** A scrape as text. */
export async function textOf(metrics: Metrics): Promise<string> {
  return new Response((await metrics.expose({ acceptEncoding: undefined, ready: true })).body()).text();
}

export interface Running extends RunningServer, AsyncDisposable {
  readonly metrics: Metrics;
  readonly world: ReturnType<typeof stillWorld>;
}

export async function serve(fleet: Fleet, changes: Partial<ServerOptions> = {}): Promise<Running> {
  const world = stillWorld();
  const metrics = metricsOf(fleet, world);
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    auth: () => 'none',
    trustedProxies: () => [],
    allowedHosts: () => [],
    publicUrl: null,
    pathPrefix: '',
    sessionKey: 'a secret of the store',
    fleet,
    metrics,
    world,
    ready: () => ({ ready: true, reasons: [] }),
    transitions: async () => [],
    deliveries: async () => [],
    timeZone: () => 'UTC',
    muteTimes: () => [],
    policyOf: () => defaultPolicy,
    operate: () => null,
    history: { commands: async () => [], guardActions: async () => [] },
    entries: { entriesOf: async () => ({ decisions: [], actions: [], changes: [] }) },
    recipes: changes.recipes ?? { service: recipeRunner(world), world, callerOf: () => null },
    version: '0.1.0',
    ...changes,
  });
  const close = async () => {
    await server.close();
    expectNoSleepers(world.clock);
  };
  return { ...server, metrics, world, [Symbol.asyncDispose]: close };
}

/** A request whose Host header may be anything, which fetch does not allow. Not decompressed. Fails on an answer that is not documented. */
export async function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const answer = await sent(url, headers, method);
  const { pathname } = new URL(url);
  const packed = answer.headers['content-encoding'] === 'gzip' && answer.body.length > 0;
  const text = (packed ? gunzipSync(answer.body) : answer.body).toString();
  const flat = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const { status } = answer;
  expect(undocumented({ method, path: pathname, status, headers: new Headers(flat), body: text })).toEqual([]);
  return answer;
}

/** The page of a server over this fleet, as a browser gets it. */
export async function read(fleet: Fleet, path = '/', changes: Partial<ServerOptions> = {}): Promise<string> {
  await using server = await serve(fleet, changes);
  const { status, body } = await ask(server.url + path, { accept: 'text/html' });
  expect(status).toBe(200);
  return body.toString();
}

/** The answer of the API, and its status. */
export async function jsonAt({ url }: Pick<Running, 'url'>, path: string) {
  const { body, status } = await ask(url + path);
  return { status, ...JSON.parse(body.toString()) };
}
