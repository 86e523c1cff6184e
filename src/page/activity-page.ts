// What was done: by people through Warmwarden and by Warmwarden itself, why, and what came of it.
import { html } from 'hono/html';
import type { Action } from '../model/action.ts';
import type { CommandEntry } from '../model/operator-command.ts';
import type { EpochMs } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';
import { actionItem } from './action-item.ts';
import { ago, breakable, type Markup, text } from './elements.ts';
import { Regions, type View } from './regions.ts';

export interface ActivitySelection {
  /** A person's name, or `Warmwarden`. Empty: everyone. */
  readonly by: string;
  /** As people name it. Empty: all. */
  readonly mailbox: string;
  /** An operation, or a kind of action. Empty: all. */
  readonly what: string;
}

export interface ActivityPageParts {
  /** The newest first; null when they could not be read. */
  readonly commands: readonly CommandEntry[] | null;
  readonly actions: readonly Action[] | null;
  readonly selection: ActivitySelection;
  /** What is wrong with the mailbox's name; null: nothing. */
  readonly wrong: string | null;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
}

const entriesShown = 100;
/** How Warmwarden is called among those who did something. */
const itself = 'Warmwarden';

interface Entry {
  readonly at: EpochMs;
  readonly by: string;
  readonly what: string;
  readonly markup: () => Markup;
}

export function activityPage(parts: ActivityPageParts): View {
  const { selection, commands, actions, wrong } = parts;
  const regions = new Regions();
  const entries = entriesOf(parts);
  const chosen = entries.filter(
    ({ by, what }) =>
      (selection.by === '' || by === selection.by) && (selection.what === '' || what === selection.what),
  );
  const unread = commands === null || actions === null;
  const list =
    chosen.length === 0
      ? html`<p class="muted">${unread ? '' : 'Nothing in the last 30 days.'}</p>`
      : html`<ol class="events">${chosen.slice(0, entriesShown).map(({ markup }) => markup())}</ol>`;
  const body = html`<h1>Activity</h1>
<section class="panel" aria-label="What was done">
<div class="bar">${activityForm(selection, entries)}</div>
${regions.piece(
  'activity',
  html`${unread ? html`<p class="bad">Warmwarden cannot read what was done at the moment. The log says why.</p>` : ''}
${wrong === null ? '' : html`<p class="bad">${text(wrong)}</p>`}${list}`,
)}
</section>`;
  return { title: 'Activity · Warmwarden', body, regions };
}

function entriesOf({ commands, actions, explain, now }: ActivityPageParts): readonly Entry[] {
  const byPeople = (commands ?? []).map((command) => ({
    at: command.at,
    by: command.by,
    what: command.name,
    markup: () => commandItem(command, now),
  }));
  const byItself = (actions ?? []).map((action) => ({
    at: action.plannedAt,
    by: itself,
    what: action.kind,
    markup: () => actionItem({ action, explain, now, link: true }),
  }));
  return [...byPeople, ...byItself].sort((a, b) => b.at - a.at);
}

/** The words of an end, and the class that colours them. */
const ends: Readonly<Record<string, readonly [string, string]>> = {
  done: ['done', 'confirmed'],
  no_change: ['no change needed', 'none'],
  failed: ['failed', 'critical'],
  invalid: ['refused', 'critical'],
  changed: ['refused', 'critical'],
};

function commandItem({ id, at, by, reason, command, mailboxes, end, outcome }: CommandEntry, now: EpochMs): Markup {
  const [word, tone] = end === null ? ['in progress', 'waiting'] : (ends[end] ?? [end, 'none']);
  const named = mailboxes.slice(0, 5).map(({ email }) => html` ${breakable(email)}`);
  const more = mailboxes.length > 5 ? html` and ${mailboxes.length - 5} more` : '';
  return html`<li id="command-${id}" class="${tone}">
<p class="line"><span class="badge ${tone}">${word}</span> <strong>${text(by)}</strong> ${text(command)} <span class="muted">${ago(at, now)}</span></p>
${mailboxes.length > 1 ? html`<p class="muted">${named}${more}</p>` : ''}
${reason === '' ? '' : html`<p>${text(reason)}</p>`}
${outcome === '' ? '' : html`<p class="muted">${text(outcome)}</p>`}
</li>`;
}

function activityForm({ by, mailbox, what }: ActivitySelection, entries: readonly Entry[]): Markup {
  const options = (values: Iterable<string>, chosen: string) =>
    [...new Set([...values, ...(chosen === '' ? [] : [chosen])])]
      .filter(Boolean)
      .sort()
      .map(
        (value) =>
          html`<option value="${text(value)}"${value === chosen ? html` selected` : ''}>${text(value)}</option>`,
      );
  return html`<form class="filter" role="search" action="/activity" method="get">
<select name="by" aria-label="Only by"><option value="">by everyone</option>${options(
    entries.map((one) => one.by),
    by,
  )}</select>
<select name="what" aria-label="Only this"><option value="">everything</option>${options(
    entries.map((one) => one.what),
    what,
  )}</select>
<input name="mailbox" type="search" value="${mailbox}" maxlength="400" placeholder="address or id of a mailbox" aria-label="Only this mailbox" autocomplete="off" data-key="/">
<button type="submit">Show</button></form>`;
}
