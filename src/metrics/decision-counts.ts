// Verdicts by account, action and reason, as they come: every answer brings one, and for each prom-client would make a text of the
// labels. It gets them when it is read.
import type { Counter } from 'prom-client';
import type { Reason, VerdictAction } from '../model/verdict.ts';

export class DecisionCounts {
  /** Since they were handed over last: by account, then by reason, then by action. */
  #counts = new Map<string, Map<Reason, Map<VerdictAction, number>>>();

  add(account: string, action: VerdictAction, reason: Reason): void {
    const byAction = this.#counts.get(account)?.get(reason);
    if (byAction) byAction.set(action, (byAction.get(action) ?? 0) + 1);
    else this.#counts.set(account, new Map(this.#counts.get(account)).set(reason, new Map([[action, 1]])));
  }

  /** Adds them to prom-client's. */
  handTo(counter: Counter<'account' | 'action' | 'reason'>): void {
    for (const [account, byReason] of this.#counts)
      for (const [reason, byAction] of byReason)
        for (const [action, count] of byAction) counter.inc({ account, action, reason }, count);
    this.#counts = new Map();
  }
}
