// Two mailboxes of one address: what people read of either begins with its id besides.
import type { Condition } from '../../alerts/condition.ts';
import type { Alert, AlertFacts, Subject, Transition } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';

type Names = Pick<Fleet, 'nameOf'>;

export function conditionNamed(condition: Condition, fleet: Names): Condition {
  const rename = renaming(condition.subject, fleet);
  return rename === null ? condition : { ...condition, facts: rename(condition.facts) };
}

export function transitionNamed(transition: Transition, fleet: Names): Transition {
  const { alert } = transition;
  const rename = renaming(alert, fleet);
  return rename === null
    ? transition
    : { ...transition, alert: { ...alert, facts: rename(alert.facts) } satisfies Alert };
}

/** null: the address is enough. */
function renaming(
  { account, mailboxId: id, email }: Subject,
  fleet: Names,
): ((facts: AlertFacts) => AlertFacts) | null {
  if (id === null || email === null) return null;
  const name = fleet.nameOf({ account, id, email });
  if (name === email) return null;
  return (facts) =>
    facts.title.startsWith(`${email}:`) ? { ...facts, title: `${name}${facts.title.slice(email.length)}` } : facts;
}
