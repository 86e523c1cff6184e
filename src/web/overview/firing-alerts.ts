// Firing alerts as pages count and list them: one by one, or all of one rule as one entry where they are many.

import { concerns, domainObject, ipObject } from '../../alerts/rules/finding-rules.ts';
import { type Alert, accountsOf, isCause, type Severity } from '../../core/alert.ts';
import type { AlertRule } from '../../core/alert-rules.ts';
import { type AccountState, domainOf, type MailboxState } from '../../core/mailbox.ts';
import { firstText } from '../../core/wording/phrases.ts';
import { createPacer } from '../../world/world.ts';
import { FirstOf } from './first-of.ts';
import { gravestFirst } from './fleet-view.ts';

export interface AlertGroup {
  readonly first: Alert;
  /** Those that are named beside it. */
  readonly others: readonly Alert[];
  /** How many there are in all; 1: the alert itself is the entry. */
  readonly count: number;
}

/** Up to so many of one rule and severity are entries of their own. */
const apartAtMost = 5;
const named = 3;

const newestFirst = (a: Alert, b: Alert) => b.since - a.since;

/** Taken in one by one: in a storm there are as many as mailboxes. Of most, only the number is kept. */
export class FiringAlerts {
  readonly #alike = new Map<AlertRule, Map<Severity, FirstOf<Alert>>>();
  #groups: readonly AlertGroup[] | null = null;

  /** To be called for all before anything is asked. */
  put(alert: Alert): void {
    const ofRule = this.#alike.get(alert.rule) ?? new Map<Severity, FirstOf<Alert>>();
    this.#alike.set(alert.rule, ofRule);
    const alike = ofRule.get(alert.severity) ?? new FirstOf(newestFirst, apartAtMost);
    ofRule.set(alert.severity, alike);
    alike.put(alert);
  }

  /** How many there are in all, or of one severity. */
  count(severity?: Severity): number {
    const all = [...this.#alike.values()].flatMap((ofRule) => [...ofRule]);
    return all.reduce((sum, [one, { total }]) => (severity === undefined || one === severity ? sum + total : sum), 0);
  }

  hasOf(rule: AlertRule): boolean {
    return this.#alike.has(rule);
  }

  /** The gravest first, as single alerts are ordered. */
  get groups(): readonly AlertGroup[] {
    this.#groups ??= [...this.#alike.values()]
      .flatMap((ofRule) => [...ofRule.values()].flatMap(entriesOf))
      .sort((a, b) => gravestFirst(a.first, b.first));
    return this.#groups;
  }
}

function entriesOf(alike: FirstOf<Alert>): readonly AlertGroup[] {
  const kept = alike.take().toSorted(gravestFirst);
  const [first, ...others] = kept.slice(0, named);
  if (first && alike.total > apartAtMost) return [{ first, others, count: alike.total }];
  return kept.map((alert) => ({ first: alert, others: [], count: 1 }));
}

// Firing alerts that belong to no one mailbox, by the mailboxes that they are about: those of an account, a domain or an IP address.

/** The rules whose alerts are about a domain or an IP address; what else belongs to no mailbox is about whole accounts. */
const objectRules: ReadonlySet<AlertRule> = new Set(['dns_failing', 'blacklisted', 'shared_bounces']);

const none: readonly Alert[] = [];

/** Looked up by name: a large fleet has thousands of domains. */
export class WideAlerts {
  /** By account, then by domain or IP address; '': about the whole account. */
  readonly #byAccount = new Map<string, Map<string, Alert[]>>();

  constructor(alerts: Iterable<Alert>) {
    for (const alert of alerts) {
      if (alert.status !== 'firing') continue;
      const object = objectRules.has(alert.rule) && !isCause(alert) ? (alert.object ?? '') : '';
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

// Names of accounts in a sentence. Pure.

/** Of the accounts of which it is true. */
export function namesIn(
  accounts: readonly AccountState[],
  which: (account: AccountState) => boolean,
): readonly string[] {
  return accounts.filter(which).map(({ name }) => name);
}

/** So many accounts are named. */
const namesShown = 5;

/** The first ones, and how many more. */
export function namesOf(names: readonly string[]): string {
  return firstText(names, namesShown);
}

const sliceMs = 3;

/** Those that there are now. One that changes meanwhile is looked at as it was. */
export async function eachAlert(alerts: Iterable<Alert>, look: (alert: Alert) => void): Promise<void> {
  const pacer = createPacer(sliceMs);
  for (const alert of [...alerts]) {
    if (pacer.due()) await pacer.turn();
    look(alert);
  }
}
