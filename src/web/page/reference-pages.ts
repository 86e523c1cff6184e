// Pages to look things up: the configuration in force, and what each alert means.

import { html } from 'hono/html';
import { alertRules, runbookOf } from '../../core/alert-rules.ts';
import { counted } from '../../core/wording/phrases.ts';
import { type SettingSelection, type ShownSetting, settingsThat } from '../overview/settings.ts';
import { prose, text, type View } from './parts/elements.ts';

export interface ConfigurationPageParts {
  readonly settings: readonly ShownSetting[];
  readonly selection: SettingSelection;
}

/** Of 10,000 overrides all are in force, but none of them is looked for by scrolling. */
const settingsShown = 500;

export function configurationPage({ settings, selection }: ConfigurationPageParts): View {
  const chosen = settingsThat(settings, selection);
  const rows = chosen
    .slice(0, settingsShown)
    .map(
      ({ name, value, from }) =>
        html`<tr class="${from === 'default' ? 'muted' : ''}"><th scope="row"><code>${text(name)}</code></th><td><code>${text(value)}</code></td><td>${text(from)}</td></tr>`,
    );
  const left = chosen.length - rows.length;
  const body = html`<h1>Configuration in force</h1>
<section class="panel" aria-label="Settings">
<div class="bar"><form class="filter" role="search" action="/configuration" method="get"><label for="q">Filter</label>
<input id="q" name="q" type="search" value="${selection.text}" maxlength="200" autocomplete="off" data-key="/">
<label><input type="checkbox" name="changed" value="only"${selection.changedOnly ? html` checked` : ''}> only what is not the default</label>
<button type="submit">Show</button></form></div>
${html`${rows.length === 0 ? html`<p class="muted">No setting matches.</p>` : html`<table class="settings"><caption class="unseen">Settings</caption><thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr></thead><tbody>${rows}</tbody></table>`}
${left > 0 ? html`<p class="muted">${counted(left, 'more setting is', 'more settings are')} not shown: use the filter.</p>` : ''}`}</section>`;
  return { title: 'Configuration · Warmwarden', body };
}

// What each alert means and what to do: where the links of the messages lead.

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
  };
}
