// The guard settings in force for one mailbox, each with its origin: guard, then every override that matches.
import { namesMailbox } from '../core/mailbox-pattern.ts';
import type { Config } from './config.ts';
import type { MailboxName } from './mailbox-rules.ts';
import { selects } from './mailbox-rules.ts';
import { formatPath } from './problem.ts';
import { profiled, type Setting } from './settings.ts';

/** What one account makes of a mailbox. */
export interface MailboxSettings {
  readonly account: string;
  readonly guarded: boolean;
  /** Paths begin with guard; the origin of an override's key is its line. */
  readonly settings: readonly Setting[];
}

/** One entry an account. */
export function settingsFor(
  mailbox: MailboxName,
  config: Config,
  settings: readonly Setting[],
): readonly MailboxSettings[] {
  return config.accounts.map((account, index) => {
    const inForce = new Map<string, Setting>();
    const take = (prefix: string) => {
      for (const setting of settings) {
        const at = formatPath(setting.path);
        if (!at.startsWith(`${prefix}.`)) continue;
        const path = setting.path.slice(setting.path.lastIndexOf('guard'));
        inForce.set(formatPath(path), { ...setting, path });
      }
    };
    take('guard');
    for (const [position, { match }] of account.overrides.entries())
      if (namesMailbox(match, mailbox)) take(`accounts[${index}].overrides[${position}].guard`);
    return { account: account.name, guarded: selects(account, mailbox), settings: profiled([...inForce.values()]) };
  });
}
