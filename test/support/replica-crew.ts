// Several real daemons that share accounts through one PostgreSQL, each by a proxy of its own: they can be killed, frozen, cut
// off and restarted, and the database says who has what.
import { setTimeout as sleep } from 'node:timers/promises';
import { symptoms } from '../../src/alerts/grouping.ts';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { OtherApi } from './other-api.ts';
import type { TestPostgres } from './postgres.ts';
import { CuttingProxy } from './postgres-proxy.ts';
import { Running, runDaemon, Workplace } from './process.ts';
import { Receiver } from './receiver.ts';
import { until } from './until.ts';

const everyTwoSeconds = '*/2 * * * * *';
const routes = ['health', 'mailboxes', 'stats', 'warmup', 'mailbox', 'dns', 'blacklist'];
/** With each: one mailbox more or less is no jump of the fleet. */
const steadyMailboxes = 12;
const beyondAll = 10_000;
/** Several crews share a small machine. */
const lookEveryMs = 250;

/** A place for one replica at a time: its configuration, and its way to the database. */
export interface Slot {
  readonly workplace: Workplace;
  readonly proxy: CuttingProxy;
  readonly config: string;
  readonly env: NodeJS.ProcessEnv;
  daemon: Running;
  /** Where the page of this daemon is, once it is on duty. */
  url: Promise<string>;
}

export interface CrewOptions {
  readonly headroom?: string;
  /** Keys of `alerts.rules`. */
  readonly rules?: object;
  /** Keys of `poll`; without: everything every two seconds. */
  readonly poll?: object;
  /** What is in the environment of each. */
  readonly envOf?: (index: number) => NodeJS.ProcessEnv;
}

/** Keys and channel are the crew's own; `place`: where the database is for this replica. */
function fileFor(
  accounts: ReadonlyMap<string, OtherApi>,
  receiver: Receiver,
  place: PostgresPlace,
  { headroom = '0%', rules = {}, poll = {} }: CrewOptions,
): object {
  return {
    accounts: [...accounts].map(([name, api]) => ({
      name,
      base_url: api.url,
      api_key: [...api.keys.keys()][0],
      requests_per_minute: 1_200,
      headroom,
    })),
    poll: { ...Object.fromEntries(routes.map((route) => [route, everyTwoSeconds])), ...poll },
    // So many breaches an hour would be bad data anywhere else.
    guard: { breaker: { min_mailboxes: beyondAll, max_mailboxes: beyondAll } },
    alerts: {
      channels: [{ name: 'hook', type: 'webhook', url: receiver.hookUrl, secret: receiver.secret }],
      group_wait: '0s',
      group_interval: '1s',
      // What they tell waits half an hour for an incident.
      rules: { ...Object.fromEntries(symptoms.map((rule) => [rule, { enabled: false }])), ...rules },
    },
    store: { url: `postgres://${place.user}@${place.host}:${place.port}/${place.database}`, tls: 'off' },
    server: { listen: '127.0.0.1:0' },
    log: { level: 'info' },
  };
}

export class ReplicaCrew implements AsyncDisposable {
  readonly accounts: ReadonlyMap<string, OtherApi>;
  readonly receiver: Receiver;
  readonly slots: Slot[] = [];
  #postgres: TestPostgres;
  readonly #place: PostgresPlace;

  private constructor(
    accounts: ReadonlyMap<string, OtherApi>,
    receiver: Receiver,
    [postgres, place]: [TestPostgres, PostgresPlace],
  ) {
    this.accounts = accounts;
    this.receiver = receiver;
    this.#postgres = postgres;
    this.#place = place;
  }

  static async start(
    postgres: TestPostgres,
    replicas: number,
    names: readonly string[],
    options: CrewOptions = {},
  ): Promise<ReplicaCrew> {
    const accounts = new Map<string, OtherApi>();
    for (const name of names) {
      const api = await OtherApi.start();
      api.addKey();
      for (let index = 1; index <= steadyMailboxes; index += 1) api.add(`steady${index}@${name}.example`);
      accounts.set(name, api);
    }
    const crew = new ReplicaCrew(accounts, await Receiver.start(), [postgres, await postgres.database()]);
    for (let index = 0; index < replicas; index += 1) {
      const proxy = await CuttingProxy.before(crew.#place);
      const workplace = new Workplace();
      const config = workplace.configure(fileFor(accounts, crew.receiver, proxy.place, options));
      const env = options.envOf?.(index) ?? {};
      const daemon = runDaemon(config, env);
      const slot = { workplace, proxy, config, env, daemon, url: daemon.onDuty() };
      crew.slots.push(slot);
    }
    await crew.untilShared();
    return crew;
  }

  /** From now on the address of the database leads to this server. Connections that are there stay. */
  lead(postgres: TestPostgres): void {
    this.#postgres = postgres;
    for (const { proxy } of this.slots) proxy.lead(postgres.place(this.#place));
  }

  /** The account of this name. */
  api(account: string): OtherApi {
    const api = this.accounts.get(account);
    if (!api) throw new Error(`no account ${account}`);
    return api;
  }

  /** A new process where the one before has ended, or is about to. */
  restart(slot: Slot): void {
    slot.url = onDuty(slot);
    // Of one that is killed before, nobody asks.
    slot.url.catch(() => {});
  }

  /** `warmwarden ...args` by a person who reaches this replica, to its end: whether it is done, and what was said. */
  async command(slot: Slot, ...args: readonly string[]): Promise<{ readonly isDone: boolean; readonly said: string }> {
    await using command = new Running([...args, '--config', slot.config]);
    const { code } = await command.ended;
    return { isDone: code === 0, said: command.output };
  }

  get database(): string {
    return this.#place.database;
  }

  query<Row extends object>(text: string): Promise<readonly Row[]> {
    return this.#postgres.query(text, this.#place.database);
  }

  /** The slot of whoever has each scope; a scope of one that is gone is left out. */
  async owners(): Promise<ReadonlyMap<string, Slot>> {
    const rows = await this.query<{ scope: string; name: string }>(
      'SELECT l.scope, r.name FROM warmwarden.leases l JOIN warmwarden.replicas r ON r.id = l.owner WHERE NOT l.given',
    );
    const slotOf = (name: string) =>
      this.slots.find(({ daemon }) => !daemon.over && name.startsWith(`process ${daemon.pid} on `));
    return new Map(
      rows.flatMap(({ scope, name }) => {
        const slot = slotOf(name);
        return slot ? [[scope, slot]] : [];
      }),
    );
  }

  /** Until each account, and all else, has one living replica, which says so itself, and nobody else does. */
  async untilShared(): Promise<void> {
    const names = [...this.accounts.keys()].toSorted();
    const scopes = [...names.map((name) => `account:${name}`), 'clock', 'notify'].join();
    for (const { url } of this.slots) await url;
    await until('each account to have one living replica', async () => {
      await sleep(lookEveryMs);
      const owners = await this.owners();
      if ([...owners.keys()].toSorted().join() !== scopes) return false;
      const shares = await Promise.all(this.slots.map(guardedBy));
      return shares.flat().toSorted().join() === names.join();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { daemon, proxy, workplace } of this.slots) {
      await daemon[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      workplace[Symbol.dispose]();
    }
    for (const api of this.accounts.values()) await api[Symbol.asyncDispose]();
    await this.receiver[Symbol.asyncDispose]();
  }
}

/** Starts the daemon of the slot, and as a service manager does once more where it could not reach the database; its address. */
async function onDuty(slot: Slot): Promise<string> {
  for (;;) {
    const daemon = runDaemon(slot.config, slot.env);
    slot.daemon = daemon;
    try {
      return await daemon.onDuty();
    } catch (error) {
      if (!/can't be opened|does not answer/.test(daemon.output)) throw error;
      await sleep(lookEveryMs);
    }
  }
}

/** The accounts that a daemon guards, as its metrics say. */
async function guardedBy({ url }: Slot): Promise<readonly string[]> {
  const metrics = await (await fetch(`${await url}/metrics`)).text();
  return [...metrics.matchAll(/^warmwarden_account_guarded\{account="(\w+)"\} 1$/gm)].map(([, name = '']) => name);
}
