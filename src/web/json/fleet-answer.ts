// GET /api/fleet: the headline, accounts and channels, and mailboxes worst first, `limit` of those that fit, from `cursor` on.
import { unreadAccounts } from '../../core/fleet/unread-accounts.ts';
import { eachAlert } from '../each-alert.ts';
import { FirstOf } from '../overview/first-of.ts';
import { gravestFirst, isFiring, type Rank } from '../overview/fleet-view.ts';
import { countsNow } from '../overview/state-sentence.ts';
import { type PictureParts, pictureOf } from '../picture.ts';
import { cursorAfter, type Query, readQuery } from '../query.ts';
import { refusalJson } from '../refusals.ts';
import { fleetParameters, rowsAfter } from '../selection.ts';
import { fleetJson } from './json-answers.ts';

const usualLimit = 100;
const alertsShown = 20;

export type FleetAnswer = ReturnType<typeof fleetJson>;

export async function fleetAnswer(parts: PictureParts, asked: URLSearchParams) {
  const query = readQuery(fleetParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { q = '', state = null, limit = usualLimit, cursor } = query.read;
  const picture = await pictureOf(parts);
  const after = cursor === undefined ? null : rankIn(cursor);
  const page = await rowsAfter(picture.known.ranked, { text: q.trim(), state }, { fleet: parts.fleet, after, limit });
  const next = page.last && cursorAfter(keyOf(page.last));
  const gravest = new FirstOf(gravestFirst, alertsShown);
  await eachAlert(parts.fleet.alerts(), (alert) => {
    if (isFiring(alert)) gravest.put(alert);
  });
  const { command } = parts.world;
  const body = fleetJson({
    fleet: parts.fleet,
    ...picture,
    counts: countsNow(picture.known, unreadAccounts(parts.fleet)),
    gravest: gravest.take(),
    page,
    next,
    explain: parts.explain,
    command,
  });
  return { status: 200, body } as const;
}

const keyOf = ({ urgency, closeness, mailbox: { email, id, account } }: Rank) => [
  urgency,
  closeness,
  email,
  id,
  account,
];
const rankIn = ([urgency, closeness, email, id, account]: NonNullable<
  Query<typeof fleetParameters>['cursor']
>): Rank => ({
  urgency,
  closeness,
  mailbox: { email, id, account },
});
