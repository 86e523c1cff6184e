// Keys of `alerts.rules:`, one mapping for each rule, with the defaults of core/alert-rules.ts.

import { z } from 'zod';
import {
  type AlertRule,
  alertRules,
  defaultRuleSettings,
  type RuleSettings,
  ruleBook,
  severities,
} from '../core/alert-rules.ts';
import { duration, durationText, pattern, share, shareText, truth, whole } from '../world/schema/scalars.ts';
import { group, keyed, oneOf, section } from '../world/schema/section.ts';

const defaults = defaultRuleSettings;

const enabled = () => keyed(truth(), true, 'false: the rule sends no alerts, and its firing alerts end.');
const severity = (rule: AlertRule) =>
  keyed(oneOf(severities), defaults.of[rule].severity, 'Its severity; routes can match it.');
const wait = (rule: AlertRule) =>
  keyed(duration(), durationText(defaults.of[rule].forMs), 'How long the condition must last before the alert fires.');

/** An event is sent once, so it has no time to wait. */
const plain = (rule: AlertRule) => {
  const keys = { enabled: enabled(), severity: severity(rule) };
  return ruleBook[rule].event === undefined ? { ...keys, forMs: wait(rule) } : keys;
};
const about = (rule: AlertRule) => group(`The rule ${rule}; docs/runbooks.md explains it.`, plain(rule));
const lists = (text: string) => keyed(z.array(pattern()), [], text);

const special = {
  guard_acted: group('What Warmwarden did.', {
    enabled: enabled(),
    pause: keyed(oneOf(severities), defaults.acted.pause, 'How severe a pause is.'),
    recovery: keyed(oneOf(severities), defaults.acted.recovery, 'How severe a switch to recovery mode is.'),
  }),
  blacklisted: group('A sending IP address or domain is on blacklists.', {
    ...plain('blacklisted'),
    major: lists('Globs on lists. A listing there is critical.'),
    ignore: lists('Globs on lists to ignore.'),
    minLists: keyed(whole(1, 1_000), defaults.blacklisted.minLists, 'Listings on fewer lists do not count.'),
  }),
  // The rule has no `enabled`: without this alert, a mailbox that nobody judges would be shown as OK.
  stale_data: group('The rule stale_data; docs/runbooks.md explains it. It cannot be disabled.', {
    severity: severity('stale_data'),
    forMs: wait('stale_data'),
  }),
  mailbox_unwell: group('A mailbox is disconnected, or the API reports a status that Warmwarden does not know.', {
    ...plain('mailbox_unwell'),
    known: keyed(
      z.array(z.string().min(1)),
      [...defaults.mailboxUnwell.known],
      'Status words that are normal, in addition to running and paused of api.status_words.',
    ),
  }),
  reputation_low: group("Too few emails reach the inbox, or the API's health score fell.", {
    ...plain('reputation_low'),
    inboxBelowPpm: keyed(
      share(1, 950_000),
      shareText(defaults.reputationLow.inboxBelowPpm),
      'Fires below this share of emails in the inbox, within seven days. Ends 5 points above.',
    ),
    minMails: keyed(
      whole(1, 100_000),
      defaults.reputationLow.minMails,
      'With fewer delivered emails, the share does not count.',
    ),
    scoreDrop: keyed(
      whole(6, 100),
      defaults.reputationLow.scoreDrop,
      'Fires this many points below the best health score of seven days. Ends 5 points above.',
    ),
  }),
} as const;

type PlainRule = Exclude<AlertRule, keyof typeof special>;
const isPlain = (rule: AlertRule): rule is PlainRule => !(rule in special);
const plainRules = Object.fromEntries(alertRules.filter(isPlain).map((rule) => [rule, about(rule)])) as Record<
  PlainRule,
  ReturnType<typeof about>
>;

const ruleKeys = section({ ...plainRules, ...special });

export const rulesSchema = ruleKeys.transform((rules) => ({
  of: Object.fromEntries(
    alertRules.map((rule) => [rule, { ...defaults.of[rule], ...rules[rule] }]),
  ) as unknown as RuleSettings['of'],
  acted: rules.guard_acted,
  blacklisted: rules.blacklisted,
  reputationLow: rules.reputation_low,
  mailboxUnwell: rules.mailbox_unwell,
}));
