// Alerts for pages and the API: firing alerts in groups, and past alerts.
import { concerns, domainObject, ipObject } from '../../alerts/rules/finding-rules.ts';
import { type Alert, accountsOf, isCause } from '../../core/alert.ts';
import { alertRules, ruleBook, type Severity, severities } from '../../core/alert-rules.ts';
import { domainOf, isCalled, type MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { compareKeys, type Key, means, oneOf, type Query, upTo } from '../query.ts';
import type { RouteParts } from '../route-parts.ts';

const maxWordLength = 400;
export const alertFilters = {
  severity: means('Only these.', oneOf(...severities)),
  rule: means('Only this rule.', upTo(maxWordLength)),
  account: means('Only this account.', upTo(maxWordLength)),
  mailbox: means('Only about this mailbox: an address, an id or ACCOUNT/ADDRESS.', upTo(maxWordLength)),
};
export type AlertFilter = Partial<Query<typeof alertFilters>>;

function isChosen(alert: Alert, { severity, rule, account, mailbox }: AlertFilter): boolean {
  return (
    (!severity || alert.severity === severity) &&
    (!rule || alert.rule === rule) &&
    (!account || accountsOf(alert).includes(account)) &&
    (!mailbox || isAbout(alert, mailbox))
  );
}

function isAbout({ account, mailboxId, email }: Alert, name: string): boolean {
  return mailboxId !== null && isCalled(name, { account, id: mailboxId, email: email ?? '' });
}

export const isFiring = ({ status }: Alert) => status === 'firing';

/** Sort key: by severity, then by urgency of the rule (the circuit breaker before the mailboxes that it holds), the newest first. */
export function alertKey({ severity, rule, since, fingerprint }: Alert): Key {
  return [severities.indexOf(severity), alertRules.indexOf(rule), -since, fingerprint];
}

export function gravestFirst(a: Alert, b: Alert): number {
  return compareKeys(alertKey(a), alertKey(b));
}

export interface AlertGroup {
  readonly first: Alert;
  readonly others: readonly Alert[];
  /** Number of all alerts of the group: `others` are the next few. */
  readonly count: number;
}

const apartAtMost = 5;
const mostNamed = 3;

/** Firing alerts: one entry each, or one entry for all alerts of a rule and severity if there are many. */
export class FiringAlerts {
  readonly all: readonly Alert[];
  readonly groups: readonly AlertGroup[];

  constructor(alerts: Iterable<Alert>, filter: AlertFilter = {}) {
    this.all = [...alerts].filter((one) => isFiring(one) && isChosen(one, filter)).sort(gravestFirst);
    const alike = Map.groupBy(this.all, ({ rule, severity }) => `${severity} ${rule}`);
    this.groups = [...alike.values()].flatMap((some) => {
      const [first, ...others] = some.slice(0, mostNamed);
      // Each alert of a chosen rule has its own entry.
      return first && some.length > apartAtMost && !filter.rule
        ? [{ first, others, count: some.length }]
        : some.map((alert) => ({ first: alert, others: [], count: 1 }));
    });
  }

  count(severity?: Severity): number {
    return severity === undefined ? this.all.length : this.all.filter((one) => one.severity === severity).length;
  }
}

/** True for an alert about a domain or an IP address. Any other alert without a mailbox concerns a whole account. */
function isAboutSender(alert: Alert): boolean {
  const { shows } = ruleBook[alert.rule];
  return (shows === 'sender' || shows === 'shared') && !isCause(alert);
}

/** Index of firing alerts without a mailbox of their own, because a large fleet has thousands of domains. */
export class WideAlerts {
  /** Alerts by account and domain or IP address; without an object they concern the whole account. */
  readonly #byPlace = new Map<string, Alert[]>();

  constructor(alerts: Iterable<Alert>) {
    for (const alert of [...alerts].filter(isFiring)) {
      const object = isAboutSender(alert) ? (alert.object ?? '') : '';
      for (const account of accountsOf(alert)) {
        const known = this.#byPlace.get(`${account} ${object}`);
        if (known) known.push(alert);
        else this.#byPlace.set(`${account} ${object}`, [alert]);
      }
    }
  }

  ofAccount(account: string): readonly Alert[] {
    return this.#byPlace.get(`${account} `) ?? [];
  }

  about(mailbox: MailboxState): readonly Alert[] {
    if (this.#byPlace.size === 0) return [];
    const found = [...this.ofAccount(mailbox.account)];
    for (const object of new Set([domainOf(mailbox.email), domainObject(mailbox), ipObject(mailbox)])) {
      if (object) found.push(...(this.#byPlace.get(`${mailbox.account} ${object}`) ?? []));
    }
    return found;
  }

  /** Alerts about the mailbox's domain or IP address with a problem that its last data shows, or a breaker that holds it. */
  concerning(mailbox: MailboxState): readonly Alert[] {
    const isHeld = mailbox.verdict?.answer.reason === 'circuit_breaker';
    return this.about(mailbox).filter((alert) => concerns(alert, mailbox) || (isHeld && alert.rule === 'guard_held'));
  }
}

export interface PastAlert {
  readonly kind: 'resolved' | 'event';
  readonly at: EpochMs;
  readonly alert: Alert;
}

/** Transitions of alerts that one response scans, even if few match. */
const stepsScanned = 1_000;
const stepsARead = 200;

/** Reads up to `limit` matching alerts before a transition. Only a `next` of null is the end, not fewer rows. */
export async function readPastAlerts(
  { transitions }: Pick<RouteParts, 'transitions'>,
  filter: AlertFilter,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<{ readonly rows: readonly PastAlert[]; readonly next: number | null }> {
  const rows: PastAlert[] = [];
  let next = before;
  for (let scanned = 0; scanned < stepsScanned; scanned += stepsARead) {
    const steps = await transitions(stepsARead, next);
    for (const { id, transition } of steps) {
      if (rows.length === limit) return { rows, next: next ?? null };
      next = id;
      if (transition === null) continue;
      const { kind, at, alert } = transition;
      if ((kind === 'resolved' || kind === 'event') && isChosen(alert, filter)) rows.push({ kind, at, alert });
    }
    if (steps.length < stepsARead) return { rows, next: null };
  }
  return { rows, next: next ?? null };
}
