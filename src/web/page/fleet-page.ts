// The status page: is anything wrong, what was done, why, what to do; then the whole fleet.

import { html } from 'hono/html';
import { silenceOf } from '../../alerts/routing.ts';
import { neededNoChange } from '../../core/action.ts';
import type { Silence } from '../../core/alert.ts';
import type { ListedDelivery } from '../../core/delivery.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { AccountState, SweepProgress } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { counted, numberText, share } from '../../core/wording/phrases.ts';
import { scopeText } from '../../core/write-scope.ts';
import type { FiringAlerts } from '../overview/firing-alerts.ts';
import { type Group, type Grouping, groupings } from '../overview/fleet-groups.ts';
import type { KnownFleet, TrendDay } from '../overview/fleet-sums.ts';
import { type Facets, type Page, type Selection, type StateCounts, stateOrder } from '../overview/fleet-view.ts';
import type { Headline } from '../overview/headline.ts';
import { isEmpty } from '../overview/headline.ts';
import { alertsPath } from './alerts-page.ts';
import { accountsPanel, channelsPanel, incidentsPanel, silencesPanel } from './parts/account-panels.ts';
import { actionItem, alertGroupItem, alertItem } from './parts/action-item.ts';
import { doLink, endStop, writesOnPath } from './parts/command-links.ts';
import { ago, breakable, type Markup, prose, stateBadge, text, type View } from './parts/elements.ts';
import { fleetTable, selectionPath } from './parts/fleet-table.ts';
import { trendPanel } from './parts/trend-panel.ts';

interface FleetPageParts {
  readonly fleet: Fleet;
  readonly known: KnownFleet;
  readonly counts: StateCounts;
  readonly headline: Headline;
  readonly firing: FiringAlerts;
  /** As the headline counts them. */
  readonly accounts: readonly AccountState[];
  readonly sweeps: readonly SweepProgress[];
  readonly page: Page;
  readonly selection: Selection;
  readonly facets: Facets;
  readonly trend: readonly TrendDay[];
  /** null when they could not be read. */
  readonly deliveries: readonly ListedDelivery[] | null;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
  /** The words that start this program, for the commands on the page. */
  readonly command: string;
  /** In which sentences give times: an IANA name. */
  readonly zone: string;
}

/** How many alerts and actions stand open; the rest is folded away. */
const shownAtOnce = 6;
/** Alerts on the page in all, many of one rule as one: the gravest first, then the newest. Of the rest it gives the number. */
const alertsOnPage = 20;

export function fleetPage(parts: FleetPageParts): View {
  const { headline, now, fleet, deliveries, firing, command } = parts;
  const silences = fleet.silences(now);
  const incidents = fleet.incidents().filter(({ endedAt }) => endedAt === null);
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

/** So many emergency stops have a link here; the others have theirs at their alerts. */
const stopsOffered = 3;

/** Ends each emergency stop, for those who have no shell at hand. */
function stopEnds({ fleet, now }: FleetPageParts): Markup | string {
  const stops = fleet.writesOff(now).slice(0, stopsOffered);
  if (stops.length === 0) return '';
  return html`<p class="line">${stops.map(({ scope }) => doLink(writesOnPath(scope), stops.length === 1 ? endStop : `${endStop}: ${text(scopeText(scope))}`))}</p>`;
}

function since({ fleet, accounts: all, known, now }: FleetPageParts): Markup {
  const { firstSeenAt, oldestStatsAt, unread } = known;
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

// The fleet by account, domain, provider or tag: a line a group, the ones that need a person first.

/** A domain a mailbox would be a page of megabytes. */
const groupsShown = 200;

const words: Readonly<Record<Grouping, readonly [string, string]>> = {
  account: ['account', 'accounts'],
  domain: ['domain', 'domains'],
  provider: ['provider', 'providers'],
  tag: ['tag', 'tags'],
};

export function groupsPage(by: Grouping, groups: readonly Group[]): View {
  const shown = groups.slice(0, groupsShown);
  const left = groups.length - shown.length;
  const items = shown.map((group) => groupRow(by, group));
  const links = groupings.map(
    (one) =>
      html`<li><a class="chip" href="/groups?by=${one}"${one === by ? html` aria-current="true"` : ''}>By ${one}</a></li>`,
  );
  const body = html`<h1>The fleet by ${by}</h1>
<nav aria-label="Group by"><ul class="chips">${links}</ul></nav>
<section class="panel fleet groups" aria-label="Groups">
<p class="muted">${counted(groups.length, ...words[by])}, the ones that need attention first.${by === 'tag' ? ' Tags are set in the configuration: accounts[].tags and overrides[].tags.' : ''}</p>
<table role="table"><caption class="unseen">Groups</caption>
<thead role="rowgroup"><tr role="row">${['Group', 'Mailboxes', 'States', 'Alerts', 'Bounce rate'].map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr></thead>
<tbody role="rowgroup" id="groups">${items}</tbody></table>
${left > 0 ? html`<p class="muted">${counted(left, 'more group is', 'more groups are')} not shown.</p>` : ''}
</section>`;
  return { title: `The fleet by ${by} · Warmwarden`, body };
}

function idOf(by: Grouping, { name }: Group): string {
  return `${by}-${encodeURIComponent(name ?? ' ')}`;
}

function groupRow(by: Grouping, group: Group): Markup {
  const { name, mailboxes, states, alerts, sent, bounced } = group;
  const cell = (heading: string, content: Markup | string, className = '') =>
    html`<td role="cell" class="${className}" data-heading="${heading}">${content}</td>`;
  const present = stateOrder.filter((state) => states.has(state));
  const badges = present.map(
    (state) => html`<span class="line">${stateBadge(state)} ${numberText(states.get(state) ?? 0)}</span> `,
  );
  const rate =
    sent === 0
      ? html`<span class="muted">–</span>`
      : html`${numberText(bounced)} of ${numberText(sent)} = <b>${share((bounced * 1e6) / sent)}</b>`;
  const title =
    name === null
      ? html`<span class="muted">no ${by}</span>`
      : html`<a href="${selectionPath({ [by]: name })}">${breakable(name)}</a>`;
  return html`<tr role="row" id="${idOf(by, group)}">
<th role="rowheader" scope="row">${title}</th>
${cell('Mailboxes', mailboxes === null ? 'unknown' : numberText(mailboxes), 'number')}
${cell('States', mailboxes === null ? html`<span class="bad">no mailbox list read yet</span>` : html`<span class="line">${badges}</span>`, 'states')}
${cell('Alerts', alerts === 0 ? 'none' : html`<strong class="bad">${numberText(alerts)}</strong>`, 'number')}
${cell('Bounce rate', rate, 'number')}
</tr>`;
}
