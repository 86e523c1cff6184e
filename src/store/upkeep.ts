// What keeps the store small: each verb is one small step, a transaction of its own.
import { foldSome } from './fold.ts';
import type { Gate } from './gate.ts';

export class StoredUpkeep {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** Folds some decisions of earlier versions into spans; false when none are left. */
  foldDecisions(): Promise<boolean> {
    return this.#gate.write(foldSome);
  }
}
