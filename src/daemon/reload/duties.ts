// Polling loops, one for each account.

import { AccountWatch, type AccountWatchOptions } from '../../account/account-watch.ts';
import { type GuardedApi, shownApis, withdrawUnguarded } from '../../account/record/breakers.ts';
import type { ConfiguredPatterns, OtherAccounts, RecorderRooms } from '../../account/record/guarded-account.ts';
import type { Budget } from '../../api/budget.ts';
import { ApiClient } from '../../api/client.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import {
  expectedNames,
  type LiveConfig,
  patternsOf,
  policyOf,
  resolvePolicy,
  routePatterns,
  selects,
} from '../../config/mailbox-rules.ts';
import { routes } from '../../core/answers.ts';
import type { ListedMailbox } from '../../core/mailbox.ts';
import { errorText } from '../../core/nearest.ts';
import type { Policy } from '../../core/policy.ts';
import type { AccountLedger } from '../../core/records.ts';
import { inheritedWaitMs } from '../../store/database.ts';
import { cronSchedule } from '../../world/schedule.ts';
import { notGuardedAnyMore } from '../picture.ts';

interface Duty {
  readonly watch: AccountWatch;
  readonly client: ApiClient;
  /** Key of the rate limit. It contains the API key: never log it. */
  readonly budgetKey: string;
  /** True once all loops of the watch have taken a turn. */
  hasBegun: boolean;
}

export interface Retired {
  readonly name: string;
  /** Error with which the loop ended. */
  readonly failure: string;
}

export class Duties {
  readonly #live: LiveConfig;
  readonly #rooms: RecorderRooms;
  readonly #duties = new Map<string, Duty>();
  /** The rate limit belongs to the key, not to the loop, so the budgets of ended loops stay. */
  readonly #budgets = new Map<string, Budget>();
  /** Accounts with a stopped loop, for which the process does not end. */
  #stopped: ReadonlySet<string> = new Set();
  #stopping = false;

  constructor(live: LiveConfig, rooms: RecorderRooms) {
    this.#live = live;
    this.#rooms = rooms;
  }

  /** Begins none once all are stopped. */
  begin(accounts: readonly AccountConfig[], ledgers: readonly AccountLedger[] = []): void {
    const spent = new Map(ledgers.map(({ account, budget }) => [account, budget]));
    for (const account of this.#stopping ? [] : accounts) this.#begin(account, spent.get(account.name));
  }

  /** Rate limits that an earlier process may have spent. Never rejects. */
  storedLedgers(): Promise<readonly AccountLedger[]> {
    const { store, world } = this.#rooms;
    return store.ledgers().catch((error: unknown) => {
      world.log.warn({ failure: String(error) }, 'the state of the rate limits could not be read');
      return [];
    });
  }

  #begin(account: AccountConfig, spent: AccountLedger['budget'] | undefined): void {
    const { clock } = this.#rooms.world;
    const duty = this.#newDuty(account);
    const { watch, budgetKey } = duty;
    const { budget } = duty.client;
    const now = clock.monotonic();
    if (spent) budget.takeOver(spent, now, clock.now() - now);
    // A loop that starts over, under any name, does not get a fresh rate limit.
    const earlier = this.#budgets.get(budgetKey);
    if (earlier) budget.takeOver(earlier.ledger(now, 0), now, 0);
    this.#budgets.delete(budgetKey);
    this.#duties.set(account.name, duty);
    duty.client.onThrottled = () => void this.#save([[account.name, budget]]);
    watch.start();
    this.#showGuarding();
    void watch.pulse.begun.then(() => {
      duty.hasBegun = true;
      this.#showGuarding();
    });
  }

  showStopped(accounts: readonly string[]): void {
    if (accounts.length === this.#stopped.size && accounts.every((one) => this.#stopped.has(one))) return;
    for (const account of accounts.filter((one) => !this.#stopped.has(one)))
      this.#rooms.world.log.error({ account }, 'an account has stopped: it is not guarded until the next restart');
    this.#stopped = new Set(accounts);
    this.#showGuarding();
  }

  #showGuarding(): void {
    const { fleet, world } = this.#rooms;
    const since = new Map(fleet.guarding().map(({ account, startingSince }) => [account, startingSince]));
    const guarding = [...this.#duties].map(([account, { hasBegun }]) => {
      const hasStopped = this.#stopped.has(account);
      const isGuarded = hasBegun && !hasStopped;
      const startingSince = isGuarded ? null : (since.get(account) ?? world.clock.now());
      return { account, startingSince, ...(hasStopped && { hasStopped }) };
    });
    fleet.putGuarding(guarding);
  }

  /** Stores the rate limits for the next process, and never rejects. */
  saveLedgers(): Promise<void> {
    return this.#save([...this.#duties].map(([name, { client }]) => [name, client.budget]));
  }

  async #save(budgets: readonly (readonly [string, Budget])[]): Promise<void> {
    const { store, world } = this.#rooms;
    if (budgets.length === 0) return;
    const now = world.clock.monotonic();
    const shiftMs = world.clock.now() - now;
    const ledgers = budgets.map(([account, budget]) => ({ account, budget: budget.ledger(now, shiftMs) }));
    await store.saveLedgers(ledgers).catch((error: unknown) => {
      world.log.warn({ failure: String(error) }, 'the state of the rate limits could not be stored');
    });
  }

  /** Waits until their writes were read back: all stay guarded until then. Never rejects; returns the errors. */
  async retire(names: readonly string[]): Promise<readonly Retired[]> {
    const duties = names.flatMap((name) => this.#duties.get(name) ?? []);
    const wrapped = await Promise.all(duties.map(({ watch }) => this.#outcomeOf(watch, () => watch.wrapUp())));
    const ended = await Promise.all(duties.map((duty) => this.#end(duty)));
    return duties.flatMap(({ watch }, index) => {
      const failure = wrapped[index] ?? ended[index];
      return failure ? [{ name: watch.account, failure }] : [];
    });
  }

  async #end({ watch, client, budgetKey }: Duty): Promise<string | null> {
    const failure = await this.#outcomeOf(watch, () => watch.end());
    this.#duties.delete(watch.account);
    this.#showGuarding();
    this.#budgets.set(budgetKey, client.budget);
    return failure;
  }

  /** Returns the error, or null if the work succeeded. */
  async #outcomeOf({ account }: AccountWatch, work: () => Promise<void>): Promise<string | null> {
    try {
      await work();
      return null;
    } catch (error) {
      this.#rooms.world.log.error({ account, err: error }, 'the polling loop of an account ended with an error');
      return errorText(error);
    }
  }

  /** The history stays in the store. */
  async forget(name: string): Promise<void> {
    const { fleet, store, turns, world, onTransitions } = this.#rooms;
    await turns.take(async () => {
      const alerts = notGuardedAnyMore([...fleet.alertsOf(name)], world.clock.now());
      try {
        if (alerts.changed.length + alerts.dropped.length > 0) await store.recordAlerts(alerts);
      } finally {
        fleet.removeAccount(name);
      }
      if (alerts.transitions.length > 0) onTransitions();
    });
  }

  /** Releases accounts that left an API or the configuration from its breaker. Rejects if that can't be stored. */
  async withdrawUnguarded(): Promise<void> {
    await withdrawUnguarded(this.#rooms, () => this.#guardedApis());
  }

  #guardedApis(): readonly GuardedApi[] {
    const { accounts, alerts } = this.#live.config;
    const apis = new Set([...shownApis(this.#rooms), ...accounts.map(({ baseUrl }) => baseUrl)]);
    return [...apis].map((api) => {
      const theirs = accounts.filter(({ baseUrl }) => baseUrl === api);
      const { windowMs } = policyOf(theirs[0]?.guard ?? {}).breaker;
      const names = theirs.map(({ name }) => name);
      return { api, accounts: names, windowMs, rules: alerts.rules };
    });
  }

  /** Watches of the accounts in force, in the order in which they began. */
  get watches(): readonly AccountWatch[] {
    return [...this.#duties.values()].map(({ watch }) => watch);
  }

  readonly watchOf = (name: string): AccountWatch | undefined => this.#duties.get(name)?.watch;

  /** Begins no loops afterwards. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.watches.map((watch) => watch.stop()));
    await this.saveLedgers();
  }

  #othersOf({ name, baseUrl }: AccountConfig): OtherAccounts {
    return {
      tookFrom: (from, mailboxes) => this.watchOf(from)?.lose(mailboxes),
      askLists: () => {
        for (const other of this.#live.accountsOf(baseUrl)) if (other !== name) this.watchOf(other)?.askList();
      },
    };
  }

  #newDuty(account: AccountConfig): Duty {
    const { poll, api: words } = this.#live.config;
    const { lease } = this.#rooms.store;
    const openWaitMs = lease.isInherited ? inheritedWaitMs : 0;
    const options = { ...account, account: account.name, dnsWords: words.dnsWords };
    const client = new ApiClient(options, this.#rooms.world, this.#rooms.tally);
    const schedules = Object.fromEntries(routes.map((route) => [route, cronSchedule(poll[route])]));
    // A retiring account that is no longer configured keeps its last rules.
    const current = () => this.#live.account(account.name) ?? account;
    const watch = new AccountWatch(
      { ...this.#rooms, api: client },
      {
        account: account.name,
        lease: { holds: () => lease.isHeld, mayPost: () => lease.mayPost(), openWaitMs },
        schedules: schedules as AccountWatchOptions['schedules'],
        statsIntervalMinMs: poll.statsIntervalMinMs,
        sparePpm: poll.spareSharePpm,
        policyFor: (mailbox) => policyIn(current(), mailbox),
        selects: (mailbox) => selects(current(), mailbox),
        expects: () => expectedNames(current()),
        patterns: () => patternsIn(this.#live.config, account.name),
        words: words.statusWords,
        rules: () => this.#live.config.alerts.rules,
        api: account.baseUrl,
        accountsOfApi: () => this.#live.accountsOf(account.baseUrl),
        others: this.#othersOf(account),
      },
    );
    return { watch, client, budgetKey: budgetKeyOf(account), hasBegun: false };
  }
}

/** An excluded mailbox that waits for the outcome of an action gets no other one. */
function policyIn(account: AccountConfig, mailbox: ListedMailbox): Policy {
  const policy = resolvePolicy(account, mailbox);
  return selects(account, mailbox) ? policy : { ...policy, enforce: false };
}

export function budgetKeyOf({ baseUrl, apiKey }: Pick<AccountConfig, 'baseUrl' | 'apiKey'>): string {
  return `${baseUrl} ${apiKey}`;
}

function patternsIn(config: Config, name: string): ConfiguredPatterns {
  const account = config.accounts.find((one) => one.name === name);
  const expected = new Set(account ? expectedNames(account) : []);
  return {
    ofAccount: patternsOf(config, name).filter(({ pattern }) => !expected.has(pattern)),
    ofRoutes: routePatterns(config.alerts),
    accounts: config.accounts.map((one) => one.name),
  };
}
