// The part of the fleet that a token with limits may see: the routes that answer it, and what they read for it. A route
// that is not listed here refuses such a token.

import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import { type PartFacts, partOf } from '../../alerts/client-part.ts';
import { worstOf } from '../../alerts/grouping.ts';
import { type Audience, audienceIn } from '../../alerts/routing.ts';
import type { Action } from '../../core/action.ts';
import type { AlertMatch, Silence, Transition } from '../../core/alert.ts';
import { Fleet } from '../../core/fleet/fleet.ts';
import type { Incident } from '../../core/incident.ts';
import { type AccountState, domainOf, type ReadFailure, type Tags } from '../../core/mailbox.ts';
import { fitsGlob, namesMailbox } from '../../core/mailbox-pattern.ts';
import type { CommandEntry } from '../../core/operator-command.ts';
import type { HistoryQuery } from '../../core/records.ts';
import { storeTitle } from '../../core/store-failure.ts';
import type { WritesOff } from '../../core/write-scope.ts';
import { nextTurn } from '../../world/world.ts';
import type { RouteParts } from '../route-parts.ts';

/** Routes that answer a token with limits. They read everything through the parts that `partsFor` returns. */
const openRoutes: ReadonlySet<string> = new Set([
  ...['GET /', 'GET /groups', 'GET /alerts', 'GET /activity', 'GET /silences', 'GET /runbooks'],
  ...['GET /mailboxes/:account/:id', 'GET /events', 'GET /metrics', 'POST /sign-out'],
  ...['GET /api/fleet', 'GET /api/groups', 'GET /api/explain'],
  ...['GET /api/alerts', 'GET /api/silences', 'GET /api/history'],
]);

/** True if a token with limits may open the address of the request. An unknown address has no route to refuse. */
export function isOpenToLimited(c: Context): boolean {
  const routes = matchedRoutes(c).filter(({ method }) => method !== 'ALL');
  return routes.every(({ method, path }) => openRoutes.has(`${method} ${path}`));
}

export const beyondLimits = 'This token shows a part of the fleet, and this address is not about that part alone.';

export function isLimited(c: Context): boolean {
  return limitsOf(c) !== null;
}

export function limitsOf(c: Context): AlertMatch | null {
  return c.get('asker')?.limits ?? null;
}

/** Parts for the visitor of a request: those of the whole fleet, or of what the limits of the token let it see. */
export function partsFor(c: Context, parts: RouteParts): RouteParts {
  const limits = limitsOf(c);
  return limits === null ? parts : partsWithin(parts, limits);
}

interface Seen {
  readonly revision: number;
  readonly tags: Tags;
  readonly fleet: Fleet;
}

/** Newest picture by the limits of each token. */
const pictures = new WeakMap<AlertMatch, Seen>();

function partsWithin(parts: RouteParts, limits: AlertMatch): RouteParts {
  const { fleet: whole, world, history, entries, transitions } = parts;
  const audience = audienceIn([limits], whole);
  const words = { fleet: whole, zone: parts.timeZone() };
  const known = pictures.get(limits);
  const isFresh = known?.revision === whole.revision && known.tags === whole.tags;
  const fleet = isFresh ? known.fleet : fleetWithin(audience, words, world.clock.now());
  if (!isFresh) pictures.set(limits, { revision: whole.revision, tags: whole.tags, fleet });
  const placeOf = ({ at, id }: CommandEntry) => ({ at, id });
  const seesAction = ({ account, mailboxId: id, email }: Action) => audience.sees({ account, id, email });
  return {
    ...sharedParts(parts),
    isLimited: true,
    fleet,
    ready: () => ({ ...parts.ready(), reasons: [] }),
    history: {
      commands: (query) =>
        readVisible(
          (page) => history.commands(page),
          query,
          (entry) => seesCommand(audience, entry),
          placeOf,
        ),
      guardActions: (query) =>
        readVisible(
          async (page) => (await history.guardActions(page)).map(withoutReason),
          query,
          seesAction,
          ({ plannedAt, id }) => ({ at: plannedAt, id }),
        ),
    },
    entries: {
      entriesOf: async (mailbox, until, limit) => {
        const { actions, ...rest } = await entries.entriesOf(mailbox, until, limit);
        return { ...rest, actions: actions.map(withoutReason) };
      },
    },
    transitions: async (limit, before) =>
      (await transitions(limit, before)).map(({ id, transition }) => ({
        id,
        transition: transition && transitionWithin(audience, transition, words),
      })),
    deliveries: async () => [],
    muteTimes: () => [],
    operate: () => null,
  };
}

/** Parts that name nothing of the fleet, or that no open route reads. Types go red for a part that is neither here nor filtered. */
function sharedParts(parts: RouteParts) {
  const { world, host, auth, trustedProxies, allowedHosts, publicUrl, pathPrefix, sessionKey } = parts;
  const { metrics, recipes, policyOf, timeZone, version } = parts;
  const access = { host, auth, trustedProxies, allowedHosts, publicUrl, pathPrefix, sessionKey };
  return { ...access, world, metrics, recipes, policyOf, timeZone, version };
}

/** Number of rows that one read of a filtered list takes from the store. */
const rowsARead = 500;

/** Reads on until `query.limit` rows are visible, or there are no more. */
async function readVisible<Row extends { readonly id: Id }, Id>(
  read: (query: HistoryQuery<Id>) => Promise<readonly Row[]>,
  query: HistoryQuery<Id>,
  isVisible: (row: Row) => boolean,
  placeOf: (row: Row) => { readonly at: number; readonly id: Id },
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (let before = query.before ?? null; ; ) {
    const rows = await read({ ...query, before, limit: rowsARead });
    found.push(...rows.filter(isVisible));
    const last = rows.at(-1);
    if (found.length >= query.limit || rows.length < rowsARead || !last) return found.slice(0, query.limit);
    before = placeOf(last);
    await nextTurn();
  }
}

/** A command is shown if all that it is about belongs to the part: its text and its reason may name everything else. */
function seesCommand({ sees, seesAll }: Audience, { account, mailboxes }: CommandEntry): boolean {
  return mailboxes.length > 0 ? mailboxes.every(sees) : account !== null && seesAll(account);
}

function transitionWithin(audience: Audience, transition: Transition, words: PartFacts): Transition | null {
  const alert = partOf(audience, transition, words);
  return alert.facts.withheld ? null : { ...transition, alert };
}

/** A reason may be about many mailboxes, and may name those of others. */
function withoutReason(action: Action): Action {
  return action.by ? { ...action, by: { ...action.by, reason: '' } } : action;
}

const actionsShown = 100;
const withoutCause = 'the cause is not shown here';

/** Picture of what an audience sees. Its totals count nothing else. It has no channels and no breakers. */
function fleetWithin(audience: Audience, words: PartFacts & { readonly fleet: Fleet }, now: number): Fleet {
  const { sees, seesAll } = audience;
  const { fleet: whole } = words;
  const part = new Fleet();
  for (const mailbox of whole.mailboxes())
    if (sees(mailbox)) part.putMailbox({ ...mailbox, action: mailbox.action && withoutReason(mailbox.action) });
  const isOwn = (account: string) => seesAll(account) || part.mailboxCount(account) > 0;
  for (const state of whole.accounts()) if (isOwn(state.name)) part.putAccount(accountWithin(audience, state));
  for (const sweep of whole.sweeps()) if (seesAll(sweep.account)) part.putSweep(sweep);
  part.putGuarding(whole.guarding().filter(({ account }) => isOwn(account)));
  for (const alert of whole.alerts()) {
    const seen = transitionWithin(audience, { kind: 'firing', at: alert.since, alert }, words);
    if (seen) part.putAlert(seen.alert);
  }
  const isOfPart = ({ account, mailboxId }: Action) => part.mailbox(account, mailboxId) !== undefined;
  // The newest actions of the whole fleet may all be of others.
  const actions = [...[...part.mailboxes()].flatMap(({ action }) => action ?? []), ...whole.recentActions()];
  const newest = actions.filter(isOfPart).sort((a, b) => b.plannedAt - a.plannedAt);
  for (const action of newest.slice(0, actionsShown).toReversed()) part.putAction(withoutReason(action));
  for (const incident of whole.incidents().flatMap((one) => incidentWithin(audience, one))) part.putIncident(incident);
  for (const off of whole.knownWritesOff()) {
    const seen = writesOffWithin(audience, off, isOwn);
    if (seen) part.putWritesOff(seen);
  }
  const ownTags = new Set([...part.mailboxes()].flatMap((mailbox) => whole.tags.of(mailbox)));
  for (const silence of whole.knownSilences(now)) {
    const seen = silenceWithin(audience, silence, words, [...ownTags]);
    if (seen) part.putSilence(seen);
  }
  const { storeFailure } = whole;
  const vague = storeFailure && { ...storeFailure, said: storeTitle, remedy: 'Ask the people who run Warmwarden.' };
  part.putStoreFailure(vague, whole.storeFailingSince);
  part.tags = {
    all: () => [...ownTags].sort(),
    of: (mailbox) => whole.tags.of(mailbox),
    ofAccount: (account) => (seesAll(account) ? whole.tags.ofAccount(account) : []),
    choicesOf: (account) => (seesAll(account) ? whole.tags.choicesOf(account) : []),
  };
  return part;
}

/** Account as the audience may see it: of a key that others share, no counts, and no words of the API. */
function accountWithin({ sees, seesAll }: Audience, account: AccountState): AccountState {
  const { name, guardedElsewhere = [], lastFailure, listFailing, listUnrecorded, unjudged } = account;
  const seen = { ...account, guardedElsewhere: guardedElsewhere.filter(sees) };
  if (seesAll(name)) return seen;
  const vague = (failure: ReadFailure | null | undefined) => failure && { ...failure, detail: withoutCause };
  return {
    ...seen,
    lastFailure: lastFailure && withoutCause,
    listFailing: vague(listFailing) ?? null,
    listUnrecorded: vague(listUnrecorded) ?? null,
    unjudged: vague(unjudged) ?? null,
    unlisted: [],
    forecast: null,
    throttledLastHour: 0,
    queueLength: 0,
    oldestDueAt: null,
  };
}

function incidentWithin({ sees }: Audience, incident: Incident): readonly Incident[] {
  const members = incident.members.filter(({ account, mailboxId: id, email }) => sees({ account, id, email }));
  const severity = worstOf(members.map((member) => member.severity));
  return members.length === 0 ? [] : [{ ...incident, members, severity, alerts: [] }];
}

const withoutAuthor = { by: 'the people who run Warmwarden', reason: 'the reason is not shown here' };

/** A stop that covers more than the part is shown without its author and its reason. */
function writesOffWithin({ sees, seesAll }: Audience, off: WritesOff, isOwn: (account: string) => boolean) {
  const { scope } = off;
  const vague = { ...off, ...withoutAuthor };
  if (scope.kind === 'mailbox') return sees({ ...scope, id: scope.mailboxId }) ? off : null;
  if (scope.kind === 'account') return seesAll(scope.account) ? off : isOwn(scope.account) ? vague : null;
  return vague;
}

/**
 * A silence that mutes mailboxes of others, too, or may once they are there, is shown without its author and its reason, and
 * with the names of the part that it fits in place of its patterns. One by object may be about anybody, and is not shown.
 */
function silenceWithin(
  { sees, seesAll }: Audience,
  silence: Silence,
  { fleet }: { readonly fleet: Fleet },
  tags: readonly string[],
) {
  const { account, tag, domain, mailbox, object } = silence.match;
  const mailboxes = [...fleet.mailboxes()].filter(audienceIn([silence.match], fleet).sees);
  const own = mailboxes.filter(sees);
  if (object !== undefined || own.length === 0) return null;
  const isOfAccounts = !tag && !domain && !mailbox;
  const accounts = [...fleet.accounts()].filter(({ name }) => account?.some((glob) => fitsGlob(glob, name)) ?? true);
  const patternsFit = [
    account?.every((glob) => own.some((one) => fitsGlob(glob, one.account))),
    tag?.every((glob) => tags.some((name) => fitsGlob(glob, name))),
    domain?.every((glob) => own.some(({ email }) => fitsGlob(glob, domainOf(email)))),
    mailbox?.every((pattern) => own.some((one) => namesMailbox(pattern, one))),
    !isOfAccounts || accounts.every(({ name }) => seesAll(name)),
  ];
  if (own.length === mailboxes.length && !patternsFit.includes(false)) return silence;
  const match: AlertMatch = {
    ...silence.match,
    ...(account && { account: [...new Set(own.map((one) => one.account))] }),
    ...(tag && { tag: tags.filter((name) => tag.some((glob) => fitsGlob(glob, name))) }),
    ...(domain && { domain: [...new Set(own.map(({ email }) => domainOf(email)))] }),
    ...(mailbox && { mailbox: own.map(({ email }) => email) }),
  };
  return { ...silence, ...withoutAuthor, match };
}
