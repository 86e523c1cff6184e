// Runbooks: the meaning of each alert.
import { html } from 'hono/html';
import { alertRules } from '../../core/alert-rules.ts';
import { runbookOf } from '../../core/runbooks.ts';
import { prose, severityBadge } from './parts/elements.ts';
import { place } from './place.ts';

export const runbooksPlace = place('/runbooks', {}, ({ world: { command } }) => {
  const items = alertRules.map((rule) => {
    const { means, cases, done, todo } = runbookOf(rule, command);
    const items = cases.map(
      (one) => html`<li>${severityBadge(one.severity)} <strong>${one.cause}</strong>: ${prose(one.means)}
${one.todo !== null && html`<p><strong>What to do.</strong> ${prose(one.todo)}</p>`}</li>`,
    );
    return html`<section class="panel" id="${rule}"><h2>${rule}</h2>
<p>${prose(means)}</p>
${items.length > 0 && html`<ul class="events">${items}</ul>`}
${done !== null && html`<p><strong>What was done.</strong> ${prose(done)}</p>`}
${todo !== null && html`<p><strong>What to do.</strong> ${prose(todo)}</p>`}</section>`;
  });
  return { title: 'Runbooks · Warmwarden', body: html`<h1>What alerts mean</h1>${items}` };
});
