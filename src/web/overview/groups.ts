// The fleet by account, domain, provider or tag. Groups that need a person come first.
import { silenceOf } from '../../alerts/routing.ts';
import type { Alert } from '../../core/alert.ts';
import { domainOf, type GuardState, type MailboxState, type Tags } from '../../core/mailbox.ts';
import { compareKeys, type Key } from '../query.ts';
import { WideAlerts } from './alerts.ts';
import { type RankedMailbox, type RankingParts, rankedOf, rankWith } from './fleet.ts';

export const groupings = ['account', 'domain', 'provider', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

interface GroupDraft {
  /** Number of mailboxes, or null for an account without a completely read mailbox list. */
  mailboxes: number | null;
  readonly states: Map<GuardState, number>;
  /** Firing alerts. Each counts once, even if it concerns several mailboxes of the group. */
  readonly firing: Set<Alert>;
  sent: number;
  bounced: number;
  /** Rank of the worst mailbox or alert: lower is worse. */
  rank: number;
}

export interface Group extends Readonly<Omit<GroupDraft, 'firing'>> {
  /** Name, or null for mailboxes without a tag or provider. */
  readonly name: string | null;
  readonly alerts: number;
}

/** Sort key: those that need a person first. A group without a name comes before every name. */
export function groupKey({ name, rank, sent, bounced }: Group): Key {
  return [rank, sent === 0 ? 1 : -bounced / sent, name === null ? '' : `=${name}`];
}

const namesBy: Readonly<Record<Grouping, (mailbox: MailboxState, tags: Tags) => readonly (string | null)[]>> = {
  account: ({ account }) => [account],
  domain: ({ email }) => [domainOf(email)],
  provider: ({ entry }) => [entry.answer.provider],
  tag: (mailbox, tags) => (tags.of(mailbox).length === 0 ? [null] : tags.of(mailbox)),
};

export const usualGrouping: Grouping = 'account';

export function readGroups(parts: RankingParts, by: Grouping): readonly Group[] {
  const { fleet, world } = parts;
  const silences = fleet.silences(world.clock.now());
  const wide = new WideAlerts(fleet.wideAlerts());
  const isLoud = (alert: Alert) => silences.length === 0 || silenceOf(alert, silences, fleet) === null;
  const unread = fleet.unreadAccounts();
  const groups = new Map<string | null, GroupDraft>();
  const groupOf = (name: string | null, mailboxes: number | null = 0) => {
    const [states, firing] = [new Map<GuardState, number>(), new Set<Alert>()];
    const empty = { mailboxes, states, firing, sent: 0, bounced: 0, rank: Number.MAX_SAFE_INTEGER };
    const group = groups.get(name) ?? empty;
    groups.set(name, group);
    return group;
  };
  for (const one of rankedOf(parts)) {
    const { mailbox, alerts } = one;
    const state = one.state === 'ok' && unread.has(mailbox.account) ? 'not_judged' : one.state;
    const about = wide.about(mailbox);
    const rank = Math.min(one.rank, rankWith(state, about.filter(isLoud)));
    const firing = [...alerts, ...about];
    for (const name of namesBy[by](mailbox, fleet.tags)) addTo(groupOf(name), { mailbox, state, firing, rank });
  }
  if (by === 'account') {
    for (const name of fleet.accountNames()) {
      const account = fleet.account(name);
      const group = groupOf(name, account?.listed ? 0 : null);
      const alerts = wide.ofAccount(name);
      for (const alert of alerts) group.firing.add(alert);
      // An unreadable account ranks as a mailbox that cannot be judged.
      const state = account === undefined || unread.has(name) ? 'not_judged' : 'ok';
      group.rank = Math.min(group.rank, rankWith(state, alerts.filter(isLoud)));
    }
  }
  return [...groups]
    .map(([name, { firing, ...counted }]) => ({ ...counted, name, alerts: firing.size }))
    .sort((a, b) => compareKeys(groupKey(a), groupKey(b)));
}

interface CountedMailbox extends Pick<RankedMailbox, 'mailbox' | 'state' | 'rank'> {
  readonly firing: readonly Alert[];
}

function addTo(group: GroupDraft, { mailbox, state, firing, rank }: CountedMailbox): void {
  const verdict = mailbox.verdict?.answer;
  group.mailboxes = (group.mailboxes ?? 0) + 1;
  group.states.set(state, (group.states.get(state) ?? 0) + 1);
  for (const alert of firing) group.firing.add(alert);
  group.rank = Math.min(group.rank, rank);
  if (!verdict?.windowFrom) return;
  group.sent += verdict.sent;
  group.bounced += verdict.bounced;
}
