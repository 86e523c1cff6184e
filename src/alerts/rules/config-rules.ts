// config_wrong: the newest configuration was refused, or it has patterns for mailboxes that match none.
import { type Alert, noAccount } from '../../core/alert.ts';
import { type IdlePattern, idleText } from '../../core/mailbox-pattern.ts';
import { defaultRuleSettings } from '../../core/rule-settings.ts';
import { counted } from '../../core/wording/phrases.ts';
import { accountSubject, atOnce, type Condition } from '../condition.ts';

/** Maximum patterns that a message names. */
const patternsShown = 5;

export function idleSubject(account: string) {
  return accountSubject('config_wrong', account, 'patterns');
}

/**
 * config_wrong, patterns: fires after two lists in a row. `account` is the account of the lists, or noAccount for
 * patterns of routes. `idle` is null if the mailboxes are unknown. `alert` is the current one; a further pattern makes
 * it worse.
 */
export function configMatchesNothing(
  account: string,
  idle: readonly IdlePattern[] | null,
  { alert, command }: { readonly alert: Alert | undefined; readonly command: string },
): Condition {
  const { severity } = defaultRuleSettings.of.config_wrong;
  const shown = idle ?? [];
  const whose = account === noAccount ? 'routes' : account;
  const isNew = ({ place, pattern }: IdlePattern) =>
    !alert?.facts.sentences.some((said) => said.startsWith(`${place} "${pattern}"`));
  return {
    subject: idleSubject(account),
    severity,
    active: idle === null ? 'unknown' : idle.length > 0,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    worse: shown.slice(0, patternsShown).some(isNew),
    facts: {
      title:
        shown.length > 0
          ? `${whose}: ${counted(shown.length, 'pattern')} of the configuration match${shown.length === 1 ? 'es' : ''} no mailbox`
          : `${whose}: no pattern of the configuration is without a mailbox`,
      sentences:
        shown.length > 0
          ? [
              ...shown.slice(0, patternsShown).map((one) => `${idleText(one)}.`),
              ...(shown.length > patternsShown
                ? [`${counted(shown.length - patternsShown, 'more pattern')}: \`${command} doctor\` lists them all.`]
                : []),
              account === noAccount
                ? 'No alert about a mailbox takes such a route.'
                : 'An exclude that matches nothing leaves its mailboxes guarded, and an override changes none.',
              `Correct the pattern, or remove it, and run \`${command} reload\`.`,
            ]
          : [],
      numbers: { patterns: shown.length },
    },
  };
}

/** Maximum problems in a message; the log has the others. */
const problemsShown = 5;

/** Returns the condition. `problems` are sentences without secrets, empty if the newest configuration is in force. */
export function configReloadFailed(problems: readonly string[], command: string): Condition {
  const more = problems.length - problemsShown;
  return {
    subject: accountSubject('config_wrong', noAccount, 'reload'),
    severity: 'warning',
    active: problems.length > 0,
    ...atOnce,
    facts: {
      title: problems.length > 0 ? 'the new configuration was refused' : 'the newest configuration is in force',
      sentences:
        problems.length > 0
          ? [
              ...problems.slice(0, problemsShown),
              ...(more > 0 ? [`${counted(more, 'more problem')}: \`${command} check\` lists them all.`] : []),
              `The previous configuration stays in force. Correct the file, then run \`${command} reload\`.`,
            ]
          : [],
      numbers: { problems: problems.length },
    },
  };
}
