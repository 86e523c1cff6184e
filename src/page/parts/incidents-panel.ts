// The incidents that go on: what their mailboxes share, what Warmwarden did about them, and what to do.
import { html } from 'hono/html';
import type { Incident } from '../../model/incident.ts';
import { mailboxPath } from '../../model/page-links.ts';
import type { EpochMs } from '../../model/time.ts';
import { doneTexts, incidentAdvice, incidentTitle, memberLine, worstFirst } from '../../wording/incidents.ts';
import { counted, numberText } from '../../wording/phrases.ts';
import { breakable, lasting, type Markup, prose, severityBadge, text } from './elements.ts';
import { selectionPath } from './fleet-table.ts';

/** Mailboxes that stand with an incident; /api/incidents has more. */
const named = 5;

export function incidentsPanel(incidents: readonly Incident[], now: EpochMs): Markup {
  return html`<section class="panel" aria-labelledby="incidents"><h2 id="incidents">Incidents <span class="count">${numberText(incidents.length)}</span></h2>
<ol class="events">${incidents.map((incident) => itemOf(incident, now))}</ol></section>`;
}

/** The mailboxes that share it, where the table can be narrowed to them. */
function whereAll({ attribute, value }: Incident['cause']): Markup | string {
  switch (attribute) {
    case 'account':
    case 'domain':
    case 'provider':
      return html`: see <a href="${selectionPath({ [attribute]: value })}">all mailboxes of this ${attribute}</a>`;
    case 'ip':
    case 'base_url':
      return html`: <a href="/api/incidents">/api/incidents</a> lists them`;
  }
}

function itemOf(incident: Incident, now: EpochMs): Markup {
  const { id, severity, members, cause, beganAt } = incident;
  const left = members.length - named;
  return html`<li id="${id}" class="${severity}">
<p class="line">${severityBadge(severity)} <strong>${breakable(incidentTitle(incident, members, 'UTC'))}</strong> <span class="muted">${lasting(beganAt, now)}</span></p>
${[...doneTexts(members), incidentAdvice(cause)].map((sentence) => html`<p>${prose(sentence)}</p>`)}
<ul class="plain">${worstFirst(members)
    .slice(0, named)
    .map(
      (one) =>
        html`<li><a href="${mailboxPath({ account: one.account, id: one.mailboxId })}">${text(memberLine(one, 'UTC'))}</a></li>`,
    )}</ul>
${left > 0 ? html`<p class="muted">${counted(left, 'more mailbox is', 'more mailboxes are')} in it${whereAll(cause)}.</p>` : ''}
</li>`;
}
