// The activity page: actions of people and of Warmwarden, with their reasons and outcomes.
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

/** Filters of the page; the lists have only matching entries. */
interface ActivitySelection {
  /** A person's name, `Warmwarden`, or null for everyone. */
  readonly by: string | null;
  /** ACCOUNT/ID, an id or an address. All mailboxes if empty. */
  readonly mailbox: string;
  /** An operation or a kind of action, or null for all. */
  readonly operation: string | null;
  /** Reason of an action of Warmwarden, or null for any. */
  readonly reason: Reason | null;
}

interface ActivityPageParts {
  /** Commands, newest first, or null if they could not be read. */
  readonly commands: readonly CommandEntry[] | null;
  readonly actions: readonly Action[] | null;
  /** Time before which entries are shown, or null to start with the newest. */
  readonly until: EpochMs | null;
  readonly selection: ActivitySelection;
  /** Error about the mailbox's name, or null. */
  readonly wrong: string | null;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
}

const entriesShown = 100;
/** Largest number of commands, and of actions of Warmwarden, that are read: older ones may follow. */
const entriesRead = 200;
const maxWordLength = 400;
/** Last millisecond of the year 9999. */
const maxEpochMs = 253_402_300_799_999;

/** Selection from form fields: an empty text selects all. */
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
  // The lowest id excludes all entries of that moment, so that only older ones follow.
  const behind = <Id>(id: Id) => (until === null ? null : { at: until, id });
  const read = <Row>(isAsked: boolean, rows: () => Promise<readonly Row[]>) =>
    wrong === null && isAsked ? orNull(world, rows) : Promise.resolve([]);
  const commands = await read(asksForCommands(filter), () => history.commands({ ...wanted, before: behind(0) }));
  const actions = await read(asksForActions(filter), () => history.guardActions({ ...wanted, before: behind('') }));
  const selection = { ...filter, mailbox: name.trim() };
  return activityPage({ commands, actions, until, selection, wrong, explain, now: world.clock.now() });
});

/** Reasons for which Warmwarden acts. */
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

/**
 * Returns the entries of one page. Entries of the same moment are on the same page. `rest`: time before which entries
 * remain, or null if none remain.
 */
function firstOf(entries: readonly Entry[]): { readonly shown: readonly Entry[]; readonly rest: EpochMs | null } {
  const last = entries[entriesShown - 1];
  if (last === undefined) return { shown: entries, rest: null };
  const shown = entries.filter(({ at }) => at >= last.at);
  return { shown, rest: shown.length < entries.length ? last.at : null };
}

/**
 * Returns the entries down to the moment at which one of the two lists was cut off. Entries before `olderThan` are
 * missing.
 */
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
  // The list may lack entries of the moment of the cut: they are shown with the older ones, unless they are the only
  // ones.
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

/** Word for each end, and the class that colours it. */
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
