// The fleet counted by account, domain, provider or tag: the groups that need a person first.
import type { Alert } from '../model/alert.ts';
import { domainOf, type GuardState } from '../model/mailbox.ts';
import { type RankedMailbox, type Tags, urgencyWith } from './fleet-view.ts';
import { WideAlerts } from './wide-alerts.ts';

export const groupings = ['account', 'domain', 'provider', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

export interface Group {
  /** null: the mailboxes that have none. */
  readonly name: string | null;
  readonly mailboxes: number;
  /** How many are in each state; those that none is in are absent. */
  readonly states: ReadonlyMap<GuardState, number>;
  /** Firing alerts about its mailboxes, or about their domains, ips or accounts. */
  readonly alerts: number;
  /** Emails in the windows that the guard judges by. */
  readonly sent: number;
  readonly bounced: number;
  /** Of its worst mailbox: the lowest first. */
  readonly urgency: number;
}

interface Counting {
  mailboxes: number;
  readonly states: Map<GuardState, number>;
  /** Each counts once, however many of its mailboxes it is about. */
  readonly firing: Set<Alert>;
  sent: number;
  bounced: number;
  urgency: number;
}

/** Counts mailbox after mailbox: a large fleet is not gone through at once. */
export class Grouped {
  readonly #by: Grouping;
  readonly #tags: Tags;
  readonly #wide: WideAlerts;
  readonly #groups = new Map<string | null, Counting>();

  constructor(by: Grouping, { tags, firing }: { readonly tags: Tags; readonly firing: Iterable<Alert> }) {
    this.#by = by;
    this.#tags = tags;
    this.#wide = new WideAlerts(firing);
  }

  add(one: RankedMailbox): void {
    const wide = [...this.#wide.about(one.mailbox)];
    for (const name of namesOf(one, this.#by, this.#tags)) count(this.#groups, name, { one, wide });
  }

  groups(): readonly Group[] {
    const all = [...this.#groups].map(([name, { firing, ...counted }]) => ({ ...counted, name, alerts: firing.size }));
    return all.sort(
      (a, b) => a.urgency - b.urgency || shareOf(b) - shareOf(a) || ((a.name ?? '') < (b.name ?? '') ? -1 : 1),
    );
  }
}

/** Bounces of emails; -1 when none was sent. */
export function shareOf({ sent, bounced }: Group): number {
  return sent === 0 ? -1 : bounced / sent;
}

function namesOf({ mailbox }: RankedMailbox, by: Grouping, tags: Tags): readonly (string | null)[] {
  switch (by) {
    case 'account':
      return [mailbox.account];
    case 'domain':
      return [domainOf(mailbox.email)];
    case 'provider':
      return [mailbox.entry.answer.provider];
    case 'tag': {
      const found = tags.of(mailbox);
      return found.length === 0 ? [null] : found;
    }
  }
}

interface Counted {
  readonly one: RankedMailbox;
  readonly wide: readonly Alert[];
}

function count(groups: Map<string | null, Counting>, name: string | null, { one, wide }: Counted): void {
  const group = groups.get(name) ?? {
    mailboxes: 0,
    states: new Map<GuardState, number>(),
    firing: new Set<Alert>(),
    sent: 0,
    bounced: 0,
    urgency: one.urgency,
  };
  groups.set(name, group);
  const verdict = one.mailbox.verdict?.answer;
  group.mailboxes += 1;
  group.states.set(one.state, (group.states.get(one.state) ?? 0) + 1);
  for (const alert of [...one.alerts, ...wide]) group.firing.add(alert);
  group.urgency = Math.min(group.urgency, one.urgency, urgencyWith(one.state, wide));
  if (!verdict?.windowFrom) return;
  group.sent += verdict.sent;
  group.bounced += verdict.bounced;
}
