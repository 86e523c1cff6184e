// How alerts ended that ended not long ago: what comes again soon after is unstable.
import type { Alert } from '../model/alert.ts';
import { hourMs } from '../model/time.ts';

const keptMs = hourMs;

export class EndedLately {
  /** Ended alerts by fingerprint, in the order in which they ended. */
  readonly #ended = new Map<string, Alert>();

  of(fingerprint: string): Alert | undefined {
    return this.#ended.get(fingerprint);
  }

  /** Remembers an ended alert, and forgets those that ended long before it. */
  put(alert: Alert): void {
    this.#ended.delete(alert.fingerprint);
    this.#ended.set(alert.fingerprint, alert);
    for (const [fingerprint, { resolvedAt }] of this.#ended) {
      if ((alert.resolvedAt ?? 0) - (resolvedAt ?? 0) < keptMs) return;
      this.#ended.delete(fingerprint);
    }
  }
}
