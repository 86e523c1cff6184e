// Names several alerts of one rule together.

import type { Alert, Transition } from '../core/alert.ts';
import { type AlertRule, ruleBook } from '../core/alert-rules.ts';
import type { Reason } from '../core/verdict.ts';
import { isTooFew } from './quiet-ends.ts';

/** Reasons for which Warmwarden acts. An alert that ends with one of these is no all-clear. */
const actingReasons: readonly unknown[] = ['bounce_rate_over_limit', 'repeat_offender', 'emergency'] satisfies Reason[];

function isActedOn({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): boolean {
  return rule === 'bounce_over_limit' && actingReasons.includes(facts.numbers['reason']);
}

/**
 * Returns the name of several alerts of one rule. The name for bounces over the limit says whether Warmwarden acts on
 * them: some are too few for that, and some have ended.
 */
export function groupName(rule: AlertRule, alerts: readonly Pick<Transition, 'kind' | 'alert'>[]): string {
  if (rule !== 'bounce_over_limit') return ruleBook[rule].name;
  const goOn = alerts.filter(({ kind, alert }) => kind !== 'resolved' && alert.rule === rule);
  const few = goOn.filter(({ alert }) => isTooFew(alert)).length;
  const name = ruleBook.bounce_over_limit.name;
  if (goOn.length === 0)
    return alerts.some(({ alert }) => isActedOn(alert)) ? `${name}: Warmwarden can act again` : name;
  if (few === 0) return `${name}, NO ACTION TAKEN`;
  return few === goOn.length ? `${name}, too few to act on` : `${name}, ${goOn.length - few} WITHOUT ACTION`;
}
