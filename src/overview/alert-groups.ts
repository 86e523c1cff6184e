// Firing alerts as a page lists them: one by one, or all of one rule as one entry where they are many.
import type { Alert } from '../model/alert.ts';
import { gravestOf } from './fleet-view.ts';

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

/** The gravest first, as single alerts are ordered. */
export function alertGroups(firing: readonly Alert[]): readonly AlertGroup[] {
  const byRule = [...Map.groupBy(firing, ({ rule }) => rule).values()];
  const alike = byRule.flatMap((alerts) => [...Map.groupBy(alerts, ({ severity }) => severity).values()]);
  const groups = new Map<Alert, AlertGroup>();
  for (const alerts of alike) {
    const [first, ...others] = alerts.length > apartAtMost ? gravestOf(alerts, named) : [];
    if (first) groups.set(first, { first, others, count: alerts.length });
    else for (const alert of alerts) groups.set(alert, { first: alert, others: [], count: 1 });
  }
  return gravestOf([...groups.keys()], groups.size).flatMap((first) => groups.get(first) ?? []);
}
