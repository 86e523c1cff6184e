// The activity page: actions of people and of Warmwarden, with their reasons and outcomes.
import { html } from 'hono/html';
import { alreadySo } from '../../core/action.ts';
import { namedMailbox } from '../../core/mailbox.ts';
import { type CommandEntry, itself } from '../../core/operator-command.ts';
import type { EpochMs } from '../../core/time.ts';
import { byParameter, historyCursor, readHistory } from '../json/history.ts';
import { type Query, upTo } from '../query.ts';
import { orNull } from '../route-parts.ts';
import { pageAt } from './page-route.ts';
import { undoLink } from './parts/command-links.ts';
import { ago, breakable, choice, type Markup, pathTo, prose, text, unreadable } from './parts/elements.ts';
import { actionItem } from './parts/items.ts';

const entriesShown = 100;
const mailboxesNamed = 5;
const filters = { by: byParameter, mailbox: upTo(400) };
export const activityPage = pageAt('/activity', { ...filters, cursor: historyCursor }, async (parts, asked) => {
  const { fleet, world } = parts;
  const { cursor, ...filter } = asked;
  const now = world.clock.now();
  const found = filter.mailbox === undefined ? null : namedMailbox(filter.mailbox.trim(), fleet.mailboxes());
  const wrong = found && 'wrong' in found ? found.wrong : null;
  const mailbox = found && 'mailbox' in found ? found.mailbox : null;
  const wanted = { ...filter, mailbox, since: 0, actions: true, cursor, limit: entriesShown };
  const page = wrong === null ? await orNull(world, () => readHistory(parts, wanted)) : { rows: [], next: null };
  const items = (page?.rows ?? []).map(({ entry }) =>
    'action' in entry ? actionItem({ action: entry.action, now, link: true }) : commandItem(entry, now),
  );
  const people = (page?.rows ?? []).flatMap(({ entry }) => ('action' in entry ? [] : [entry.by]));
  const isNarrowed = cursor !== undefined || Object.values(filter).some(Boolean);
  const newest = cursor === undefined ? '' : html`<a href="${pathTo('/activity', filter)}">← The newest</a>`;
  const earlier = page?.next
    ? html`<a href="${pathTo('/activity', { ...filter, cursor: page.next })}">Earlier →</a>`
    : '';
  const body = html`<h1>Activity</h1>
<section class="panel" aria-label="What was done">
<div class="bar">${activityForm(filter, people)}</div>
${page === null && unreadable('what was done')}
${wrong === null ? '' : html`<p class="bad">${text(wrong)}</p>`}
${items.length > 0 ? html`<ol class="events">${items}</ol>` : page && html`<p class="muted">${isNarrowed ? 'Nothing that matches.' : 'Nothing yet.'}</p>`}
${newest || earlier ? html`<nav class="pages" aria-label="Pages">${newest} ${earlier}</nav>` : ''}</section>`;
  return { title: 'Activity · Warmwarden', body, commands: [undoLink] };
});

const ends: Readonly<Record<string, readonly [string, string]>> = {
  done: ['done', 'confirmed'],
  no_change: [alreadySo, 'none'],
  failed: ['failed', 'critical'],
  invalid: ['refused', 'critical'],
  changed: ['refused', 'critical'],
};

function commandItem({ id, at, by, reason, command, mailboxes, end, outcome }: CommandEntry, now: EpochMs): Markup {
  const [word, tone] = end === null ? ['in progress', 'waiting'] : (ends[end] ?? [end, 'none']);
  const named = mailboxes.slice(0, mailboxesNamed).map(({ email }) => html` ${breakable(email)}`);
  const more = mailboxes.length > mailboxesNamed ? html` and ${mailboxes.length - mailboxesNamed} more` : '';
  return html`<li id="command-${id}" class="${tone}">
<p class="line"><span class="badge ${tone}">${word}</span> <strong>${text(by)}</strong> ${text(command)} <span class="muted">${ago(at, now)}</span></p>
${mailboxes.length > 1 ? html`<p class="muted">${named}${more}</p>` : ''}
${reason === '' ? '' : html`<p>${text(reason)}</p>`}
${outcome === '' ? '' : outcome.split('\n').map((line) => html`<p class="muted">${prose(line)}</p>`)}
</li>`;
}

function activityForm({ by, mailbox }: Query<typeof filters>, people: readonly string[]): Markup {
  return html`<form class="filter" role="search" action="/activity" method="get">
${choice({ name: 'by', label: 'Only by', all: 'by anyone', values: [itself, ...people], chosen: by })}
<input name="mailbox" type="search" value="${mailbox}" maxlength="400" placeholder="address or id of a mailbox" aria-label="Only this mailbox" autocomplete="off" data-key="/">
<button type="submit">Show</button></form>`;
}
