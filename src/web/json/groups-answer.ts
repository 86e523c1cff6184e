// GET /api/groups, and what the page of groups is read from: the fleet by account, domain, provider or tag.
import { unreadAccounts } from '../../core/fleet/unread-accounts.ts';
import { guardStates } from '../../core/mailbox.ts';
import { inTurns, turnAfter } from '../../world/world.ts';
import { type Group, Grouped, type Grouping, groupings, shareOf } from '../overview/fleet-groups.ts';
import { cursorOf, oneOf, pageAfter, readQuery, whole } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import type { RouteParts } from '../route-parts.ts';
import { iso } from './json-answers.ts';

const usualLimit = 100;
export const groupParameters = { by: oneOf(...groupings) };
export const groupsParameters = {
  ...groupParameters,
  limit: whole(1, 1_000),
  cursor: cursorOf('number', 'number', 'text'),
};
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
  await inTurns(ranked, add, { urgency: 'patient' });
  if (by === 'account') for (const name of accountsOf(fleet)) grouped.addAccount(name, fleet.account(name) ?? null);
  const groups = grouped.groups();
  await turnAfter(groups, 'patient');
  return groups;
}

/** Every configured account, also one that was never read. */
function accountsOf(fleet: GroupParts['fleet']): ReadonlySet<string> {
  return new Set([...[...fleet.accounts()].map(({ name }) => name), ...fleet.guarding().map(({ account }) => account)]);
}

/** As the page orders them. No name comes before every name. */
const keyOf = (group: Group) => [group.urgency, -shareOf(group), group.name === null ? '' : `=${group.name}`];

/** `asked`: `by`, `limit` and `cursor`. */
export async function groupsAnswer(parts: GroupParts, asked: URLSearchParams) {
  const query = readQuery(groupsParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { by = usualGrouping, limit = usualLimit, cursor: after } = query.read;
  const groups = await readGroups(parts, by);
  const { rows, next } = pageAfter(groups, keyOf, { after, limit });
  const at = iso(parts.world.clock.now());
  return {
    status: 200,
    body: { at, by, total: groups.length, groups: rows.map(groupJson), next_cursor: next },
  } as const;
}

function groupJson({ name, mailboxes, states, alerts, sent, bounced }: Group) {
  return {
    name,
    mailboxes,
    states: Object.fromEntries(guardStates.map((state) => [state, states.get(state) ?? 0])),
    alerts_firing: alerts,
    sent,
    bounced,
    rate_percent: sent === 0 ? null : (bounced * 100) / sent,
  };
}
