// Firing alerts as pages count and list them: one by one, or all of one rule as one entry where they are many.
import type { Alert, AlertRule, Severity } from '../model/alert.ts';
import { FirstOf } from './first-of.ts';
import { gravestFirst } from './fleet-view.ts';

export interface AlertGroup {
  readonly first: Alert;
  /** Those that are named beside it. */
  readonly others: readonly Alert[];
  /** How many there are in all; 1: the alert itself is the entry. */
  readonly count: number;
}

/** Up to so many of one rule and severity are entries of their own. */
const apartAtMost = 5;
const named = 3;

const newestFirst = (a: Alert, b: Alert) => b.since - a.since;

/** Taken in one by one: in a storm there are as many as mailboxes. Of most, only the number is kept. */
export class FiringAlerts {
  readonly #alike = new Map<AlertRule, Map<Severity, FirstOf<Alert>>>();
  #groups: readonly AlertGroup[] | null = null;

  /** To be called for all before anything is asked. */
  put(alert: Alert): void {
    const ofRule = this.#alike.get(alert.rule) ?? new Map<Severity, FirstOf<Alert>>();
    this.#alike.set(alert.rule, ofRule);
    const alike = ofRule.get(alert.severity) ?? new FirstOf(newestFirst, apartAtMost);
    ofRule.set(alert.severity, alike);
    alike.put(alert);
  }

  /** How many there are in all, or of one severity. */
  count(severity?: Severity): number {
    const all = [...this.#alike.values()].flatMap((ofRule) => [...ofRule]);
    return all.reduce((sum, [one, { total }]) => (severity === undefined || one === severity ? sum + total : sum), 0);
  }

  hasOf(rule: AlertRule): boolean {
    return this.#alike.has(rule);
  }

  /** The gravest first, as single alerts are ordered. */
  get groups(): readonly AlertGroup[] {
    this.#groups ??= [...this.#alike.values()]
      .flatMap((ofRule) => [...ofRule.values()].flatMap(entriesOf))
      .sort((a, b) => gravestFirst(a.first, b.first));
    return this.#groups;
  }
}

function entriesOf(alike: FirstOf<Alert>): readonly AlertGroup[] {
  const kept = alike.take().toSorted(gravestFirst);
  const [first, ...others] = kept.slice(0, named);
  if (first && alike.total > apartAtMost) return [{ first, others, count: alike.total }];
  return kept.map((alert) => ({ first: alert, others: [], count: 1 }));
}
