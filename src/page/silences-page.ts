// The silences in force: what each mutes at present, who asked for it and why, and when it ends.
import { html } from 'hono/html';
import { matchText, type Silence } from '../model/alert.ts';
import { silenceExpirePath } from '../model/page-links.ts';
import type { EpochMs } from '../model/time.ts';
import { counted } from '../wording/phrases.ts';
import { doLink } from './parts/command-links.ts';
import { ago, type Markup, text } from './parts/elements.ts';
import { Regions, type View } from './parts/regions.ts';

export interface SilencesPageParts {
  /** By their end. */
  readonly silences: readonly Silence[];
  /** How many firing alerts each mutes. */
  readonly muted: readonly number[];
  readonly now: EpochMs;
  readonly command: string;
}

export function silencesPage({ silences, muted: counts, now, command }: SilencesPageParts): View {
  const regions = new Regions();
  const items = silences.map((silence, index) => {
    const { id, match, by, reason, from, until } = silence;
    const muted = counts[index] ?? 0;
    return html`<li id="silence-${id}">
<p class="line"><strong>${text(matchText(match))}</strong> <span>${muted === 0 ? html`<span class="muted">mutes no alert now</span>` : `mutes ${counted(muted, 'firing alert')}`}</span></p>
<p>${text(by)}: ${text(reason)}</p>
<p class="muted">Began ${ago(from, now)}, ends ${ago(until, now)}. <code>${command} silence expire ${id}</code> ends it now. ${doLink(silenceExpirePath(id), 'Expire it')}</p></li>`;
  });
  const list: Markup =
    items.length === 0
      ? html`<p class="muted">No silence is in force. <code>${command} silence add</code> adds one.</p>`
      : html`<ul class="plain">${items}</ul>`;
  const body = html`<h1>Silences</h1>
<section class="panel" aria-label="Silences">
<p class="muted">Warmwarden sends no messages about what is silenced. It keeps guarding the mailboxes, and the page shows the alerts.</p>
${regions.piece('silences', list)}</section>`;
  return { title: 'Silences · Warmwarden', body, regions };
}
