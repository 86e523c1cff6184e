// The views of the page: which address shows what, and from which facts. What they show belongs to no one reader.

import { mutes } from '../alerts/routing.ts';
import { namedMailbox } from '../core/mailbox.ts';
import { dayMs, type EpochMs, isIsoDate } from '../core/time.ts';
import { nextTurn, turnAfter, type World } from '../world/world.ts';
import { alertFilters } from './json/alerts.ts';
import { settingParameters } from './json/budget.ts';
import { groupParameters } from './json/fleet.ts';
import { historyFilters } from './json/history.ts';
import { alertsOnPage, messagesIn, readPast, selectionOf, spansOf } from './overview/alerts.ts';
import { agesOf, budgetAccounts } from './overview/budget.ts';
import { eachAlert } from './overview/firing-alerts.ts';
import { readGroups, usualGrouping } from './overview/fleet-groups.ts';
import { facetsOf, isFiring, rowOf } from './overview/fleet-view.ts';
import { asksForActions, asksForCommands } from './overview/history.ts';
import { pictureOf } from './overview/picture.ts';
import { pageParameters, selectionFrom, selectPage } from './overview/selection.ts';
import { activityPage } from './page/activity-page.ts';
import { alertsPage, silencesPage } from './page/alerts-page.ts';
import { budgetPage } from './page/budget-page.ts';
import { fleetPage, groupsPage } from './page/fleet-page.ts';
import { mailboxPage } from './page/mailbox-page.ts';
import { bannerOf } from './page/parts/account-panels.ts';
import type { View } from './page/parts/elements.ts';
import { recipePage, recipesPage, runPage } from './page/recipes-page.ts';
import { configurationPage, runbooksPage } from './page/reference-pages.ts';
import { type Parameter, readQuery, upTo, whole } from './query.ts';
import { recipeOf } from './recipes/run-forms.ts';
import type { RefusalWord } from './refusals.ts';
import { noSuchMailbox, type RouteParts } from './route-parts.ts';

export type ViewParts = Omit<RouteParts, 'metrics' | 'host'>;

interface Asked {
  /** The names in the path. */
  readonly names: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

type Refused = { readonly refused: RefusalWord; readonly message: string };

interface Place {
  /** `/mailboxes/:account/:id`. */
  readonly path: string;
  readonly read: (parts: ViewParts, asked: Asked) => Promise<View | Refused>;
}

const decisionsShown = 50;
/** Also for the limits of the days in the chart. */
const entriesRead = 100;
/** The year 9999. */
const maxEpochMs = 253_402_300_799_999;
const isoDate: Parameter<string> = {
  wanted: 'a date such as 2026-03-12',
  schema: { type: 'string', format: 'date' },
  required: false,
  read: (found) => (isIsoDate(found) ? found : null),
};
const deliveriesShown = 50;
/** A row takes 1.4 KB of markup. */
const rowsAPage = 50;

/** Messages about the alerts that are shown are among the newest. */
const deliveriesRead = 200;
/** Of people's commands and of Warmwarden's actions each. */
const activityRead = 200;
const maxWordLength = 400;

const pastShown = 50;
const alertParameters = { ...alertFilters, page: whole(1), before: whole(1, Number.MAX_SAFE_INTEGER) };
/** An empty text restricts nothing, as a form sends it. */
function orEmpty<Word>({ wanted, schema, required, read }: Parameter<Word>): Parameter<Word | ''> {
  const words = schema['enum'];
  const all = Array.isArray(words) ? { ...schema, enum: ['', ...words] } : schema;
  return { wanted, schema: all, required, read: (found) => (found === '' ? '' : read(found)) };
}
const activityParameters = {
  by: historyFilters.by,
  mailbox: upTo(maxWordLength),
  operation: orEmpty(historyFilters.operation),
  reason: orEmpty(historyFilters.reason),
  until: whole(0, maxEpochMs),
};

const runsShown = 30;
/** Of a run, on one page. */
const rowsShown = 100;
const runParameters = { offset: whole(0) };
const budgetParameters = { page: whole(1) };
const dayParameters = { day: isoDate, until: whole(0, maxEpochMs) };

const lenient = { ignoreUnknown: true };

async function fleetView(parts: ViewParts, { query }: Asked): Promise<View | Refused> {
  const asked = readQuery(pageParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const selection = selectionFrom(asked.read);
  const deliveries = await orNull(parts.world, () => parts.deliveries(deliveriesShown));
  // What the message of a storm is about is a megabyte.
  await nextTurn();
  const picture = await pictureOf(parts);
  const { fleet, tags } = parts;
  const page = await selectPage(picture.known.ranked, selection, { fleet, tags, rowsAPage });
  const facets = facetsOf(fleet, picture.known.providers, tags);
  const trend = await parts.trend.read();
  // Fifty rows are work for a turn of their own.
  await turnAfter(picture.known.ranked);
  return fleetPage({ fleet, ...picture, page, selection, facets, trend, deliveries, explain: parts.explain });
}

async function groupsView(parts: ViewParts, { query }: Asked): Promise<View | Refused> {
  const asked = readQuery(groupParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const { by = usualGrouping } = asked.read;
  return groupsPage(by, await readGroups(parts, by));
}

async function alertsView(parts: ViewParts, { query }: Asked): Promise<View | Refused> {
  const { fleet, world } = parts;
  const asked = readQuery(alertParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const { page = 1, before = null, ...filters } = asked.read;
  const selection = selectionOf(filters);
  const past = await orNull(world, () => readPast(parts, selection, { before, limit: pastShown }));
  const deliveries = await orNull(world, () => parts.deliveries(deliveriesRead));
  const now = world.clock.now();
  const current = await alertsOnPage(fleet, selection, page);
  // Of what fires for long, also the messages about its beginning.
  const shown = current.groups.filter(({ count }) => count === 1);
  const spans = shown.flatMap(({ first }) => spansOf(first, null));
  const told = deliveries && (await orNull(world, () => messagesIn(parts.deliveries, spans, deliveries)));
  // Long lists are work for a turn of their own.
  await nextTurn();
  return alertsPage({
    ...current,
    past,
    deliveries,
    about: told?.deliveries ?? [],
    knowsAll: told?.complete ?? false,
    silences: fleet.silences(now),
    selection,
    before,
    now,
    command: world.command,
  });
}

async function activityView(parts: ViewParts, { query }: Asked): Promise<View | Refused> {
  const { fleet, world, history, explain } = parts;
  const asked = readQuery(activityParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const { by, mailbox: name = '', operation, reason, until = null } = asked.read;
  const filter = { by: by || null, operation: operation || null, reason: reason || null };
  const now = world.clock.now();
  const found = name.trim() === '' ? null : namedMailbox(name.trim(), fleet.mailboxes());
  const wrong = found && 'wrong' in found ? found.wrong : null;
  const about = found && 'mailbox' in found ? found.mailbox : null;
  const mailbox = about && { account: about.account, ids: [about.id, ...(about.memory?.formerIds ?? [])] };
  const wanted = { since: 0, mailbox, ...filter, limit: activityRead };
  // Only what is older than that moment: no id is lower than these.
  const behind = <Id>(id: Id) => (until === null ? null : { at: until, id });
  const read = <Row>(isAsked: boolean, rows: () => Promise<readonly Row[]>) =>
    wrong === null && isAsked ? orNull(world, rows) : Promise.resolve([]);
  const commands = await read(asksForCommands(filter), () => history.commands({ ...wanted, before: behind(0) }));
  const actions = await read(asksForActions(filter), () => history.guardActions({ ...wanted, before: behind('') }));
  const selection = { ...filter, mailbox: name.trim() };
  return activityPage({ commands, actions, readAtMost: activityRead, until, selection, wrong, explain, now });
}

async function recipeView(parts: ViewParts, { names }: Asked): Promise<View | Refused> {
  const { world, recipes } = parts;
  const { service } = recipes;
  const recipe = await recipeOf(service, names['id'] ?? '');
  if (!recipe) return { refused: 'not_found', message: 'There is no recipe with this id.' };
  const runs = await service.runsOf(recipe.id, runsShown);
  const known = 'refused' in runs ? [] : runs;
  return recipePage({ recipe, runs: known, now: world.clock.now(), command: world.command });
}

async function runView({ world, recipes: { service } }: ViewParts, { names, query }: Asked): Promise<View | Refused> {
  const asked = readQuery(runParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const page = await service.rows(names['id'] ?? '', { offset: asked.read.offset ?? 0, limit: rowsShown });
  if ('refused' in page) return { refused: 'not_found', message: page.said.join(' ') };
  return runPage({ page, recipe: await recipeOf(service, page.run.recipe), now: world.clock.now() });
}

async function configurationView({ settings }: ViewParts, { query }: Asked): Promise<View | Refused> {
  const asked = readQuery(settingParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const { q = '', changed } = asked.read;
  return configurationPage({ settings: settings(), selection: { text: q.trim(), changedOnly: changed === 'only' } });
}

async function budgetView({ fleet, world, timeZone }: ViewParts, { query }: Asked): Promise<View | Refused> {
  const asked = readQuery(budgetParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const shown = budgetAccounts(fleet, asked.read.page ?? 1);
  const ages = await agesOf(fleet, shown.accounts);
  return budgetPage({ fleet, ...shown, ages, now: world.clock.now(), zone: timeZone() });
}

async function silencesView({ fleet, world }: ViewParts): Promise<View> {
  const now = world.clock.now();
  const silences = fleet.silences(now);
  const muted = silences.map(() => 0);
  await eachAlert(fleet.alerts(), (alert) => {
    if (!isFiring(alert)) return;
    for (const [index, { match }] of silences.entries())
      if (mutes(match, alert)) muted[index] = (muted[index] ?? 0) + 1;
  });
  return silencesPage({ silences, muted, now, command: world.command });
}

async function mailboxView(parts: ViewParts, { names, query }: Asked): Promise<View | Refused> {
  const { fleet, world, explain, nearLimitPpmOf, timeZone } = parts;
  const { account = '', id = '' } = names;
  const mailbox = fleet.mailbox(account, id);
  if (!mailbox) return { refused: 'unknown_mailbox', message: noSuchMailbox };
  const asked = readQuery(dayParameters, query, lenient);
  if ('wrong' in asked) return { refused: 'bad_request', message: asked.wrong };
  const now = world.clock.now();
  const until = asked.read.until ?? (asked.read.day === undefined ? null : Date.parse(asked.read.day) + dayMs - 1);
  const read = (moment: EpochMs) => orNull(world, () => parts.entries.entriesOf(mailbox, moment, entriesRead));
  const entries = await read(now);
  const shown = until === null || until >= now ? entries : await read(until);
  const decided = shown && {
    decisions: shown.decisions.slice(0, decisionsShown),
    until: until !== null && until < now ? until : null,
    more: shown.decisions.length > decisionsShown,
  };
  const row = rowOf(fleet, fleet.mailbox(account, id) ?? mailbox, nearLimitPpmOf);
  return mailboxPage({ fleet, row, entries, decided, explain, now, command: world.command, zone: timeZone() });
}

export const places: readonly Place[] = [
  { path: '/', read: fleetView },
  { path: '/groups', read: groupsView },
  { path: '/alerts', read: alertsView },
  { path: '/activity', read: activityView },
  { path: '/silences', read: silencesView },
  { path: '/budget', read: budgetView },
  { path: '/recipes', read: async ({ recipes }) => recipesPage(await recipes.service.list()) },
  { path: '/recipes/:id', read: recipeView },
  { path: '/runs/:id', read: runView },
  { path: '/configuration', read: configurationView },
  { path: '/mailboxes/:account/:id', read: mailboxView },
  { path: '/runbooks', read: async ({ world }) => runbooksPage(world.command) },
];

/** What is there, and on every page what is wrong whatever it is about. */
export async function readPlace({ path, read }: Place, parts: ViewParts, asked: Asked): Promise<View | Refused> {
  const view = await read(parts, asked);
  if ('refused' in view) return view;
  const { fleet, world, timeZone } = parts;
  const now = world.clock.now();
  const facts = {
    guarding: fleet.guarding(),
    storeFailure: fleet.storeFailure,
    accounts: [...fleet.accounts()],
    writesOff: fleet.writesOff(now),
    now,
    zone: timeZone(),
  };
  const banner = bannerOf(facts, path === '/');
  const isStopped = facts.writesOff.some(({ scope }) => scope.kind === 'everything');
  return { ...view, banner, isStopped };
}

/** What the store tells, or null: a page at 3 a.m. must stand although the store does not answer. */
async function orNull<Read>(world: World, read: () => Promise<Read>): Promise<Read | null> {
  try {
    return await read();
  } catch (error) {
    world.log.error({ err: error }, 'history could not be read for a page');
    return null;
  }
}
