// The warm-up service, simulated: a seeded fleet on a clock, served over HTTP as the API's document says.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, World } from '../../src/world/world.ts';
import { Measurements } from './checks.ts';
import { Faults } from './faults.ts';
import { Fleet } from './fleet.ts';
import { type Habits, withHabits } from './habits.ts';
import { createHttpServer, type LoggedRequest } from './http.ts';
import { callersOf, demoKey, type SimulatedKey } from './keys.ts';
import { createRouter } from './routes.ts';
import type { Scenario } from './scenario.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';
import { strike } from './trouble-route.ts';

export interface SimulatorOptions {
  /** Its clock is the fleet's. */
  readonly world: World;
  /** Measures the rate limit's minute; the fleet's clock when absent. A fast fleet is polled in real time. */
  readonly limiterClock?: Clock;
  readonly scenario: Scenario | ScenarioName;
  /** Habits of real services that the document does not describe. Default: none. */
  readonly habits?: Habits;
  /** Default 1. */
  readonly seed?: number;
  /** Default: `demoKey`, which may do everything. */
  readonly keys?: readonly SimulatedKey[];
  /** Default: a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Where incidents count from and before which history lies, epoch milliseconds. Default: the clock's now. */
  readonly startAt?: number;
  /** Called with each message that is sent to `/admin/inbox`. */
  readonly onMessage?: (body: string) => void;
}

/** A simulator that serves. */
export interface Simulator extends AsyncDisposable {
  /** The API's base_url, without /v1. */
  readonly url: string;
  /** The last 10,000 answered requests, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** The fleet behind the API: what people do in the service's own pages, and what befalls the mailboxes. */
  readonly fleet: Fleet;
  /** What is put in front of its answers. */
  readonly faults: Faults;
  /** Stops serving; open connections are cut. */
  close(): Promise<void>;
}

const maxLoggedRequests = 10_000;

/** Starts to serve. Rejects with the socket's error (EADDRINUSE, EACCES) when it can't listen. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { world, host = '127.0.0.1' } = options;
  const scenario: Scenario = typeof options.scenario === 'string' ? scenarios[options.scenario] : options.scenario;
  const startAt = options.startAt ?? world.clock.now();
  const fleet = new Fleet({
    clock: world.clock,
    seed: options.seed ?? 1,
    startAt,
    incidents: scenario.incidents,
  });
  for (const spec of scenario.fleet) fleet.add(spec);
  const faults = new Faults(scenario.faults ?? [], fleet, startAt);
  const keys = options.keys ?? [{ key: demoKey, permissions: ['read', 'write'], plan: 'pro' }];
  const requests: LoggedRequest[] = [];
  const measured = { dns: new Measurements(), blacklist: new Measurements() };
  const router = createRouter(fleet, world.clock, measured);
  const server = createHttpServer({
    world,
    callers: callersOf(keys, options.limiterClock ?? world.clock),
    router: options.habits ? withHabits(router, { fleet, clock: world.clock }, options.habits) : router,
    faults,
    befall: (incident) => fleet.addIncident(incident),
    strike: (request) => strike({ fleet, faults, checks: Object.values(measured) }, request),
    onMessage: options.onMessage ?? (() => {}),
    onRequest: (request) => {
      requests.push(request);
      if (requests.length > maxLoggedRequests) requests.shift();
    },
  });
  await listen(server, options.port ?? 0, host);
  const { port } = server.address() as AddressInfo;
  const close = () => stop(server);
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shownHost}:${port}`, requests, fleet, faults, close, [Symbol.asyncDispose]: close };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
