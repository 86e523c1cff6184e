// What each alert means and what to do: where the links of the messages lead.
import { html } from 'hono/html';
import { alertRules } from '../../core/alert.ts';
import { runbookOf } from '../../core/wording/runbooks.ts';
import { prose, Regions, type View } from './parts/elements.ts';

export function runbooksPage(command: string): View {
  const items = alertRules.map((rule) => {
    const { means, done, todo } = runbookOf(rule, command);
    return html`<section class="panel" id="${rule}"><h2>${rule}</h2>
<p>${prose(means)}</p>
<p><strong>What was done.</strong> ${prose(done)}</p>
<p><strong>What to do.</strong> ${prose(todo)}</p></section>`;
  });
  return {
    title: 'Runbooks · Warmwarden',
    body: html`<h1>What alerts mean</h1>${items}`,
    regions: new Regions(),
  };
}
