// The status page: problems, past actions with their reasons, advice; then the whole fleet.
import { html } from 'hono/html';
import { silenceOf } from '../../alerts/routing.ts';
import { neededNoChange } from '../../core/action.ts';
import type { Silence } from '../../core/alert.ts';
import type { ListedDelivery } from '../../core/delivery.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { type GuardState, guardStates } from '../../core/mailbox.ts';
import { mailboxPath } from '../../core/page-links.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { factsOf, pausedBy } from '../../core/wording/paused.ts';
import { counted, numberText } from '../../core/wording/phrases.ts';
import { accountTrouble, stateWords } from '../../core/wording/states.ts';
import { scopeText } from '../../core/write-scope.ts';
import type { FiringAlerts } from '../overview/alerts.ts';
import {
  type Facets,
  facetsOf,
  isHeldEmergency,
  type MailboxRow,
  type Page,
  type Picture,
  pageParameters,
  pictureOf,
  type Selection,
  type Sorting,
  selectionFrom,
  selectPage,
  wholeFleet,
} from '../overview/fleet.ts';
import { isEmpty, type StateCounts } from '../overview/headline.ts';
import type { TrendDay } from '../overview/trend.ts';
import { alertsPath } from './alerts-page.ts';
import { accountsPanel, channelsPanel, incidentsPanel, silencesPanel } from './parts/account-panels.ts';
import { trendPanel } from './parts/charts.ts';
import { doLink, endStop, selectBox, writesOnPath } from './parts/command-links.ts';
import { age, ago, breakable, type Markup, pageLinks, prose, stateBadge, text } from './parts/elements.ts';
import { dnsCell, listingsCell, rateCell, selectionPath } from './parts/fleet-cells.ts';
import { actionItem, alertGroupItem, alertItem } from './parts/items.ts';
import { orNull, place, type View } from './place.ts';

interface FleetPageParts extends Picture {
  readonly fleet: Fleet;
  readonly page: Page;
  readonly selection: Selection;
  readonly facets: Facets;
  readonly trend: readonly TrendDay[];
  /** Deliveries, or null if they could not be read. */
  readonly deliveries: readonly ListedDelivery[] | null;
  readonly explain: (verdict: Verdict) => string;
}

const deliveriesShown = 50;

export const fleetPlace = place('/', pageParameters, async (parts, asked) => {
  const { fleet, tags, explain } = parts;
  const selection = selectionFrom(asked);
  const deliveries = await orNull(parts.world, () => parts.deliveries(deliveriesShown));
  const trend = await parts.trend.read();
  const picture = pictureOf(parts);
  const page = selectPage(picture, selection, parts);
  const facets = facetsOf(fleet, picture.providers, tags);
  return fleetPage({ fleet, ...picture, page, selection, facets, trend, deliveries, explain });
});

/** Alerts and actions that are shown at once; the others are folded. */
const shownAtOnce = 6;
/**
 * Alerts on the page, where a group counts once: most severe first, then newest. The page gives the number of the
 * others.
 */
const alertsOnPage = 20;

function fleetPage(parts: FleetPageParts): View {
  const { headline, now, fleet, deliveries, firing, incidents, command } = parts;
  const silences = fleet.silences(now);
  const body = html`
${summary(parts)}
<div class="columns">
<div>
${incidents.length === 0 ? '' : incidentsPanel(incidents, now)}
${firing.count() === 0 ? '' : alertsPanel(firing, silences, now)}
${silences.length === 0 ? '' : silencesPanel(silences, command)}
${actionsPanel(parts)}
</div>
<div>
${trendPanel(parts.trend)}
${accountsPanel(parts)}
${channelsPanel(fleet, deliveries, now, command)}
</div>
</div>
${fleetTable(parts)}`;
  return { title: `${headline.tone === 'calm' ? '' : '● '}${headline.sentence} · Warmwarden`, body };
}

function summary(parts: FleetPageParts): Markup {
  const { headline } = parts;
  return html`<section class="headline ${headline.tone}" aria-label="Summary">
<h1>${text(headline.sentence)}</h1>
<p class="advice">${prose(headline.advice)}</p>
${stopEnds(parts)}
<p class="muted">${since(parts)}</p>
</section>`;
}

/** Emergency stops with a link here; the others have links at their alerts. */
const stopsOffered = 3;

/** Links that end each emergency stop, for people without a shell. */
function stopEnds({ fleet, now }: FleetPageParts): Markup | string {
  const stops = fleet.writesOff(now).slice(0, stopsOffered);
  if (stops.length === 0) return '';
  return html`<p class="line">${stops.map(({ scope }) => doLink(writesOnPath(scope), stops.length === 1 ? endStop : `${endStop}: ${text(scopeText(scope))}`))}</p>`;
}

function since({ fleet, accounts: all, firstSeenAt, oldestStatsAt, unread, now }: FleetPageParts): Markup {
  if (firstSeenAt === null) return html`No mailbox is known yet.`;
  const accounts = counted(all.filter((account) => !isEmpty(account)).length, 'account', 'accounts');
  const blind = all.filter(({ failingSince }) => failingSince !== null).length;
  const except = blind === 0 ? '' : `, except on ${counted(blind, 'account')} that Warmwarden cannot read now`;
  const never = unread === 0 ? '' : `; those of ${counted(unread, 'mailbox', 'mailboxes')} were never read`;
  const date = new Date(firstSeenAt).toISOString();
  return html`Guarding ${counted(fleet.mailboxCount(), 'mailbox', 'mailboxes')} on ${accounts} since <time datetime="${date}" title="${date}" data-show="day">${date.slice(0, 10)}</time>${except}. Oldest stats: ${ago(oldestStatsAt ?? now, now)}${never}.`;
}

function folded(items: readonly Markup[], className: string): Markup {
  const rest = items.slice(shownAtOnce);
  return html`<ol class="${className}">${items.slice(0, shownAtOnce)}</ol>
${rest.length === 0 ? '' : html`<details><summary>${rest.length} more</summary><ol class="${className}">${rest}</ol></details>`}`;
}

function alertsPanel(firing: FiringAlerts, silences: readonly Silence[], now: EpochMs): Markup {
  const shown = firing.groups.slice(0, alertsOnPage);
  const items = shown.map((group) =>
    group.count > 1
      ? alertGroupItem(group, alertsPath({ rule: group.first.rule, severity: group.first.severity }))
      : alertItem({ alert: group.first, now, silence: silenceOf(group.first, silences) }),
  );
  const total = firing.count();
  const left = total - shown.reduce((sum, { count }) => sum + count, 0);
  return html`<section class="panel" aria-labelledby="alerts"><h2 id="alerts">Firing alerts <span class="count">${numberText(total)}</span></h2>
${folded(items, 'events')}
${left > 0 ? moreAlerts(left) : ''}</section>`;
}

function moreAlerts(left: number): Markup {
  return html`<p class="muted">${counted(left, 'more alert is', 'more alerts are')} firing, and none is more severe than these: see <a href="/alerts">all alerts</a>.</p>`;
}

function actionsPanel({ fleet, explain, now }: FleetPageParts): Markup {
  const actions = fleet.recentActions().filter((action) => !neededNoChange(action));
  const items = actions.map((action) => actionItem({ action, explain, now, link: true }));
  return html`<section class="panel" aria-labelledby="actions"><h2 id="actions">What was done</h2>
${items.length === 0 ? html`<p class="muted">Warmwarden has not changed a mailbox yet.</p>` : folded(items, 'events')}</section>`;
}

// The table of the fleet, with its filter and pages.

function fleetTable(parts: FleetPageParts): Markup {
  const { page, selection, counts, facets } = parts;
  const isEmpty = Object.values(counts).every((count) => count === 0);
  const none = isEmpty
    ? html`<p class="muted">No mailbox is known yet.</p>`
    : html`<p class="muted">No mailbox matches. <a href="/">Show all</a></p>`;
  return html`<section class="panel fleet" aria-labelledby="fleet">
<div class="bar"><h2 id="fleet">Mailboxes <span class="count">${numberText(page.total)}</span></h2>${filterForm(selection, facets)}</div>
${stateLinks(selection, counts)}
${table(parts)}
${page.rows.length === 0 ? none : pageLinks(page, (target) => selectionPath(selection, target))}
<p class="keys">Keys: <kbd>/</kbd> filter, <kbd>j</kbd> and <kbd>k</kbd> next and previous mailbox, <kbd>Enter</kbd> open it, <kbd>x</kbd> select it.</p>
</section>`;
}

function filterForm(selection: Selection, facets: Facets): Markup {
  const { accounts, providers, tags } = facets;
  const hidden = [
    ['state', selection.state],
    ['domain', selection.domain],
    ['sort', selection.sort === wholeFleet.sort ? null : selection.sort],
  ] as const;
  return html`<form class="filter" role="search" action="/" method="get">
<label for="q">Filter</label>
<input id="q" name="q" type="search" value="${selection.text}" maxlength="200" placeholder="address, domain, mode …" autocomplete="off" data-key="/" aria-keyshortcuts="/">
${choice('account', accounts.length > 1 ? accounts : [], selection.account)}
${choice('provider', providers.length > 1 ? providers : [], selection.provider)}
${choice('tag', tags, selection.tag)}
${hidden.map(([name, value]) => (value === null ? '' : html`<input type="hidden" name="${name}" value="${value}">`))}
<button type="submit">Show</button>
</form>`;
}

function choice(
  name: 'account' | 'provider' | 'tag',
  values: readonly string[],
  chosen: string | null,
): Markup | string {
  const all = chosen === null || values.includes(chosen) ? values : [chosen, ...values];
  if (all.length === 0) return '';
  const option = (value: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text(value)}</option>`;
  return html`<select name="${name}" aria-label="Only the ${name}"><option value="">every ${name}</option>${all.map(option)}</select>`;
}

function stateLinks(selection: Selection, counts: StateCounts): Markup {
  const link = (state: GuardState | null, word: string, total: number) =>
    html`<li><a class="chip ${state ?? 'all'}" href="${selectionPath({ ...selection, state })}"${selection.state === state ? html` aria-current="true"` : ''}>${word} <b>${numberText(total)}</b></a></li>`;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const present = guardStates.filter((state) => counts[state] > 0 || selection.state === state);
  const { domain } = selection;
  const narrowed =
    domain === null
      ? ''
      : html`<li><a class="chip" href="${selectionPath({ ...selection, domain: null })}" aria-label="Every domain, not only ${text(domain)}">${text(domain)} ×</a></li>`;
  return html`<nav aria-label="Filter by state"><ul class="chips">${link(null, 'All', all)}${present.map((state) => link(state, stateWords[state], counts[state]))}${narrowed}</ul></nav>`;
}

// Roles are explicit, because the phone layout removes those of the table.
function table({ page: { rows }, accounts, selection, now }: FleetPageParts): Markup {
  const troubleOf = new Map(accounts.map((account) => [account.name, accountTrouble(account)]));
  const headings: readonly (readonly [string, Sorting | null])[] = [
    ['State', 'worst'],
    ['Mailbox', 'address'],
    ['Mode', null],
    ['Bounce rate against the limit', 'rate'],
    ['Bounces left', 'left'],
    ['Health', 'health'],
    ['DNS', null],
    ['Blacklists', null],
    ['Stats age', 'age'],
  ];
  return html`<table role="table"><caption class="unseen">Mailboxes</caption>
<thead role="rowgroup"><tr role="row">${headings.map(([heading, sort]) => columnHeading(heading, sort, selection))}</tr></thead>
<tbody role="rowgroup" id="rows">${rows.map((row) => tableRow(row, troubleOf.get(row.mailbox.account) ?? null, now))}</tbody></table>`;
}

/** Direction in which each column is sorted. */
const directions: Readonly<Record<Sorting, 'ascending' | 'descending'>> = {
  worst: 'descending',
  address: 'ascending',
  account: 'ascending',
  rate: 'descending',
  left: 'ascending',
  health: 'ascending',
  age: 'descending',
};

function columnHeading(heading: string, sort: Sorting | null, selection: Selection): Markup {
  if (sort === null) return html`<th role="columnheader" scope="col">${heading}</th>`;
  const isSorted = selection.sort === sort;
  const mark = isSorted ? html` <span aria-hidden="true">${directions[sort] === 'ascending' ? '↑' : '↓'}</span>` : '';
  return html`<th role="columnheader" scope="col"${isSorted ? html` aria-sort="${directions[sort]}"` : ''}><a href="${selectionPath({ ...selection, sort })}">${heading}${mark}</a></th>`;
}

function rowId({ mailbox: { account, id } }: MailboxRow): string {
  return `row-${encodeURIComponent(account)}/${encodeURIComponent(id)}`;
}

/** Row of a mailbox. `trouble`: problem of its account, or null. */
function tableRow(row: MailboxRow, trouble: string | null, now: EpochMs): Markup {
  const { mailbox, verdict, state } = row;
  const measured = verdict?.windowFrom ? verdict : null;
  const mode = mailbox.warmup?.answer.mode ?? null;
  const until = measured?.bouncesUntilBreach ?? null;
  const cell = (heading: string, content: Markup | string, className = '') =>
    html`<td role="cell" class="${className}" data-heading="${heading}">${content}</td>`;
  const unknown = html`<span class="muted">–</span>`;
  const by = state === 'paused_by_others' ? pausedBy(factsOf(mailbox)) : null;
  const troubles = row.alerts.filter((alert) => alert.severity !== 'info').length;
  return html`<tr role="row" id="${rowId(row)}" class="${state}">
${cell('State', stateBadge(state, isHeldEmergency(state, verdict)), 'state')}
<th role="rowheader" scope="row">${selectBox(mailbox, row.label)} <a href="${mailboxPath(mailbox)}">${breakable(row.label)}</a><small>${text(mailbox.account)}${by === null ? '' : html` · ${text(by.name)}, through Warmwarden`}${trouble === null ? '' : html` · <b class="bad">${trouble}</b>`}${troubles > 0 ? html` · <b class="bad">${counted(troubles, 'alert')}</b>` : ''}</small></th>
${cell('Mode', mode === null ? unknown : text(mode))}
${cell('Bounce rate against the limit', rateCell(row), 'rate')}
${cell('Bounces left', until === null ? unknown : html`${numberText(until)}`, 'number')}
${cell('Health', row.healthScore === null ? unknown : html`${numberText(row.healthScore)}`, 'number')}
${cell('DNS', dnsCell(row))}
${cell('Blacklists', listingsCell(row))}
${cell('Stats age', age(row.statsAt, now), 'number')}
</tr>`;
}
