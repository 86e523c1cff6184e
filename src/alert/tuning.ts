// What the operator set over the rules: severity, `for`, and whether a rule is announced at all. Pure.
import { defaultRuleSettings, type RuleSettings } from '../model/rule-settings.ts';
import type { Condition } from './condition.ts';

/** The conditions as the settings want them. A rule that is off holds nowhere: what fires of it ends. */
export function tune(conditions: readonly Condition[], settings: RuleSettings): readonly Condition[] {
  return conditions.map((condition) => {
    const { rule } = condition.subject;
    const { enabled, severity, forMs } = settings.of[rule];
    if (!enabled) return switchedOff(condition);
    // A condition that is severer than its rule (a major blacklist) stays so.
    const usual = condition.severity === defaultRuleSettings.of[rule].severity;
    // A condition that waits less than its rule keeps its shorter wait (guard_blind after a second observation).
    const byDefault = defaultRuleSettings.of[rule].forMs;
    const waits = forMs === byDefault ? Math.min(condition.forMs, forMs) : forMs;
    const tuned = { severity: usual ? severity : condition.severity, forMs: waits };
    // As it is, nothing puts it in words before somebody reads them.
    if (tuned.severity === condition.severity && waits === condition.forMs) return condition;
    return { ...condition, ...tuned, facts: condition.facts };
  });
}

function switchedOff(condition: Condition): Condition {
  const { rule } = condition.subject;
  const { title, numbers } = condition.facts;
  const sentences = [`The rule ${rule} is off in the configuration (alerts.rules).`];
  return { ...condition, active: false, clearObservations: 1, facts: { title, sentences, numbers } };
}
