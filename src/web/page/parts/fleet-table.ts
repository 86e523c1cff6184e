// The table of the fleet, worst first, with its filter and pages.
import { html } from 'hono/html';
import { type AccountState, type GuardState, guardStates } from '../../../core/mailbox.ts';
import { mailboxPath } from '../../../core/page-links.ts';
import type { EpochMs } from '../../../core/time.ts';
import { factsOf, pausedBy } from '../../../core/wording/paused.ts';
import { counted, numberText, share } from '../../../core/wording/phrases.ts';
import { accountTrouble, stateWords } from '../../../core/wording/states.ts';
import {
  type Facets,
  isHeldEmergency,
  type MailboxRow,
  type Page,
  type Selection,
  type Sorting,
  type StateCounts,
  wholeFleet,
} from '../../overview/fleet-view.ts';
import { selectBox } from './command-links.ts';
import { age, breakable, dnsCell, listingsCell, type Markup, pageLinks, stateBadge, text } from './elements.ts';

export interface FleetTableParts {
  readonly page: Page;
  readonly accounts: readonly AccountState[];
  readonly selection: Selection;
  readonly counts: StateCounts;
  readonly facets: Facets;
  readonly now: EpochMs;
}

export function fleetTable(parts: FleetTableParts): Markup {
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

/** The address of a page of a selection. What is not named is not restricted. */
export function selectionPath(selection: Partial<Selection>, page = 1): string {
  const { text: words, state, account, domain, provider, tag, sort } = { ...wholeFleet, ...selection };
  const asked = { q: words, state, account, domain, provider, tag, sort: sort === wholeFleet.sort ? null : sort };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value);
  if (page > 1) query.set('page', String(page));
  return query.size === 0 ? '/' : `/?${query}`;
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

// The roles are written out because the phone layout takes the table's own away.
function table({ page: { rows }, accounts, selection, now }: FleetTableParts): Markup {
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

/** Which way a column is sorted when it is. */
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

/** `trouble`: of its account. */
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

/** Where the limit stands on the meter, percent of its width: what is beyond is worse. */
const limitAtPercent = 66;

/** "4 of 210 = 1.9 %, limit 1 %", and a meter on which the tick is the limit. */
export function rateCell({ ratePpm, verdict, state }: MailboxRow): Markup {
  if (ratePpm === null || verdict === null) return html`<span class="muted">–</span>`;
  const { limitPpm, bounced, sent } = verdict;
  const counts = html`${numberText(bounced)} of ${numberText(sent)} =`;
  if (limitPpm === null) return html`${counts} <b>${share(ratePpm)}</b> <span class="muted">no limit known</span>`;
  const width = limitPpm === 0 ? 100 : Math.min(100, (ratePpm / limitPpm) * limitAtPercent);
  const over = ratePpm > limitPpm;
  const tone = over ? 'over' : state === 'near_limit' ? 'near' : '';
  return html`<span class="figures"><span>${counts} <b class="${over ? 'bad' : ''}">${share(ratePpm)}</b></span> <span class="muted">limit ${share(limitPpm)}</span></span>
<svg class="meter ${tone}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" rx="1"/><rect class="value" width="${width.toFixed(1)}" height="6" rx="1"/><rect class="limit" x="${limitAtPercent}" width="1.5" height="6"/></svg>`;
}
