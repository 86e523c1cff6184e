// Checks that every configured account is guarded: one that is not is shown, alerted on, and its loop is started again. docs/faults.md O3.

import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { tune } from '../../alerts/condition.ts';
import { elapse, step } from '../../alerts/engine.ts';
import { isEnforcementAlert, isOfChannels, isRemoval, removalsOver } from '../../alerts/rules/disarmed-rule.ts';
import { accountsUnguarded, type SupervisedAccount } from '../../alerts/rules/unguarded-rule.ts';
import type { LiveConfig } from '../../config/live.ts';
import { type Alert, type AlertChanges, bothChanges, noAccount } from '../../core/alert.ts';
import { type EpochMs, minuteMs, secondMs } from '../../core/time.ts';
import { turnEveryMs, type Unguarded, unguardedAfterMs } from '../../core/write-scope.ts';
import { recordAlerts } from '../../outbox/outbox-store.ts';
import { type Bell, createBell } from '../../world/world.ts';
import type { Duties } from './duties.ts';
import { ailmentOf, lookAt, type Turning, turns } from './turning.ts';

// What time does to alerts that only a reload speaks about: `for` passes, and reminders of an account that was removed end.

/** In a turn, like the reloads. An account's own alerts are those of its recorder. Rejects when the store can't be written. */
export async function settleReloadAlerts(rooms: RecorderRooms): Promise<void> {
  const { fleet, store, turns, onTransitions } = rooms;
  if (moved(rooms).changed.length === 0) return;
  await turns.take(() => recordAlerts({ fleet, store, recorded: onTransitions }, moved(rooms)));
}

function moved({ fleet, world }: RecorderRooms): AlertChanges {
  const now = world.clock.now();
  const own = [...fleet.alertsOf(noAccount)].filter(isOfReload);
  const over = removalsOver(own, [], now);
  const isOver = new Set(over.map(({ subject }) => subject.object));
  const ended = step(over, (fingerprint) => fleet.alert(fingerprint), now);
  return bothChanges(
    ended,
    elapse(
      own.filter(({ object }) => !isOver.has(object)),
      now,
    ),
  );
}

function isOfReload(alert: Alert): boolean {
  return alert.rule === 'config_reload_failed' || [isEnforcementAlert, isRemoval, isOfChannels].some((is) => is(alert));
}

/** As often as a loop turns at least. */
const lookEveryMs = turnEveryMs;
/** Between one restart of an account and the next, doubled each time up to the longest. */
const firstPauseMs = turnEveryMs;
const longestPauseMs = minuteMs;
/** After a restart that failed: no loop runs that could end or hang again, so the next look tries it. */
const failedPauseMs = 5 * secondMs;
/** So long after its last restart an account starts over with short pauses. */
const steadyAfterMs = 10 * minuteMs;

interface SupervisorParts {
  readonly live: LiveConfig;
  readonly duties: Duties;
  readonly rooms: RecorderRooms;
}

interface Restart {
  readonly at: number;
  readonly pauseMs: number;
}

export class Supervisor {
  readonly #parts: SupervisorParts;
  readonly #stop = new AbortController();
  readonly #bell: Bell;
  readonly #turning = new Map<string, Turning>();
  /** Since when, as `#awakeMs`, and as wall time, said once: a clock that is put right must not move it. */
  readonly #unguardedSince = new Map<string, { readonly awakeMs: number; readonly at: EpochMs }>();
  /** Accounts that were seen guarded. */
  readonly #guardedOnce = new Set<string>();
  readonly #restarts = new Map<string, Restart>();
  readonly #restarting = new Map<string, Promise<void>>();
  /** Accounts whose last restart failed: none of their loops runs, whatever the time. */
  readonly #notStarted = new Set<string>();
  #recording: Promise<void> | null = null;
  #settling: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();
  /**
   * The time that this process has been awake for, milliseconds. What stopped all of it (a debugger, SIGSTOP, a sleeping
   * laptop) stopped the loops along with the looks, and says nothing about them.
   */
  #awakeMs = 0;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#bell = createBell(parts.rooms.world.clock);
  }

  /** The next look is now: something may be guarded again. */
  ring(): void {
    this.#bell.ring();
  }

  start(): void {
    this.#look();
    this.#running = this.#run();
  }

  /** Begins nothing any more. Ends when what it had begun to do is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#running, this.#recording, this.#settling, ...this.#restarting.values()]);
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts.rooms.world;
    let lookedAt = clock.monotonic();
    while (!this.#stop.signal.aborted) {
      await this.#bell.sleep(lookEveryMs - (clock.monotonic() % lookEveryMs), this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      const now = clock.monotonic();
      this.#awakeMs += Math.min(now - lookedAt, lookEveryMs);
      lookedAt = now;
      try {
        this.#look();
      } catch (error) {
        log.error({ err: error }, 'Warmwarden could not check whether the accounts are guarded');
      }
    }
  }

  /** Waits for nothing: what it looks at may hang. */
  #look(): void {
    const { live, rooms } = this.#parts;
    const configured = live.config.accounts.map(({ name }) => name);
    for (const name of [...this.#turning.keys()]) if (!configured.includes(name)) this.#forget(name);
    const accounts = configured.map((name) => this.#lookAt(name));
    rooms.fleet.putGuarding(accounts.map(({ account, unguarded }) => ({ account, unguarded })));
    this.#recordAlerts(accounts.filter(({ account }) => !this.#isFresh(account)));
    this.#settleReloads();
    void this.#parts.duties.saveLedgers();
  }

  #unguardedFor(account: string, why: string): Unguarded | null {
    const since = this.#unguardedSince.get(account);
    if (!since) return null;
    const isNew = !this.#guardedOnce.has(account) && !this.#notStarted.has(account);
    return { since: since.at, why, isStarting: isNew && this.#isFresh(account) };
  }

  /** Unless it is known to be so for longer, the account has not been guarded for `idleMs`. */
  #noteUnguarded(account: string, idleMs: number): void {
    if (this.#unguardedSince.has(account)) return;
    const at = this.#parts.rooms.world.clock.now() - idleMs;
    this.#unguardedSince.set(account, { awakeMs: this.#awakeMs - idleMs, at });
  }

  /** Shown as not guarded, and not for long enough to notify people. */
  #isFresh(account: string): boolean {
    const since = this.#unguardedSince.get(account);
    return since !== undefined && this.#awakeMs - since.awakeMs < unguardedAfterMs;
  }

  /** Apart from the alerts about accounts: it waits for its turn, and the turn before it may be what hangs. Never rejects. */
  #settleReloads(): void {
    const { rooms } = this.#parts;
    this.#settling ??= settleReloadAlerts(rooms)
      .catch((error: unknown) => {
        rooms.world.log.error({ err: error }, 'the outcome of a reload could not be recorded');
      })
      .finally(() => {
        this.#settling = null;
      });
  }

  #lookAt(account: string): SupervisedAccount {
    const { duties } = this.#parts;
    const now = this.#awakeMs;
    const before = this.#turning.get(account) ?? null;
    const pulse = duties.watchOf(account)?.pulse ?? null;
    if (pulse !== null && pulse !== before?.pulse) void pulse.begun.then(() => this.ring());
    const turning = lookAt(pulse, before, now);
    this.#turning.set(account, turning);
    const ailment = ailmentOf(turning, now);
    if (ailment === null) this.#notStarted.delete(account);
    else this.#restart(account, ailment);
    const turned = turns(turning);
    if (turned) this.#guardedOnce.add(account);
    const why = ailment ?? (this.#guardedOnce.has(account) ? null : 'its polling has not started yet');
    const idleMs = now - turning.turnedAt;
    if (why === null) this.#unguardedSince.delete(account);
    else if (idleMs >= unguardedAfterMs || this.#notStarted.has(account) || !this.#guardedOnce.has(account))
      this.#noteUnguarded(account, idleMs);
    const unguarded = why === null ? null : this.#unguardedFor(account, why);
    return { account, unguarded, turned };
  }

  #forget(account: string): void {
    const times = [this.#turning, this.#restarts, this.#unguardedSince];
    for (const known of [...times, this.#notStarted, this.#guardedOnce]) known.delete(account);
  }

  /** Begins the account again, unless that is being done, or was done just now. */
  #restart(name: string, ailment: string): void {
    const now = this.#awakeMs;
    const last = this.#restarts.get(name);
    if (this.#restarting.has(name) || (last && now - last.at < last.pauseMs)) return;
    const steady = !last || now - last.at > steadyAfterMs;
    this.#restarts.set(name, { at: now, pauseMs: steady ? firstPauseMs : Math.min(2 * last.pauseMs, longestPauseMs) });
    const done = this.#begin(name, ailment).finally(() => this.#restarting.delete(name));
    this.#restarting.set(name, done);
  }

  /** After a reload that is under way; whoever was begun by it is left alone. Never rejects. */
  async #begin(name: string, ailment: string): Promise<void> {
    const { duties, live, rooms } = this.#parts;
    const { log } = rooms.world;
    const ailing = duties.watchOf(name);
    try {
      await duties.changes.take(async () => {
        const account = live.account(name);
        if (!account || this.#stop.signal.aborted || duties.watchOf(name) !== ailing) return;
        log.error({ account: name }, `Warmwarden restarts the polling of an account: ${ailment}`);
        await duties.restart(account);
      });
    } catch (error) {
      log.error({ account: name, err: error }, 'the polling of an account could not be restarted');
      this.#notStarted.add(name);
      this.#restarts.set(name, { at: this.#awakeMs, pauseMs: failedPauseMs });
      this.ring();
    }
  }

  /** Fires or ends account_unguarded. Not in a turn: one that hangs may be what it has to tell of. Never rejects. */
  #recordAlerts(accounts: readonly SupervisedAccount[]): void {
    if (this.#recording) return;
    const { live, rooms } = this.#parts;
    const { fleet, store, world, onTransitions } = rooms;
    const { accounts: configured, alerts } = live.config;
    const { rules } = alerts;
    const names = configured.map(({ name }) => name);
    const known = fleet.wideAlerts();
    const conditions = tune(accountsUnguarded(accounts, { alerts: known, configured: names }, rules.timeZone), rules);
    const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
    if (changes.changed.length + changes.dropped.length === 0) return;
    const record = async () => {
      try {
        await recordAlerts({ fleet, store, recorded: onTransitions }, changes);
      } catch (error) {
        world.log.error(
          { err: error },
          'the result of the check whether the accounts are guarded could not be recorded',
        );
      }
    };
    this.#recording = record().finally(() => {
      this.#recording = null;
    });
  }
}
