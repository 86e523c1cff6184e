// The fleet counted by account, domain, provider or tag: the groups that need a person first.
import { silenceOf } from '../../alerts/routing.ts';
import type { Alert, Silence } from '../../core/alert.ts';
import { unreadAccounts } from '../../core/fleet/unread-accounts.ts';
import { type AccountState, domainOf, type GuardState } from '../../core/mailbox.ts';
import { inTurns, turnAfter } from '../../world/world.ts';
import type { RouteParts } from '../route-parts.ts';
import { WideAlerts } from './firing-alerts.ts';
import { type RankedMailbox, type Tags, urgencyWith } from './fleet-view.ts';

export const groupings = ['account', 'domain', 'provider', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

export interface Group {
  /** null: the mailboxes that have none. */
  readonly name: string | null;
  /** null: an account of which no whole mailbox list was read yet. */
  readonly mailboxes: number | null;
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
  mailboxes: number | null;
  readonly states: Map<GuardState, number>;
  /** Each counts once, however many of its mailboxes it is about. */
  readonly firing: Set<Alert>;
  sent: number;
  bounced: number;
  urgency: number;
}

interface GroupedParts {
  readonly tags: Tags;
  readonly wide: readonly Alert[];
  readonly silences: readonly Silence[];
  /** Accounts of which no mailbox is OK: at best it was when last read. */
  readonly unread: ReadonlySet<string>;
}

/** Counts mailbox after mailbox: a large fleet is not gone through at once. */
class Grouped {
  readonly #by: Grouping;
  readonly #tags: Tags;
  readonly #wide: WideAlerts;
  /** Of those, the ones that no person silenced. */
  readonly #loud: WideAlerts;
  readonly #unread: ReadonlySet<string>;
  readonly #groups = new Map<string | null, Counting>();

  constructor(by: Grouping, { tags, wide, silences, unread }: GroupedParts) {
    this.#by = by;
    this.#tags = tags;
    this.#wide = new WideAlerts(wide);
    this.#loud = new WideAlerts(wide.filter((alert) => silenceOf(alert, silences) === null));
    this.#unread = unread;
  }

  add(one: RankedMailbox): void {
    const wide = [...this.#wide.about(one.mailbox)];
    const state = one.state === 'ok' && this.#unread.has(one.mailbox.account) ? 'not_judged' : one.state;
    const urgency = Math.min(one.urgency, urgencyWith(state, this.#loud.about(one.mailbox)));
    for (const name of namesOf(one, this.#by, this.#tags)) count(this.#groups, name, { one, state, wide, urgency });
  }

  /**
   * After the mailboxes: an account is a group also when it has none. One that cannot be read needs a person as much as a
   * mailbox that cannot be judged. `state`: null when nothing is known of it.
   */
  addAccount(name: string, state: AccountState | null): void {
    const group = this.#groups.get(name) ?? newGroup(state?.listed ? 0 : null);
    this.#groups.set(name, group);
    const alerts = this.#wide.ofAccount(name);
    for (const alert of alerts) group.firing.add(alert);
    const isRead = state !== null && !this.#unread.has(name);
    group.urgency = Math.min(group.urgency, urgencyWith(isRead ? 'ok' : 'not_judged', this.#loud.ofAccount(name)));
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

function newGroup(mailboxes: number | null): Counting {
  const [states, firing] = [new Map<GuardState, number>(), new Set<Alert>()];
  return { mailboxes, states, firing, sent: 0, bounced: 0, urgency: Number.MAX_SAFE_INTEGER };
}

interface Counted {
  readonly one: RankedMailbox;
  /** As it counts at present. */
  readonly state: GuardState;
  readonly wide: readonly Alert[];
  readonly urgency: number;
}

function count(
  groups: Map<string | null, Counting>,
  name: string | null,
  { one, state, wide, urgency }: Counted,
): void {
  const group = groups.get(name) ?? newGroup(0);
  groups.set(name, group);
  const verdict = one.mailbox.verdict?.answer;
  group.mailboxes = (group.mailboxes ?? 0) + 1;
  group.states.set(state, (group.states.get(state) ?? 0) + 1);
  for (const alert of [...one.alerts, ...wide]) group.firing.add(alert);
  group.urgency = Math.min(group.urgency, urgency);
  if (!verdict?.windowFrom) return;
  group.sent += verdict.sent;
  group.bounced += verdict.bounced;
}

export const usualGrouping: Grouping = 'account';

type GroupParts = Pick<RouteParts, 'fleet' | 'ranking' | 'tags' | 'world'>;

/** The groups that need a person first. In slices: a large fleet is not gone through at once. */
export async function readGroups({ fleet, ranking, tags, world }: GroupParts, by: Grouping): Promise<readonly Group[]> {
  const { ranked } = await ranking.read();
  const wide = [...fleet.wideAlerts()];
  const grouped = new Grouped(by, {
    tags,
    wide,
    silences: fleet.silences(world.clock.now()),
    unread: unreadAccounts(fleet),
  });
  const add = (piece: typeof ranked) => {
    for (const one of piece) grouped.add(one);
  };
  await inTurns(ranked, add);
  if (by === 'account') for (const name of accountsOf(fleet)) grouped.addAccount(name, fleet.account(name) ?? null);
  const groups = grouped.groups();
  await turnAfter(groups);
  return groups;
}

/** Every configured account, also one that was never read. */
function accountsOf(fleet: GroupParts['fleet']): ReadonlySet<string> {
  return new Set([...[...fleet.accounts()].map(({ name }) => name), ...fleet.guarding().map(({ account }) => account)]);
}
