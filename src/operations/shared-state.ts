// What people changed on another replica is seen here within seconds: emergency stops, silences, released breakers, and alerts
// that are about no one account.

import { showStored } from '../account/record/breakers.ts';
import { type Alert, isShared } from '../core/alert.ts';
import { heldEntries } from '../core/breaker.ts';
import { type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { scopeKey } from '../core/write-scope.ts';
import type { CommandRooms } from './command-rooms.ts';

export interface SharedRooms extends Pick<CommandRooms, 'fleet' | 'store' | 'turns' | 'world'> {
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
  /** Of such an alert this process knows more than the store. */
  readonly isOwn: (alert: Alert) => boolean;
}

export class SharedState {
  readonly #rooms: SharedRooms;
  /** By topic: what is in the picture. */
  #seen: Readonly<Record<string, number>> = {};

  constructor(rooms: SharedRooms) {
    this.#rooms = rooms;
  }

  /** Reads again what was changed since the last look, by whomever. Rejects when the store can't be read. */
  async look(): Promise<void> {
    const revisions = await this.#rooms.store.shared.revisions();
    const readings = {
      writes: () => this.#readWrites(),
      silences: () => this.#readSilences(),
      breakers: () => this.#readBreakers(),
      alerts: () => this.#readAlerts(),
    };
    for (const [topic, read] of Object.entries(readings)) {
      const revision = revisions[topic];
      if (revision === undefined || revision === this.#seen[topic]) continue;
      await read();
      this.#seen = { ...this.#seen, [topic]: revision };
    }
  }

  async #readWrites(): Promise<void> {
    const { fleet, store, turns, judgeAgain } = this.#rooms;
    const moved = await turns.take(async () => {
      const known = new Map([...fleet.knownWritesOff()].map((off) => [scopeKey(off.scope), off]));
      const stored = new Map((await store.shared.writesOff()).map((off) => [scopeKey(off.scope), off]));
      for (const [key, off] of stored)
        if (JSON.stringify(known.get(key)) !== JSON.stringify(off)) fleet.putWritesOff(off);
      for (const key of known.keys()) if (!stored.has(key)) fleet.removeWritesOff(key);
      return [...known.keys()].some((key) => !stored.has(key)) || [...stored.keys()].some((key) => !known.has(key));
    });
    // What waits for its POST is dropped, or planned again.
    if (moved) await judgeAgain([...fleet.mailboxes()].filter(({ verdict }) => verdict?.answer.wanted !== 'none'));
  }

  async #readSilences(): Promise<void> {
    const { fleet, store, world } = this.#rooms;
    const now = world.clock.now();
    const stored = await store.shared.silences();
    const ids = new Set(stored.map(({ id }) => id));
    for (const silence of stored) fleet.putSilence(silence);
    // One that has expired may be gone from the store.
    for (const silence of fleet.silences(now)) if (!ids.has(silence.id)) fleet.putSilence({ ...silence, until: now });
  }

  /**
   * What a breaker no longer holds is judged again here: it was released elsewhere. By the verdicts, not by the breaker that
   * is shown: a tick that met the release in the store has put that into the picture already.
   */
  async #readBreakers(): Promise<void> {
    const { fleet, store, turns, judgeAgain } = this.#rooms;
    const held = await turns.take(async () => {
      const stored = await store.shared.breakers();
      // What is judged again may end the alert: it has to know whether that has ended already.
      const alerts = stored.length === 0 ? [] : await store.shared.alerts();
      for (const { api, state } of stored) showStored(fleet, api, { state, alerts });
      return new Set(stored.flatMap(({ state }) => heldEntries(state).map(({ key }) => key)));
    });
    const waits = ({ account, id, verdict }: MailboxState) =>
      verdict?.answer.reason === 'circuit_breaker' && !held.has(mailboxKey(account, id));
    await judgeAgain([...fleet.mailboxes()].filter(waits));
  }

  /** One that this process moved while they were read is left: the next look reads it. */
  async #readAlerts(): Promise<void> {
    const { fleet, store, isOwn } = this.#rooms;
    const isRead = (alert: Alert) => isShared(alert.fingerprint) && !isOwn(alert);
    const shown = () => new Map([...fleet.alerts()].filter(isRead).map((alert) => [alert.fingerprint, alert]));
    const before = shown();
    const stored = new Map((await store.shared.alerts()).filter(isRead).map((alert) => [alert.fingerprint, alert]));
    const after = shown();
    for (const fingerprint of new Set([...stored.keys(), ...after.keys()])) {
      if (before.get(fingerprint) !== after.get(fingerprint)) continue;
      const alert = stored.get(fingerprint);
      if (!alert) fleet.removeAlert(fingerprint);
      else if (JSON.stringify(alert) !== JSON.stringify(after.get(fingerprint))) fleet.putAlert(alert);
    }
  }
}
