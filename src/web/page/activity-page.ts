// What was done: by people through Warmwarden and by Warmwarden itself, why, and what came of it.
import { html } from 'hono/html';
import { type Action, alreadySo, guardActionKinds } from '../../core/action.ts';
import { namedMailbox } from '../../core/mailbox.ts';
import { type CommandEntry, itself } from '../../core/operator-command.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Reason, Verdict } from '../../core/verdict.ts';
import { historyFilters } from '../json/history.ts';
import { asksForActions, asksForCommands } from '../overview/history.ts';
import { type Parameter, upTo, whole } from '../query.ts';
import { ago, breakable, type Markup, prose, text } from './parts/elements.ts';
import { actionItem } from './parts/items.ts';
import { orNull, place, type View } from './place.ts';

/** What is shown; the lists have nothing else. */
interface ActivitySelection {
  /** A person's name, or `Warmwarden`; null: everyone. */
  readonly by: string | null;
  /** As people name it. Empty: all. */
  readonly mailbox: string;
  /** An operation, or a kind of action; null: all. */
  readonly operation: string | null;
  /** Why Warmwarden acted; null: for any reason. */
  readonly reason: Reason | null;
}

interface ActivityPageParts {
  /** The newest first; null when they could not be read. */
  readonly commands: readonly CommandEntry[] | null;
  readonly actions: readonly Action[] | null;
  /** Only what is older than this; null: from the newest on. */
  readonly until: EpochMs | null;
  readonly selection: ActivitySelection;
  /** What is wrong with the mailbox's name; null: nothing. */
  readonly wrong: string | null;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
}

const entriesShown = 100;
/** Entries that are read of people's commands and of Warmwarden's actions each: there may be older ones. */
const entriesRead = 200;
const maxWordLength = 400;
/** The year 9999. */
const maxEpochMs = 253_402_300_799_999;

/** An empty text restricts nothing, as a form sends it. */
function orEmpty<Word>({ wanted, schema, required, read }: Parameter<Word>): Parameter<Word | ''> {
  return { wanted, schema, required, read: (found) => (found === '' ? '' : read(found)) };
}

const activityParameters = {
  by: historyFilters.by,
  mailbox: upTo(maxWordLength),
  operation: orEmpty(historyFilters.operation),
  reason: orEmpty(historyFilters.reason),
  until: whole(0, maxEpochMs),
};

export const activityPlace = place('/activity', activityParameters, async (parts, asked) => {
  const { fleet, world, history, explain } = parts;
  const { by, mailbox: name = '', operation, reason, until = null } = asked;
  const filter = { by: by || null, operation: operation || null, reason: reason || null };
  const found = name.trim() === '' ? null : namedMailbox(name.trim(), fleet.mailboxes());
  const wrong = found && 'wrong' in found ? found.wrong : null;
  const about = found && 'mailbox' in found ? found.mailbox : null;
  const mailbox = about && { account: about.account, ids: [about.id, ...(about.memory?.formerIds ?? [])] };
  const wanted = { since: 0, mailbox, ...filter, limit: entriesRead };
  // Only what is older than that moment: no id is lower than these.
  const behind = <Id>(id: Id) => (until === null ? null : { at: until, id });
  const read = <Row>(isAsked: boolean, rows: () => Promise<readonly Row[]>) =>
    wrong === null && isAsked ? orNull(world, rows) : Promise.resolve([]);
  const commands = await read(asksForCommands(filter), () => history.commands({ ...wanted, before: behind(0) }));
  const actions = await read(asksForActions(filter), () => history.guardActions({ ...wanted, before: behind('') }));
  const selection = { ...filter, mailbox: name.trim() };
  return activityPage({ commands, actions, until, selection, wrong, explain, now: world.clock.now() });
});

/** Why Warmwarden acts. */
const actingReasons: readonly Reason[] = ['bounce_rate_over_limit', 'repeat_offender', 'emergency', 'clean_volume'];

interface Entry {
  readonly at: EpochMs;
  readonly by: string;
  readonly operation: string;
  readonly reason: string;
  readonly markup: () => Markup;
}

function activityPage(parts: ActivityPageParts): View {
  const { selection, commands, actions, wrong } = parts;
  const { entries, olderThan } = entriesOf(parts);
  const { shown, rest } = firstOf(entries);
  const earlier = rest ?? olderThan;
  const unread = commands === null || actions === null;
  const list =
    entries.length === 0
      ? html`<p class="muted">${unread ? '' : nothing(parts)}</p>`
      : html`<ol class="events">${shown.map(({ markup }) => markup())}</ol>`;
  const body = html`<h1>Activity</h1>
<section class="panel" aria-label="What was done">
<div class="bar">${activityForm(selection, entries)}</div>
${unread ? html`<p class="bad">Warmwarden cannot read what was done at the moment. The log says why.</p>` : ''}
${wrong === null ? '' : html`<p class="bad">${text(wrong)}</p>`}${list}${earlierLinks(parts, earlier)}
</section>`;
  return { title: 'Activity · Warmwarden', body };
}

function nothing({ selection, until }: ActivityPageParts): string {
  return until !== null || Object.values(selection).some(Boolean) ? 'Nothing that matches.' : 'Nothing yet.';
}

function earlierLinks({ selection, until }: ActivityPageParts, earlier: EpochMs | null): Markup | string {
  if (until === null && earlier === null) return '';
  const path = (before: EpochMs | null) => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(selection)) if (value) query.set(name, value);
    if (before !== null) query.set('until', String(before));
    return query.size === 0 ? '/activity' : `/activity?${query}`;
  };
  return html`<nav class="pages" aria-label="Pages">${until === null ? '' : html`<a href="${path(null)}">← The newest</a>`} ${earlier === null ? '' : html`<a href="${path(earlier)}">Earlier →</a>`}</nav>`;
}

/** What one page shows: all of one moment stand on the same. `rest`: what is older is left; null: nothing is. */
function firstOf(entries: readonly Entry[]): { readonly shown: readonly Entry[]; readonly rest: EpochMs | null } {
  const last = entries[entriesShown - 1];
  if (last === undefined) return { shown: entries, rest: null };
  const shown = entries.filter(({ at }) => at >= last.at);
  return { shown, rest: shown.length < entries.length ? last.at : null };
}

/** All that is known down to the moment from which one of both lists is cut off; what is older than `olderThan` is not among them. */
function entriesOf(parts: ActivityPageParts): {
  readonly entries: readonly Entry[];
  readonly olderThan: EpochMs | null;
} {
  const { commands, actions } = parts;
  const cuts = [
    commands?.length === entriesRead ? commands.at(-1)?.at : undefined,
    actions?.length === entriesRead ? actions.at(-1)?.plannedAt : undefined,
  ].filter((at) => at !== undefined);
  const all = allEntries(parts);
  if (cuts.length === 0) return { entries: all, olderThan: null };
  const cut = Math.max(...cuts);
  // Of the moment of the cut some may be missing: they come with the older ones, unless nothing else is there.
  const sure = all.filter(({ at }) => at > cut);
  return sure.length > 0
    ? { entries: sure, olderThan: cut + 1 }
    : { entries: all.filter(({ at }) => at === cut), olderThan: cut };
}

function allEntries({ commands, actions, explain, now }: ActivityPageParts): readonly Entry[] {
  const byPeople = (commands ?? []).map((command) => ({
    at: command.at,
    by: command.by,
    operation: command.name,
    reason: '',
    markup: () => commandItem(command, now),
  }));
  const byItself = (actions ?? []).map((action) => ({
    at: action.plannedAt,
    by: itself,
    operation: action.kind,
    reason: action.verdict.reason,
    markup: () => actionItem({ action, explain, now, link: true }),
  }));
  return [...byPeople, ...byItself].sort((a, b) => b.at - a.at);
}

/** The words of an end, and the class that colours them. */
const ends: Readonly<Record<string, readonly [string, string]>> = {
  done: ['done', 'confirmed'],
  no_change: [alreadySo, 'none'],
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
${outcome === '' ? '' : outcome.split('\n').map((line) => html`<p class="muted">${prose(line)}</p>`)}
</li>`;
}

function activityForm({ by, mailbox, operation, reason }: ActivitySelection, entries: readonly Entry[]): Markup {
  const options = (values: Iterable<string>, chosen: string | null) =>
    [...new Set([...values, chosen ?? ''])]
      .filter(Boolean)
      .sort()
      .map(
        (value) =>
          html`<option value="${text(value)}"${value === chosen ? html` selected` : ''}>${text(value)}</option>`,
      );
  const people = options([itself, ...entries.map((one) => one.by)], by);
  const operations = options([...guardActionKinds, ...entries.map((one) => one.operation)], operation);
  const reasons = options([...actingReasons, ...entries.map((one) => one.reason)], reason);
  return html`<form class="filter" role="search" action="/activity" method="get">
<select name="by" aria-label="Only by"><option value="">by anyone</option>${people}</select>
<select name="operation" aria-label="Only this"><option value="">everything</option>${operations}</select>
<select name="reason" aria-label="Only for this reason"><option value="">for any reason</option>${reasons}</select>
<input name="mailbox" type="search" value="${mailbox}" maxlength="400" placeholder="address or id of a mailbox" aria-label="Only this mailbox" autocomplete="off" data-key="/">
<button type="submit">Show</button></form>`;
}
