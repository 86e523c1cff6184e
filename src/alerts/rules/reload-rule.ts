// config_wrong: the newest configuration was refused, and the previous one stays in force.
import { noAccount } from '../../core/alert.ts';
import { counted } from '../../core/wording/phrases.ts';
import { accountSubject, atOnce, type Condition } from '../condition.ts';

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
