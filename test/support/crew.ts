// Several real daemons on one PostgreSQL, each by a proxy of its own: they can be killed, frozen, cut off and restarted, and the
// database says which is active. One that loses its lease ends, and is started again as a service manager does.
import { setTimeout as sleep } from 'node:timers/promises';
import { alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { everyTwoSeconds } from './guarded.ts';
import { OtherApi, type OtherMailbox } from './other-api.ts';
import type { TestPostgres } from './postgres.ts';
import { CuttingProxy } from './postgres-proxy.ts';
import { Running, runDaemon, Workplace } from './process.ts';
import { Receiver } from './receiver.ts';
import { until } from './until.ts';

/** With each: one mailbox more or less is no jump of the fleet. */
const steadyMailboxes = 12;
const beyondAll = 10_000;
/** Kubernetes restarts a daemon that ends, so that it does not restart itself; here the crew does. */
const supervisedEnv = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
/** Several crews share a small machine. */
const lookEveryMs = 250;
export const storePassword = 'hush-of-postgres';

/** A place for one replica at a time: its configuration, and its way to the database. */
export interface Slot {
  readonly workplace: Workplace;
  readonly proxy: CuttingProxy;
  readonly config: string;
  daemon: Running;
  /** Nothing starts it again. */
  isEnding: boolean;
}

/** Keys and channel are the crew's own; `place`: where the database is for this replica. */
function fileFor(accounts: ReadonlyMap<string, OtherApi>, receiver: Receiver, place: PostgresPlace): object {
  return {
    accounts: [...accounts].map(([name, api]) => ({
      name,
      base_url: api.url,
      api_key: [...api.keys.keys()][0],
      requests_per_minute: 1_200,
      headroom: '0%',
    })),
    poll: everyTwoSeconds,
    // So many breaches an hour would be bad data anywhere else.
    guard: { breaker: { min_mailboxes: beyondAll, max_mailboxes: beyondAll } },
    alerts: {
      channels: [{ name: 'hook', type: 'webhook', url: receiver.hookUrl, secret: receiver.secret }],
      group_wait: '0s',
      group_interval: '1s',
      // What they tell waits half an hour for an incident.
      rules: Object.fromEntries(
        alertRules.filter((rule) => ruleBook[rule].isSymptom).map((rule) => [rule, { enabled: false }]),
      ),
    },
    store: {
      url: `postgres://${place.user}@${place.host}:${place.port}/${place.database}`,
      password: storePassword,
      tls: 'off',
    },
    server: { listen: '127.0.0.1:0' },
    log: { level: 'info' },
  };
}

export class Crew implements AsyncDisposable {
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

  static async start(postgres: TestPostgres, processes: number, names: readonly string[]): Promise<Crew> {
    const accounts = new Map<string, OtherApi>();
    for (const name of names) {
      const api = await OtherApi.start();
      api.addKey();
      for (let index = 1; index <= steadyMailboxes; index += 1) api.add(`steady${index}@${name}.example`);
      accounts.set(name, api);
    }
    const crew = new Crew(accounts, await Receiver.start(), [postgres, await postgres.database()]);
    for (let index = 0; index < processes; index += 1) {
      const proxy = await CuttingProxy.before(crew.#place);
      const workplace = new Workplace();
      const config = workplace.configure(fileFor(accounts, crew.receiver, proxy.place));
      const slot: Slot = { workplace, proxy, config, daemon: runDaemon(config, supervisedEnv), isEnding: false };
      void supervised(slot);
      crew.slots.push(slot);
    }
    await crew.untilActive();
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

  /** How often a mailbox was changed, and how often people were told so. */
  acted(account: string, mailbox: OtherMailbox) {
    const about = this.receiver.alerts().filter((alert) => alert.mailbox === mailbox.email);
    const told = about.filter(({ rule }) => rule === 'guard_acted').length;
    return { posts: this.api(account).posts(mailbox).length, told };
  }

  async untilActed(account: string, mailbox: OtherMailbox): Promise<void> {
    await until(`${mailbox.email} to be acted upon and told`, () => {
      const { posts, told } = this.acted(account, mailbox);
      return posts > 0 && told > 0;
    });
  }

  /** A new process where the one before has ended, or is about to. */
  restart(slot: Slot): void {
    slot.daemon = runDaemon(slot.config, supervisedEnv);
    void supervised(slot);
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

  /** The slot of the active process, or null if it is gone. */
  async active(): Promise<Slot | null> {
    // The first process that starts makes the table.
    const rows = this.query<{ holder: string | null }>('SELECT holder FROM warmwarden.lease');
    const [lease] = await rows.catch(() => []);
    const isIts = ({ daemon }: Slot) => !daemon.over && lease?.holder?.startsWith(`process ${daemon.pid} on `);
    return this.slots.find(isIts) ?? null;
  }

  /** The active process and a standby. */
  async both(): Promise<{ readonly active: Slot; readonly standby: Slot }> {
    const active = await this.active();
    const standby = this.slots.find((slot) => slot !== active);
    if (!active || !standby) throw new Error('an active process and a standby');
    return { active, standby };
  }

  /** Until one process is active and guards every account; the slot of it. */
  async untilActive(): Promise<Slot> {
    const names = [...this.accounts.keys()].toSorted().join();
    let active: Slot | null = null;
    await until('one active process that guards every account', async () => {
      await sleep(lookEveryMs);
      active = await this.active();
      return active !== null && (await guardedBy(active)).toSorted().join() === names;
    });
    if (active === null) throw new Error('no active process');
    return active;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const slot of this.slots) {
      const { daemon, proxy, workplace } = slot;
      slot.isEnding = true;
      await daemon[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      workplace[Symbol.dispose]();
    }
    for (const api of this.accounts.values()) await api[Symbol.asyncDispose]();
    await this.receiver[Symbol.asyncDispose]();
  }
}

/** Starts the daemon of the slot again when it ended with an error, as a service manager does. */
async function supervised(slot: Slot): Promise<void> {
  for (;;) {
    const { code } = await slot.daemon.ended;
    if (slot.isEnding || code !== 1) return;
    await sleep(lookEveryMs);
    if (slot.isEnding) return;
    slot.daemon = runDaemon(slot.config, supervisedEnv);
  }
}

/** The accounts that a daemon guards, as its metrics say; none of a standby, or of a process that ends. */
async function guardedBy({ daemon }: Slot): Promise<readonly string[]> {
  const url = await daemon.onDuty();
  const metrics = await fetch(`${url}/metrics`)
    .then((answer) => answer.text())
    .catch(() => '');
  return [...metrics.matchAll(/^warmwarden_account_guarded\{account="(\w+)"\} 1$/gm)].map(([, name = '']) => name);
}
