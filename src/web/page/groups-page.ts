// The fleet by account, domain, provider or tag: one row per group; groups that need a person come first.
import { html } from 'hono/html';
import { urgentStates } from '../../core/mailbox.ts';
import { counted, numberText, percentText } from '../../core/wording/phrases.ts';
import { groupParameters } from '../json/fleet.ts';
import { type Group, type Grouping, groupings, readGroups, usualGrouping } from '../overview/groups.ts';
import { breakable, cardTable, cell, chip, type Markup, muted, pathTo, stateBadge } from './parts/elements.ts';
import { place } from './place.ts';

/** Largest number of groups on the page: if each mailbox has its own domain, the full page would be megabytes. */
const groupsShown = 200;

export const groupsPlace = place('/groups', groupParameters, (parts, { by = usualGrouping }) => {
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
