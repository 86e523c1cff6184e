// The fleet by account, domain, provider or tag: one row per group; groups that need a person come first.
import { html } from 'hono/html';
import { counted, numberText, share } from '../../core/wording/phrases.ts';
import { groupParameters } from '../json/fleet.ts';
import { stateOrder } from '../overview/fleet.ts';
import { type Group, type Grouping, groupings, readGroups, usualGrouping } from '../overview/groups.ts';
import { breakable, type Markup, stateBadge } from './parts/elements.ts';
import { selectionPath } from './parts/fleet-cells.ts';
import { place, type View } from './place.ts';

/** Largest number of groups on the page: if each mailbox has its own domain, the full page would be megabytes. */
const groupsShown = 200;

const words: Readonly<Record<Grouping, readonly [string, string]>> = {
  account: ['account', 'accounts'],
  domain: ['domain', 'domains'],
  provider: ['provider', 'providers'],
  tag: ['tag', 'tags'],
};

export const groupsPlace = place('/groups', groupParameters, (parts, { by = usualGrouping }) =>
  groupsPage(by, readGroups(parts, by)),
);

function groupsPage(by: Grouping, groups: readonly Group[]): View {
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
