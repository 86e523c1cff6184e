// The alert config_reload_failed: fired by a refused reload, ended by one that succeeds and by a start. What the store can't
// take at once is recorded when it can.
import { step } from '../alert/engine.ts';
import { configReloadFailed } from '../alert/reload-rule.ts';
import { tune } from '../alert/tuning.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import { secondMs } from '../model/time.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';

const retryMs = 30 * secondMs;

export class ReloadAlert {
  readonly #rooms: RecorderRooms;
  readonly #rules: () => RuleSettings;
  readonly #stop = new AbortController();
  #problems: readonly string[] = [];
  #retrying: Promise<void> | null = null;

  constructor(rooms: RecorderRooms, rules: () => RuleSettings) {
    this.#rooms = rooms;
    this.#rules = rules;
  }

  /** Fires it, or ends it when there are no problems. Never rejects: a store that can't be written must not undo a reload. */
  async show(problems: readonly string[]): Promise<void> {
    this.#problems = problems;
    if ((await this.#record()) || this.#retrying) return;
    this.#retrying = this.#retry().finally(() => {
      this.#retrying = null;
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#retrying;
  }

  async #retry(): Promise<void> {
    const { clock } = this.#rooms.world;
    do await clock.sleep(retryMs, this.#stop.signal);
    while (!this.#stop.signal.aborted && !(await this.#record()));
  }

  /** False when the store could not take it. */
  async #record(): Promise<boolean> {
    const { fleet, store, turns, world, onTransitions } = this.#rooms;
    try {
      await turns.take(async () => {
        const conditions = tune([configReloadFailed(this.#problems, world.command)], this.#rules());
        const alerts = step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
        if (alerts.changed.length === 0) return;
        await store.recordAlerts(alerts);
        for (const alert of alerts.changed) fleet.putAlert(alert);
        if (alerts.transitions.length > 0) onTransitions();
      });
      return true;
    } catch (error) {
      world.log.error({ err: error }, 'the outcome of a reload could not be recorded');
      return false;
    }
  }
}
