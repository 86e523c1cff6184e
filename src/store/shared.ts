// What people change on any replica, and all of them keep in memory: read again where another has changed it.
import type { Alert, Silence } from '../core/alert.ts';
import type { WritesOff } from '../core/write-scope.ts';
import { loadBreakers } from './breakers.ts';
import type { Gate } from './gate.ts';
import { loadSharedAlerts } from './picture.ts';
import type { BreakerRecord } from './records.ts';
import { loadRevisions, type Revisions } from './revisions.ts';
import { loadSilences } from './silences.ts';
import { loadWritesOff } from './writes-off.ts';

export class StoredShared {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** By topic: another number when something was changed. */
  revisions(): Promise<Revisions> {
    return this.#gate.read(loadRevisions);
  }

  writesOff(): Promise<readonly WritesOff[]> {
    return this.#gate.read(loadWritesOff);
  }

  /** Also those that have expired. */
  silences(): Promise<readonly Silence[]> {
    return this.#gate.read((db) => loadSilences(db, 0));
  }

  breakers(): Promise<readonly BreakerRecord[]> {
    return this.#gate.read(loadBreakers);
  }

  /** Those that are pending or firing. */
  alerts(): Promise<readonly Alert[]> {
    return this.#gate.read(loadSharedAlerts);
  }
}
