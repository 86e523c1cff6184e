// The silences in force: which alerts send no messages at present, and who silenced them.
import { html } from 'hono/html';
import { matchText, type Silence } from '../../model/alert.ts';
import { silenceExpirePath } from '../../model/page-links.ts';
import { numberText } from '../../wording/phrases.ts';
import { doLink } from './command-links.ts';
import { type Markup, moment, text } from './elements.ts';

export function silencesPanel(silences: readonly Silence[], command: string): Markup {
  const items = silences.map(
    ({ id, match, by, reason, until }) => html`<li>
<p class="line"><strong>${text(matchText(match))}</strong> <span class="muted">until ${moment(until)}</span></p>
<p class="muted">${text(by)}: ${text(reason)}. <code>${command} silence expire ${id}</code> ends it. ${doLink(silenceExpirePath(id), 'Expire it')}</p>
</li>`,
  );
  return html`<section class="panel" aria-labelledby="silences"><h2 id="silences">Silenced <span class="count">${numberText(silences.length)}</span></h2>
<p class="muted">Warmwarden sends no messages about these. It keeps guarding the mailboxes, and the page Alerts shows them.</p>
<ul class="plain">${items}</ul></section>`;
}
