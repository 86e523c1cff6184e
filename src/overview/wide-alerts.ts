// Firing alerts that belong to no one mailbox, by the mailboxes that they are about: those of an account, a domain or an IP address.
import { concerns, domainObject, ipObject } from '../alert/rules/finding-rules.ts';
import { type Alert, type AlertRule, accountsOf } from '../model/alert.ts';
import { domainOf, type MailboxState } from '../model/mailbox.ts';

/** The rules whose alerts are about a domain or an IP address; what else belongs to no mailbox is about whole accounts. */
const objectRules: ReadonlySet<AlertRule> = new Set(['dns_failing', 'blacklisted', 'domain_over_limit']);

const none: readonly Alert[] = [];

/** Looked up by name: a large fleet has thousands of domains. */
export class WideAlerts {
  readonly #byKey = new Map<string, Alert[]>();

  constructor(firing: Iterable<Alert>) {
    for (const alert of firing) {
      if (alert.mailboxId !== null) continue;
      const object = objectRules.has(alert.rule) ? (alert.object ?? '') : '';
      for (const account of accountsOf(alert)) this.#put(keyOf(account, object), alert);
    }
  }

  /** Those about the whole account. */
  ofAccount(account: string): readonly Alert[] {
    return this.#byKey.get(keyOf(account, '')) ?? [];
  }

  *about(mailbox: MailboxState): Iterable<Alert> {
    if (this.#byKey.size === 0) return;
    const objects = new Set(['', domainOf(mailbox.email), domainObject(mailbox), ipObject(mailbox)]);
    for (const object of objects) yield* this.#byKey.get(keyOf(mailbox.account, object)) ?? [];
  }

  /** Those of its domain or its ip that are about it, too: what was read of it last shows the same. */
  concerning(mailbox: MailboxState): readonly Alert[] {
    return this.#byKey.size === 0 ? none : [...this.about(mailbox)].filter((alert) => concerns(alert, mailbox));
  }

  #put(key: string, alert: Alert): void {
    const known = this.#byKey.get(key);
    if (known) known.push(alert);
    else this.#byKey.set(key, [alert]);
  }
}

function keyOf(account: string, object: string): string {
  return `${account} ${object}`;
}
