// The rules that an answer about a mailbox, or the passing of time, can change.

import type { MeasuredRoute, Route } from '../core/answers.ts';
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

type Rule = (mailbox: MailboxState, context: MailboxContext) => Condition;

const counts: readonly Rule[] = [
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

const blind =
  (answered: Route): Rule =>
  (mailbox, context) =>
    guardBlind(answered, mailbox, context);
const unwell = (answered: 'mailbox' | 'mailboxes'): readonly Rule[] => [
  (mailbox, context) => mailboxDisconnected(answered, mailbox, context),
  (mailbox, context) => mailboxStatusUnknown(answered, mailbox, context),
];
const stale = (route: MeasuredRoute, answered: MeasuredRoute | 'time'): Rule => {
  return (mailbox, context) => measurementStale(route, answered, mailbox, context);
};

const rulesAfter: Readonly<Record<Route | 'time', readonly Rule[]>> = {
  stats: [blind('stats'), ...counts],
  warmup: [blind('warmup'), ...counts],
  mailbox: unwell('mailbox'),
  mailboxes: [...unwell('mailboxes'), healthScoreDrop],
  dns: [dnsFailing, stale('dns', 'dns')],
  blacklist: [blacklisted, stale('blacklist', 'blacklist')],
  time: [staleData, stale('dns', 'time'), stale('blacklist', 'time')],
  health: [],
};

export function conditionsAfter(
  answered: Route | 'time',
  mailbox: MailboxState,
  context: MailboxContext,
): readonly Condition[] {
  return rulesAfter[answered].map((rule) => rule(mailbox, context));
}
