// operator_acted: a person changed something through Warmwarden. An event, announced once with its outcome.
import { type AlertFacts, noAccount, type Transition } from '../../core/alert.ts';
import type { CommandEntry } from '../../core/operator-command.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import type { EpochMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { eventOf, pageLink } from '../condition.ts';

/** Maximum characters of the outcome in a message; the audit log has all of it. */
const outcomeShown = 500;

/** Returns the event, or null if the command changed nothing or its rule is switched off. */
export function operatorActedEvent(
  entry: CommandEntry,
  { rules, pageUrl, now }: { readonly rules: RuleSettings; readonly pageUrl: string | null; readonly now: EpochMs },
): Transition | null {
  const { enabled, severity } = rules.of.operator_acted;
  if (!enabled || entry.end === null || entry.end === 'no_change') return null;
  const [mailbox, ...others] = entry.mailboxes;
  const only = others.length === 0 ? mailbox : undefined;
  const subject = {
    rule: 'operator_acted' as const,
    account: entry.account ?? noAccount,
    mailboxId: only?.id ?? null,
    email: only?.email ?? null,
    object: `${entry.id}`,
  };
  const facts = factsOf(entry, only ? pageLink(pageUrl, only.account, only.id) : {});
  return eventOf(subject, { severity, since: entry.at, now, facts });
}

function factsOf(entry: CommandEntry, link: AlertFacts['numbers']): AlertFacts {
  const { by, name, command, reason, end, outcome } = entry;
  const failed = end === 'done' ? '' : end === 'failed' ? ', which FAILED' : ', and the outcome is not known';
  const shown = outcome.length > outcomeShown ? `${outcome.slice(0, outcomeShown)}…` : outcome;
  return {
    title: `${by} ran “${command}”${failed}`,
    sentences: [...shown.split('\n'), reason === '' ? 'No reason given.' : sentence(`Reason: ${reason}`)],
    numbers: { operator: by, operation: name, result: end, ...link },
  };
}
