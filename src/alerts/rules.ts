// The rules that an answer about a mailbox, or the passing of time, can change.

import type { Route } from '../core/answers.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { Condition, MailboxContext } from './condition.ts';
import { bounceBurst, bounceNearLimit, bounceOverLimit, guardBlind } from './rules/bounce-rules.ts';
import { blacklisted, dnsFailing } from './rules/finding-rules.ts';
import {
  contested,
  healthScoreDrop,
  inboxRateLow,
  mailboxDisconnected,
  mailboxStatusUnknown,
  recoveryOverdue,
  recoveryWithoutEffect,
  sendingOverLimit,
} from './rules/mailbox-rules.ts';
import { measurementStale, staleData } from './rules/stale-rule.ts';

type Rule = (mailbox: MailboxState, context: MailboxContext, answered: Route | 'time') => Condition;

const counts: readonly Rule[] = [
  guardBlind,
  bounceOverLimit,
  bounceNearLimit,
  bounceBurst,
  staleData,
  sendingOverLimit,
  inboxRateLow,
  healthScoreDrop,
  contested,
  recoveryWithoutEffect,
  recoveryOverdue,
];

const unwell: readonly Rule[] = [mailboxDisconnected, mailboxStatusUnknown];
const dnsStale: Rule = (...sight) => measurementStale('dns', ...sight);
const blacklistStale: Rule = (...sight) => measurementStale('blacklist', ...sight);

const rulesAfter: Readonly<Record<Route | 'time', readonly Rule[]>> = {
  stats: counts,
  warmup: counts,
  mailbox: unwell,
  mailboxes: [...unwell, healthScoreDrop],
  dns: [dnsFailing, dnsStale],
  blacklist: [blacklisted, blacklistStale],
  time: [staleData, dnsStale, blacklistStale],
  health: [],
};

export function conditionsAfter(
  answered: Route | 'time',
  mailbox: MailboxState,
  context: MailboxContext,
): readonly Condition[] {
  return rulesAfter[answered].map((rule) => rule(mailbox, context, answered));
}
