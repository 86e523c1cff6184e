// The rules that an answer about a mailbox, or the passing of time, can change. A file of rules exports its own list.

import type { Route } from '../core/answers.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { Condition, MailboxContext } from './condition.ts';
import { bounceRules } from './rules/bounce-rules.ts';
import { findingRules } from './rules/finding-rules.ts';
import { mailboxRules } from './rules/mailbox-rules.ts';
import { staleRules } from './rules/stale-rule.ts';

const ruleLists = [bounceRules, staleRules, mailboxRules, findingRules];

export function conditionsAfter(
  answered: Route | 'time',
  mailbox: MailboxState,
  context: MailboxContext,
): readonly Condition[] {
  return ruleLists.flatMap((rules) => rules[answered] ?? []).map((rule) => rule(mailbox, context, answered));
}
