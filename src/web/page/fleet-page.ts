// The status page: problems, past actions with their reasons, advice; then the whole fleet.
import { html } from 'hono/html';
import { neededNoChange } from '../../core/action.ts';
import { type GuardState, guardStates, stateTable, urgentStates } from '../../core/mailbox.ts';
import { accountBadges } from '../../core/not-guarded.ts';
import { mailboxPath } from '../../core/page-links.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, numberText, percentText } from '../../core/wording/phrases.ts';
import { factsOf, pausedBy } from '../../core/wording/states.ts';
import { scopeText } from '../../core/write-scope.ts';
import { groupParameters } from '../json/fleet.ts';
import {
  guardedText,
  holdFacts,
  type MailboxRow,
  type Picture,
  pageParameters,
  pictureOf,
  type Selection,
  type Sorting,
  selectPage,
} from '../overview/fleet.ts';
import { type Group, type Grouping, groupings, readGroups, usualGrouping } from '../overview/groups.ts';
import type { RouteParts } from '../route-parts.ts';
import { pageAt } from './page-route.ts';
import { accountsPanel, channelsPanel, incidentsPanel } from './parts/account-panels.ts';
import {
  addSilenceLink,
  doLink,
  endStop,
  selectBox,
  selectionBar,
  undoLink,
  writeStopLink,
  writesOnPath,
} from './parts/command-links.ts';
import {
  age,
  ago,
  breakable,
  cardTable,
  cell,
  chip,
  choice,
  headingWith,
  type Inside,
  lasting,
  type Markup,
  muted,
  pageLinks,
  panel,
  pathTo,
  prose,
  rateCell,
  stateBadge,
  text,
} from './parts/elements.ts';
import { actionItem, alertGroupItem } from './parts/items.ts';

export const fleetPage = pageAt('/', pageParameters, async (parts, selection) => {
  const { fleet } = parts;
  const picture = pictureOf(parts);
  const { headline, firing, incidents, now } = picture;
  const silences = fleet.silences(now);
  const actions = fleet
    .recentActions()
    .filter((action) => !neededNoChange(action))
    .map((action) => actionItem({ action, now, link: true }));
  const done =
    actions.length === 0 ? html`<p class="muted">Warmwarden has not changed a mailbox yet.</p>` : folded(actions);
  const body = html`
<section class="headline ${headline.tone}" aria-label="Summary">
<h1>${text(headline.sentence)}</h1>
<p class="advice">${prose(headline.advice)}</p>
${stopEnds(parts, now)}
<p class="muted">${since(picture)}</p>
</section>
<div class="columns">
<div>
${incidents.length > 0 && incidentsPanel(incidents, now, picture.zone)}
${firing.count() > 0 && alertsPanel(parts, picture)}
${silences.length > 0 && html`<p class="muted">${counted(silences.length, 'silence is', 'silences are')} in force: see <a href="/silences">all silences</a>.</p>`}
${panel('actions', 'What was done', done)}
</div>
<div>
${accountsPanel({ fleet, ...picture })}
${!parts.isLimited && channelsPanel(fleet, now)}
</div>
</div>
${await mailboxesPanel(parts, picture, selection)}
${selectionBar()}`;
  const isStopped = picture.writesOff.some(({ scope }) => scope.kind === 'everything');
  const commands = [undoLink, addSilenceLink, writeStopLink(isStopped)];
  return { title: `${headline.tone === 'calm' ? '' : '● '}${headline.sentence} · Warmwarden`, body, commands };
});

const stopsOffered = 3;

function stopEnds({ fleet }: RouteParts, now: EpochMs): Markup | '' {
  const stops = fleet.writesOff(now).slice(0, stopsOffered);
  if (stops.length === 0) return '';
  return html`<p class="line">${stops.map(({ scope }) => doLink(writesOnPath(scope), stops.length === 1 ? endStop : `${endStop}: ${text(scopeText(scope))}`))}</p>`;
}

function since(picture: Picture): Markup {
  const { ranked, accounts, troubles, guarded, firstSeenAt, oldestStatsAt, unread, now } = picture;
  if (firstSeenAt === null) return html`No mailbox is known yet.`;
  const empty = troubles.filter(({ cause }) => cause === 'no mailbox').length;
  const date = new Date(firstSeenAt).toISOString();
  const began = html` on ${counted(accounts.length - empty, 'account')} since <time datetime="${date}" title="${date}" data-show="day">${date.slice(0, 10)}</time>`;
  const never = unread === 0 ? '' : `; those of ${counted(unread, 'mailbox', 'mailboxes')} were never read`;
  return html`${guardedText(picture)}${guarded === ranked.length && began}. Oldest stats: ${ago(oldestStatsAt, now)}${never}.`;
}

const shownAtOnce = 6;

function folded(items: readonly Markup[]): Markup {
  const rest = items.slice(shownAtOnce);
  return html`<ol class="events">${items.slice(0, shownAtOnce)}</ol>
${rest.length > 0 && html`<details><summary>${rest.length} more</summary><ol class="events">${rest}</ol></details>`}`;
}

const alertsShown = 20;

function alertsPanel({ fleet }: RouteParts, { firing, now }: Picture): Markup {
  const silences = fleet.silences(now);
  const shown = firing.groups.slice(0, alertsShown);
  const items = shown.map((group) => alertGroupItem(group, {}, { now, silences, fleet }));
  const left = firing.count() - shown.reduce((sum, { count }) => sum + count, 0);
  const more = html`<p class="muted">${counted(left, 'more alert is', 'more alerts are')} firing, and none is more severe than these: see <a href="/alerts">all alerts</a>.</p>`;
  return panel('alerts', headingWith('Firing alerts', firing.count()), html`${folded(items)}\n${left > 0 && more}`);
}

// The table of the fleet, with its filter and pages.

async function mailboxesPanel(parts: RouteParts, picture: Picture, selection: Selection): Promise<Markup> {
  const page = selectPage(picture, selection, parts);
  const isUnknown = Object.values(picture.counts).every((count) => count === 0);
  const none = isUnknown
    ? html`<p class="muted">No mailbox is known yet.</p>`
    : html`<p class="muted">No mailbox matches. <a href="/">Show all</a></p>`;
  return html`<section class="panel fleet" aria-labelledby="fleet">
<div class="bar"><h2 id="fleet">${headingWith('Mailboxes', page.total)}</h2>${filterForm(parts, picture, selection)}</div>
${stateLinks(selection, picture)}
${selection.held ? await heldTable(parts, page.rows, picture.now) : mailboxTable(page.rows, picture, selection)}
${page.rows.length === 0 ? none : pageLinks(page, (target) => pathTo('/', { ...selection, page: target }))}
<p class="keys">Keys: <kbd>/</kbd> filter, <kbd>j</kbd> and <kbd>k</kbd> next and previous mailbox, <kbd>Enter</kbd> open it, <kbd>x</kbd> select it.</p>
</section>`;
}

const providersOffered = 100;

function filterForm({ fleet }: RouteParts, { accounts, providers }: Picture, selection: Selection): Markup {
  const names = accounts.map(({ name }) => name).sort();
  const offered = [...providers].sort().slice(0, providersOffered);
  const only = (name: 'account' | 'provider' | 'tag', values: readonly string[]) =>
    choice({ name, label: `Only the ${name}`, all: `every ${name}`, values, chosen: selection[name] });
  const hidden = (['state', 'domain', 'held', 'sort'] as const).map(
    (name) => selection[name] && html`<input type="hidden" name="${name}" value="${selection[name]}">`,
  );
  return html`<form class="filter" role="search" action="/" method="get">
<label for="q">Filter</label>
<input id="q" name="q" type="search" value="${selection.q}" maxlength="200" placeholder="address, domain, mode …" autocomplete="off" data-key="/" aria-keyshortcuts="/">
${only('account', names.length > 1 ? names : [])}
${only('provider', offered.length > 1 ? offered : [])}
${only('tag', fleet.tags.all())}
${hidden}
<button type="submit">Show</button>
</form>`;
}

function stateLinks(selection: Selection, { counts, held }: Picture): Markup {
  const { state: chosen, domain } = selection;
  const link = (state: GuardState | undefined, word: string, total: number) => {
    const path = pathTo('/', { ...selection, state, held: undefined, page: undefined });
    return chip({ path, word, total, isChosen: chosen === state && !selection.held, tone: state ?? 'all' });
  };
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const present = guardStates.filter((state) => counts[state] > 0 || chosen === state);
  const heldPath = pathTo('/', { ...selection, state: undefined, sort: undefined, page: undefined, held: 'true' });
  const oldest = chip({
    path: heldPath,
    word: 'Paused, slowed or held',
    total: held,
    isChosen: Boolean(selection.held),
  });
  const narrowed =
    domain &&
    html`<li><a class="chip" href="${pathTo('/', { ...selection, domain: undefined, page: undefined })}" aria-label="Every domain, not only ${text(domain)}">${text(domain)} ×</a></li>`;
  return html`<nav aria-label="Filter by state"><ul class="chips">${link(undefined, 'All', all)}${present.map((state) => link(state, stateTable[state].label, counts[state]))}${held > 0 && oldest}${narrowed}</ul></nav>`;
}

const columns: readonly (readonly [string, Sorting?, ('ascending' | 'descending')?])[] = [
  ['State', 'worst', 'descending'],
  ['Mailbox', 'address', 'ascending'],
  ['Mode'],
  ['Bounce rate against the limit', 'rate', 'descending'],
  ['To breach', 'left', 'ascending'],
  ['Health', 'health', 'ascending'],
  ['DNS'],
  ['Blacklists'],
  ['Stats age', 'age', 'descending'],
];

function mailboxTable(rows: readonly MailboxRow[], { troubles, now }: Picture, selection: Selection): Markup {
  const troubleOf = accountBadges(troubles);
  const headings = columns.map(([heading, sort, direction]) => {
    if (sort === undefined) return html`<th role="columnheader" scope="col">${heading}</th>`;
    const isSorted = (selection.sort ?? 'worst') === sort;
    const mark = isSorted && html` <span aria-hidden="true">${direction === 'ascending' ? '↑' : '↓'}</span>`;
    const path = pathTo('/', { ...selection, sort: sort === 'worst' ? undefined : sort, page: undefined });
    return html`<th role="columnheader" scope="col"${isSorted && html` aria-sort="${direction ?? ''}"`}><a href="${path}">${heading}${mark}</a></th>`;
  });
  const items = rows.map((row) => tableRow(row, troubleOf.get(row.mailbox.account) ?? null, now));
  return cardTable('rows', 'Mailboxes', headings, items);
}

function tableRow(row: MailboxRow, trouble: string | null, now: EpochMs): Markup {
  const { mailbox, verdict, state, dns, listings, healthScore } = row;
  const { account, id } = mailbox;
  const mode = mailbox.warmup?.answer.mode ?? null;
  const until = verdict?.windowFrom ? verdict.bouncesUntilBreach : null;
  const by = state === 'paused_by_others' ? pausedBy(factsOf(mailbox)) : null;
  const troubles = row.alerts.filter((alert) => alert.severity !== 'info').length;
  return html`<tr role="row" id="row-${encodeURIComponent(account)}/${encodeURIComponent(id)}" class="${state}">
${cell('State', stateBadge(state, verdict), 'state')}
${mailboxCell(row, html`${text(account)}${by && html` · ${text(by.name)}, through Warmwarden`}${trouble && html` · <b class="bad">${trouble}</b>`}${troubles > 0 && html` · <b class="bad">${counted(troubles, 'alert')}</b>`}`)}
${cell('Mode', mode === null ? muted('–') : text(mode))}
${cell('Bounce rate against the limit', rateCell(row), 'rate')}
${cell('To breach', until === null ? muted('–') : numberText(until), 'number')}
${cell('Health', healthScore === null ? muted('–') : numberText(healthScore), 'number')}
${cell('DNS', dnsCell(dns))}
${cell('Blacklists', listings === null ? muted('unknown') : listings === 0 ? 'none' : html`<strong class="bad">${listings === 'listed' ? 'listed' : `on ${numberText(listings)}`}</strong>`)}
${cell('Stats age', age(row.statsAt, now), 'number')}
</tr>`;
}

const heldColumns = ['State', 'Mailbox', 'For', 'Why', 'Ends with'] as const;

async function heldTable(parts: RouteParts, rows: readonly MailboxRow[], now: EpochMs): Promise<Markup> {
  const headings = heldColumns.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`);
  const items = rows.map(async (row) => {
    const { mailbox, state, verdict } = row;
    const held = await holdFacts(parts, row);
    return html`<tr role="row" class="${state}">
${cell('State', stateBadge(state, verdict), 'state')}
${mailboxCell(row, text(mailbox.account))}
${cell('For', held?.since ? lasting(held.since, now) : muted('unknown'))}
${cell('Why', text(held?.text ?? ''))}
${cell('Ends with', prose(held?.ends ?? ''))}
</tr>`;
  });
  return cardTable('rows', 'Paused, slowed or held mailboxes', headings, await Promise.all(items));
}

function mailboxCell({ mailbox, label }: MailboxRow, below: Inside): Markup {
  return html`<th role="rowheader" scope="row">${selectBox(mailbox, label)} <a href="${mailboxPath(mailbox)}">${breakable(label)}</a><small>${below}</small></th>`;
}

/** Result of the DNS checks in words, because colour alone is not accessible. */
function dnsCell(dns: MailboxRow['dns']): Markup {
  if (dns === null) return muted('never read');
  const failing = dns.failing.map((name) => name.toUpperCase()).join(', ');
  if (failing) return html`<strong class="bad">${failing} failing</strong>`;
  return dns.inconclusive.length > 0 ? muted('unclear') : html`<span class="good">passing</span>`;
}

// The fleet by account, domain, provider or tag.

/** Largest number of groups on the page: if each mailbox has its own domain, the full page would be megabytes. */
const groupsShown = 200;

export const groupsPage = pageAt('/groups', groupParameters, (parts, { by = usualGrouping }) => {
  const groups = readGroups(parts, by);
  const rows = groups.slice(0, groupsShown).map((group) => groupRow(by, group));
  const left = groups.length - rows.length;
  const links = groupings.map((one) => chip({ path: `/groups?by=${one}`, word: `By ${one}`, isChosen: one === by }));
  const headings = ['Group', 'Mailboxes', 'States', 'Alerts', 'Bounce rate'].map(
    (heading) => html`<th role="columnheader" scope="col">${heading}</th>`,
  );
  const body = html`<h1>The fleet by ${by}</h1>
<nav aria-label="Group by"><ul class="chips">${links}</ul></nav>
<section class="panel fleet groups" aria-label="Groups">
<p class="muted">${counted(groups.length, by)}, the ones that need attention first.${by === 'tag' && ' Tags are set in the configuration: accounts[].tags and overrides[].tags.'}</p>
${cardTable('groups', 'Groups', headings, rows)}
${left > 0 && html`<p class="muted">${counted(left, 'more group is', 'more groups are')} not shown.</p>`}
</section>`;
  return { title: `The fleet by ${by} · Warmwarden`, body };
});

function groupRow(by: Grouping, group: Group): Markup {
  const { name, mailboxes, states, alerts, sent, bounced } = group;
  const badges = urgentStates
    .filter((state) => states.has(state))
    .map((state) => html`<span class="line">${stateBadge(state, null)} ${numberText(states.get(state) ?? 0)}</span> `);
  const rate = html`${numberText(bounced)} of ${numberText(sent)} = <b>${percentText((bounced * 1e6) / sent)}</b>`;
  const link =
    name === null ? muted(`no ${by}`) : html`<a href="${pathTo('/', { [by]: name })}">${breakable(name)}</a>`;
  const unread = html`<span class="bad">no mailbox list read yet</span>`;
  return html`<tr role="row" id="${by}-${encodeURIComponent(name ?? ' ')}">
<th role="rowheader" scope="row">${link}</th>
${cell('Mailboxes', mailboxes === null ? 'unknown' : numberText(mailboxes), 'number')}
${cell('States', mailboxes === null ? unread : html`<span class="line">${badges}</span>`, 'states')}
${cell('Alerts', alerts === 0 ? 'none' : html`<strong class="bad">${numberText(alerts)}</strong>`, 'number')}
${cell('Bounce rate', sent === 0 ? muted('–') : rate, 'number')}
</tr>`;
}
