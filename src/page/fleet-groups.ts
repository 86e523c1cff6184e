// The fleet counted by account, domain, provider or tag: the groups that need a person first.
import { domainOf, type GuardState } from '../model/mailbox.ts';
import type { RankedMailbox, Tags } from './fleet-view.ts';

export const groupings = ['account', 'domain', 'provider', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

export interface Group {
  /** null: the mailboxes that have none. */
  readonly name: string | null;
  readonly mailboxes: number;
  /** How many are in each state; those that none is in are absent. */
  readonly states: ReadonlyMap<GuardState, number>;
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
  alerts: number;
  sent: number;
  bounced: number;
  urgency: number;
}

/** Counts mailbox after mailbox: a large fleet is not gone through at once. */
export class Grouped {
  readonly #by: Grouping;
  readonly #tags: Tags;
  readonly #groups = new Map<string | null, Counting>();

  constructor(by: Grouping, tags: Tags) {
    this.#by = by;
    this.#tags = tags;
  }

  add(one: RankedMailbox): void {
    for (const name of namesOf(one, this.#by, this.#tags)) count(this.#groups, name, one);
  }

  groups(): readonly Group[] {
    const all = [...this.#groups].map(([name, counted]) => ({ name, ...counted }));
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

function count(groups: Map<string | null, Counting>, name: string | null, one: RankedMailbox): void {
  const group = groups.get(name) ?? {
    mailboxes: 0,
    states: new Map<GuardState, number>(),
    alerts: 0,
    sent: 0,
    bounced: 0,
    urgency: one.urgency,
  };
  groups.set(name, group);
  const verdict = one.mailbox.verdict?.answer;
  group.mailboxes += 1;
  group.states.set(one.state, (group.states.get(one.state) ?? 0) + 1);
  group.alerts += one.alerts.length;
  group.urgency = Math.min(group.urgency, one.urgency);
  if (!verdict?.windowFrom) return;
  group.sent += verdict.sent;
  group.bounced += verdict.bounced;
}
