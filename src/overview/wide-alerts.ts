// Firing alerts that belong to no one mailbox, by the mailboxes that they are about: those of an account, a domain or an IP address.
import { concerns, domainObject, ipObject } from '../alert/rules/finding-rules.ts';
import { type Alert, type AlertRule, accountsOf } from '../model/alert.ts';
import { domainOf, type MailboxState } from '../model/mailbox.ts';

/** The rules whose alerts are about a domain or an IP address; what else belongs to no mailbox is about whole accounts. */
const objectRules: ReadonlySet<AlertRule> = new Set(['dns_failing', 'blacklisted', 'domain_over_limit']);

const none: readonly Alert[] = [];

/** Looked up by name: a large fleet has thousands of domains. */
export class WideAlerts {
  /** By account, then by domain or IP address; '': about the whole account. */
  readonly #byAccount = new Map<string, Map<string, Alert[]>>();

  constructor(alerts: Iterable<Alert>) {
    for (const alert of alerts) {
      if (alert.status !== 'firing') continue;
      const object = objectRules.has(alert.rule) ? (alert.object ?? '') : '';
      for (const account of accountsOf(alert)) this.#put(account, object, alert);
    }
  }

  /** Those about the whole account. */
  ofAccount(account: string): readonly Alert[] {
    return this.#byAccount.get(account)?.get('') ?? none;
  }

  *about(mailbox: MailboxState): Iterable<Alert> {
    const ofAccount = this.#byAccount.get(mailbox.account);
    if (ofAccount === undefined) return;
    const objects = new Set(['', domainOf(mailbox.email), domainObject(mailbox), ipObject(mailbox)]);
    for (const object of objects) yield* ofAccount.get(object) ?? none;
  }

  /** Those of its domain or its ip that are about it, too: what was read of it last shows the same. */
  concerning(mailbox: MailboxState): readonly Alert[] {
    if (!this.#byAccount.has(mailbox.account)) return none;
    return [...this.about(mailbox)].filter((alert) => concerns(alert, mailbox));
  }

  #put(account: string, object: string, alert: Alert): void {
    const ofAccount = this.#byAccount.get(account) ?? new Map<string, Alert[]>();
    this.#byAccount.set(account, ofAccount);
    const known = ofAccount.get(object);
    if (known) known.push(alert);
    else ofAccount.set(object, [alert]);
  }
}
