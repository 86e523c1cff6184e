// account_unguarded: the loops that poll a configured account do not turn.
import type { Alert } from '../../core/alert.ts';
import { defaultRuleSettings } from '../../core/rule-settings.ts';
import type { EpochMs } from '../../core/time.ts';
import { momentText } from '../../core/wording/phrases.ts';
import type { Guarding } from '../../core/write-scope.ts';
import { accountSubject, type Condition } from '../condition.ts';

/** A configured account as the supervisor sees it. */
export interface SupervisedAccount extends Guarding {
  /** Its loops have turned at least once since they were begun. */
  readonly turned: boolean;
}

/** One condition an account, and one for each among the known alerts whose account is no longer configured. */
export function accountsUnguarded(
  accounts: readonly SupervisedAccount[],
  known: { readonly alerts: Iterable<Alert>; readonly configured: readonly string[] },
  zone: string,
): readonly Condition[] {
  const configured = new Set(known.configured);
  const forgotten = [...known.alerts].filter(
    ({ rule, account }) => rule === 'account_unguarded' && !configured.has(account),
  );
  return [
    ...accounts.map((account) => accountUnguarded(account, zone)),
    ...forgotten.map(({ account }) => conditionOf(account, false, `${account}: no longer in the configuration`)),
  ];
}

function accountUnguarded({ account, unguarded, turned }: SupervisedAccount, zone: string): Condition {
  if (unguarded === null) return conditionOf(account, turned ? false : 'unknown', `${account}: guarded again`);
  const { since, why } = unguarded;
  const sentences = [
    `Warmwarden has not polled account ${account} since ${momentText(since, zone)}: ${why}.`,
    'Until it polls the account again, Warmwarden neither checks the bounce rates of the mailboxes nor changes them.',
    'Warmwarden restarts the polling of the account by itself. The log has the cause. If this alert is still firing after five minutes, restart Warmwarden.',
  ];
  return conditionOf(account, true, `${account}: NOT GUARDED: Warmwarden does not poll it`, { since, sentences });
}

function conditionOf(
  account: string,
  active: Condition['active'],
  title: string,
  about: { readonly since?: EpochMs; readonly sentences?: readonly string[] } = {},
): Condition {
  const { severity, forMs } = defaultRuleSettings.of.account_unguarded;
  return {
    subject: accountSubject('account_unguarded', account),
    severity,
    active,
    forMs,
    observations: 1,
    clearObservations: 1,
    ...(about.since === undefined ? {} : { since: about.since }),
    facts: { title, sentences: about.sentences ?? [], numbers: {} },
  };
}
