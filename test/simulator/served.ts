// A simulator on a moved clock, and requests to it over real HTTP.
import { request } from 'undici';
import { demoKey } from '../../tools/simulator/keys.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import type { Incident, MailboxSpec, Scenario } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { type SimulatorOptions, startSimulator } from '../../tools/simulator/simulator.ts';
import { silentWorld } from '../support/silent-world.ts';
import { expectNoSleepers } from '../support/sleepers.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape.
export type Json = any;

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Json;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** null sends no Authorization header. */
  readonly key?: string | null;
  readonly body?: unknown;
}

/** Asks over HTTP. A string body is sent as it is, anything else as JSON. */
async function ask(url: string, path: string, call: Call = {}): Promise<Reply> {
  const { method = call.body === undefined ? 'GET' : 'POST', key = demoKey, body } = call;
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const answer = await request(url + path, {
    method,
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
    ...(text !== undefined && { body: text }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.json() };
}

/** A scenario of the given mailboxes. */
export function scenarioOf(fleet: readonly MailboxSpec[], incidents: readonly Incident[] = []): Scenario {
  return { name: 'test', summary: 'made for a test', fleet, incidents };
}

export const ann: MailboxSpec = {
  email: 'ann@one.example',
  provider: 'google',
  mode: 'balanced',
  startedDaysAgo: 40,
};

export const bob: MailboxSpec = {
  email: 'bob@two.example',
  provider: 'zoho',
  mode: 'aggressive',
  startedDaysAgo: 14,
};

/** A simulator at a Tuesday's 08:30 UTC, its key allowed 100,000 requests a minute unless `keys` says otherwise. */
export async function serve(options: Partial<SimulatorOptions> = {}) {
  const clock = movedClock(options.startAt ?? scenarioStart);
  const simulator = await startSimulator({
    world: silentWorld(clock),
    scenario: scenarioOf([ann, bob]),
    keys: [{ key: demoKey, permissions: ['read', 'write'], plan: 'enterprise', requestsPerMinute: 100_000 }],
    ...options,
  });
  const idOf = (email: string) => simulator.fleet.find(email)?.id ?? '';
  return {
    clock,
    simulator,
    idOf,
    ask: (path: string, call?: Call) => ask(simulator.url, path, call),
    stats: async (email: string, days = 90) =>
      (await ask(simulator.url, `/v1/stats?mailbox_id=${idOf(email)}&days=${days}`)).body.stats as Json[],
    warmup: async (email: string) => (await ask(simulator.url, `/v1/warmup?mailbox_id=${idOf(email)}`)).body as Json,
    act: (email: string, action: string, config?: unknown) =>
      ask(simulator.url, '/v1/warmup', { body: { mailbox_id: idOf(email), action, config } }),
    async [Symbol.asyncDispose]() {
      await simulator.close();
      expectNoSleepers(clock);
    },
  };
}
