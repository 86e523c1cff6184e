// Alerts about reloads: a refused configuration, and protection that a reload or a restart removed (config_wrong,
// protection_off). A finding that the store can't record at once is recorded by a later look.
import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { type Condition, tune } from '../../alerts/condition.ts';
import { elapse, step } from '../../alerts/engine.ts';
import { isReadByPeople } from '../../alerts/routing.ts';
import { configReloadFailed } from '../../alerts/rules/daemon-rules.ts';
import {
  accountRemoved,
  channelsBack,
  channelsRemoved,
  enforcementOff,
  enforcementOver,
  enforcementSubject,
  protectionOf,
  removalsOver,
} from '../../alerts/rules/protection-rule.ts';
import type { Config } from '../../config/config.ts';
import { type LiveConfig, policyOf } from '../../config/mailbox-rules.ts';
import { type Alert, bothChanges, fingerprintOf } from '../../core/alert.ts';
import type { EpochMs } from '../../core/time.ts';
import type { EnforcementScope } from '../../core/write-scope.ts';
import { recordAlerts } from '../../outbox/outbox-store.ts';
import type { ProtectionRecord } from '../../store/writes.ts';
import { knownAccount, lastChannelsGone } from './changes.ts';

interface RemovedAccount {
  readonly account: string;
  readonly mailboxes: number;
}

interface LostProtection {
  readonly was: readonly EnforcementScope[];
  readonly removed: readonly RemovedAccount[];
  readonly by: string | null;
  readonly at: EpochMs;
}

export interface Reloaded {
  readonly before: Config;
  readonly after: Config;
  readonly removed: readonly RemovedAccount[];
  readonly file: string;
  readonly by: string;
  readonly at: EpochMs;
}

export class ReloadAlerts {
  readonly #rooms: RecorderRooms;
  readonly #live: LiveConfig;
  /** Empty if the newest configuration is in force. */
  #problems: readonly string[] = [];
  /** Lost protection that is not recorded yet. */
  #lost: readonly Condition[] = [];
  /** Configuration whose losses are announced, and recorded with the next look. */
  #announced: Config;
  /** True after the comparison with what an earlier process recorded. */
  #isCompared = false;
  #recorded = '';

  constructor(rooms: RecorderRooms, live: LiveConfig) {
    this.#rooms = rooms;
    this.#live = live;
    this.#announced = live.config;
  }

  /** Shows why a configuration is refused; the newest one is in force if there are no problems. Never rejects. */
  show(problems: readonly string[]): Promise<void> {
    this.#problems = problems;
    return this.#attempt();
  }

  /** Announces what a reload switched off or removed, and never rejects. */
  async reloaded(reload: Reloaded): Promise<void> {
    this.#lost = [...this.#lost, ...this.#lostInReload(reload)];
    this.#announced = reload.after;
    await this.#attempt();
  }

  /** Rejects if the store can't be written. */
  async look(): Promise<void> {
    const { fleet, store, turns, world, onTransitions: recorded } = this.#rooms;
    await turns.take(async () => {
      if (!this.#isCompared) this.#lost = [...(await this.#lostBeforeStart()), ...this.#lost];
      this.#isCompared = true;
      const lost = this.#lost;
      const now = world.clock.now();
      const conditions = [...lost, ...this.#conditions(now)];
      const about = new Set(conditions.map(({ subject }) => fingerprintOf(subject)));
      const isOfReload = (alert: Alert) =>
        isRefusal(alert) || ['enforcement', 'account', 'channels'].includes(protectionOf(alert) ?? '');
      const waiting = [...fleet.wideAlerts()].filter((alert) => isOfReload(alert) && !about.has(alert.fingerprint));
      const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
      await recordAlerts({ fleet, store, recorded }, bothChanges(changes, elapse(waiting, now)));
      this.#lost = this.#lost.filter((condition) => !lost.includes(condition));
      await this.#recordProtection();
    });
  }

  async #attempt(): Promise<void> {
    await this.look().catch((error: unknown) => {
      this.#rooms.world.log.error({ err: error }, 'the outcome of a reload could not be recorded');
    });
  }

  #conditions(now: EpochMs): readonly Condition[] {
    const { config } = this.#live;
    const alerts = [...this.#rooms.fleet.wideAlerts()];
    const off = scopesOff(config);
    const ended = alerts.filter((alert) => protectionOf(alert) === 'enforcement' && !off.has(alert.fingerprint));
    const names = config.accounts.map(({ name }) => name);
    const problems = this.#problems;
    const conditions = [
      ...(problems.length > 0 || alerts.some(isRefusal) ? [configReloadFailed(problems)] : []),
      ...ended.map((alert) => enforcementOver(alert, { accounts: names, isOffForAll: isOffForAll(config) })),
      ...removalsOver(alerts, names, now),
      ...(config.alerts.channels.some(isReadByPeople) ? [channelsBack()] : []),
    ];
    return tune(conditions, config.alerts.rules);
  }

  /** Only what is announced is recorded: a crash during a reload leaves its losses to the next start. */
  async #recordProtection(): Promise<void> {
    const { accounts } = this.#announced;
    const enforcementOff = [...scopesOff(this.#announced).values()];
    const record: ProtectionRecord = { enforcementOff, accounts: accounts.map(knownAccount) };
    const text = JSON.stringify(record);
    if (text === this.#recorded) return;
    await this.#rooms.store.recordProtection(record);
    this.#recorded = text;
  }

  /** Compares with what the earlier process recorded. A renamed account has its key, and is not removed. */
  async #lostBeforeStart(): Promise<readonly Condition[]> {
    const { store, world } = this.#rooms;
    const before = await store.protection();
    if (!before) return [];
    const config = this.#announced;
    const present = config.accounts.map(knownAccount);
    const isPresent = ({ name, digest }: ProtectionRecord['accounts'][number]) =>
      present.some((one) => one.name === name || one.digest === digest);
    const gone = before.accounts.filter((account) => !isPresent(account)).map(({ name }) => name);
    const left = gone.length > 0 ? (await store.loadPicture(gone)).mailboxes : [];
    const removed = gone.map((account) => {
      return { account, mailboxes: left.filter((mailbox) => mailbox.account === account).length };
    });
    return this.#lostBy(config, { was: before.enforcementOff, removed, by: null, at: world.clock.now() });
  }

  #lostInReload({ before, after, file, ...reload }: Reloaded): readonly Condition[] {
    const channels = lastChannelsGone(before, after);
    const unheard =
      channels.length > 0 ? [channelsRemoved({ channels, file, ...reload }, after.alerts.rules.timeZone)] : [];
    const lost = this.#lostBy(after, { was: [...scopesOff(before).values()], ...reload });
    return [...lost, ...tune(unheard, after.alerts.rules)];
  }

  /** Losses between two configurations, whether a reload or a restart lies between them. */
  #lostBy(after: Config, { was, removed, by, at }: LostProtection): readonly Condition[] {
    const zone = after.alerts.rules.timeZone;
    const known = new Set(was.map((scope) => fingerprintOf(enforcementSubject(scope))));
    const begun = [...scopesOff(after)].filter(([fingerprint]) => !known.has(fingerprint));
    const conditions = [
      ...begun.map(([, scope]) => enforcementOff(scope, { by, at }, zone)),
      ...removed.map((one) => accountRemoved({ ...one, by, at }, zone)),
    ];
    return tune(conditions, after.alerts.rules);
  }
}

const isRefusal = ({ rule, object }: Alert) => rule === 'config_wrong' && object === 'reload';

/** Accounts share the setting outside of overrides. */
function isOffForAll({ accounts }: Config): boolean {
  return accounts.some(({ guard }) => !policyOf(guard).enforce);
}

/** Overrides are left out while enforcement is off for all accounts. */
function scopesOff(config: Config): ReadonlyMap<string, EnforcementScope> {
  const overrides = config.accounts.flatMap(({ name: account, overrides }) =>
    overrides
      .filter(({ guard }) => guard.enforce === false)
      .map(({ match }): EnforcementScope => ({ kind: 'override', account, match })),
  );
  const scopes: readonly EnforcementScope[] = isOffForAll(config) ? [{ kind: 'everything' }] : overrides;
  return new Map(scopes.map((scope) => [fingerprintOf(enforcementSubject(scope)), scope]));
}
