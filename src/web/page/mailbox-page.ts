// Page of a mailbox: the verdict in a sentence, advice, a chart of the days, the checks, and every decision.
import { html } from 'hono/html';
import { silenceOf } from '../../alerts/routing.ts';
import { type Action, neededNoChange } from '../../core/action.ts';
import type { Alert } from '../../core/alert.ts';
import { dailyRows } from '../../core/daily-counts.ts';
import type { RecordedDecision } from '../../core/decision.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { isDisconnected } from '../../core/guard/run-state.ts';
import {
  awaitsJudgement,
  type Change,
  dailyLimitOf,
  type GuardState,
  type MailboxState,
  mailboxKey,
  mailboxStatusOf,
  typedName,
  warmupDayOf,
} from '../../core/mailbox.ts';
import { breakerReleasePath, mailboxCommandPath, mailboxPath } from '../../core/page-links.ts';
import type { Ppm } from '../../core/policy.ts';
import { dayMs, type EpochMs, type IsoDate, isIsoDate, utcDate } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted, duration, momentText, numberText, recentEmailSentences } from '../../core/wording/phrases.ts';
import { actionWord, pausedText } from '../../core/wording/states.ts';
import { writesAreOff } from '../../core/write-scope.ts';
import { isHeldEmergency, type MailboxRow, rowOf } from '../overview/fleet.ts';
import { actsFrom, type Tone } from '../overview/headline.ts';
import { type Parameter, whole } from '../query.ts';
import { type Entries, noSuchMailbox } from '../route-parts.ts';
import { dayChart } from './parts/charts.ts';
import { doLink } from './parts/command-links.ts';
import {
  age,
  ago,
  breakable,
  lasting,
  type Markup,
  pathTo,
  prose,
  rateCell,
  stateBadge,
  text,
} from './parts/elements.ts';
import { actionItem, alertItem } from './parts/items.ts';
import { orNull, place, type View } from './place.ts';

interface Decided {
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
  /** End of the day that the reader chose, or null for now. */
  readonly until: EpochMs | null;
  /** True if older decisions follow. */
  readonly more: boolean;
}

interface MailboxPageParts {
  readonly fleet: Fleet;
  readonly row: MailboxRow;
  /** Entries up to now, newest first, or null if they could not be read. */
  readonly entries: Entries | null;
  /** Decisions on the page, up to the chosen moment, or null if they could not be read. */
  readonly decided: Decided | null;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
  readonly command: string;
  /** IANA name of the time zone for displayed times. */
  readonly zone: string;
}

const decisionsShown = 50;
/** Number of entries per kind. The limits of the days in the chart come from them, too. */
const entriesRead = 100;
/** Last millisecond of the year 9999. */
const maxEpochMs = 253_402_300_799_999;
const isoDate: Parameter<string> = {
  wanted: 'a date such as 2026-03-12',
  schema: { type: 'string', format: 'date' },
  read: (found) => (isIsoDate(found) ? found : null),
};
const dayParameters = { day: isoDate, until: whole(0, maxEpochMs) };

export const mailboxPlace = place('/mailboxes/:account/:id', dayParameters, async (parts, asked, names) => {
  const { fleet, world, explain, policyOf, timeZone } = parts;
  const { account = '', id = '' } = names;
  const mailbox = fleet.mailbox(account, id);
  if (!mailbox) return { refused: 'unknown_mailbox', message: noSuchMailbox };
  const now = world.clock.now();
  const until = asked.until ?? (asked.day === undefined ? null : Date.parse(asked.day) + dayMs - 1);
  const read = (moment: EpochMs) => orNull(world, () => parts.entries.entriesOf(mailbox, moment, entriesRead));
  const entries = await read(now);
  const shown = until === null || until >= now ? entries : await read(until);
  const decided = shown && {
    decisions: shown.decisions.slice(0, decisionsShown),
    until: until !== null && until < now ? until : null,
    more: shown.decisions.length > decisionsShown,
  };
  const row = rowOf(fleet, fleet.mailbox(account, id) ?? mailbox, policyOf);
  return mailboxPage({ fleet, row, entries, decided, explain, now, command: world.command, zone: timeZone() });
});

function mailboxPage(parts: MailboxPageParts): View {
  const { row } = parts;
  const { mailbox } = row;
  const body = html`
<nav class="crumbs" aria-label="Where you are"><a href="/">Fleet</a> › <a href="${pathTo('/', { account: mailbox.account })}">${text(mailbox.account)}</a></nav>
${summary(parts)}
${alertList(parts)}
<div class="columns">
<div>
${daysPanel(parts)}
${actionsPanel(parts)}
${changesPanel(parts)}
<section class="panel" aria-labelledby="decisions"><div class="bar"><h2 id="decisions">Decisions</h2>${dayForm(parts)}</div>
${decisionsPanel(parts)}</section>
</div>
${factsPanel(parts)}
</div>`;
  return { title: `${row.label} · Warmwarden`, body };
}

function summary(parts: MailboxPageParts): Markup {
  const { row, now } = parts;
  const { mailbox, verdict } = row;
  const about = new URLSearchParams({ mailbox: mailboxKey(mailbox.account, mailbox.id) });
  return html`<section class="headline ${stateTone(row.state)}" aria-label="Summary">
<p class="line">${stateBadge(row.state, isHeldEmergency(row.state, row.verdict))} <span class="muted">judged ${ago(mailbox.verdict?.at ?? null, now)}</span></p>
<h1 class="address">${breakable(row.label)}</h1>
<p>${verdict === null ? 'Not judged yet: Warmwarden must read both stats and warm-up once.' : prose(whyOf(parts, verdict))}</p>
<p class="advice">${prose(mailboxAdvice(row, parts))}</p>
${row.state === 'held' ? heldCommands(row) : ''}
${accountNote(parts)}
${stopOver(parts)}
${(verdict?.warnings ?? []).map((warning) => html`<p class="muted">${text(warning)}</p>`)}
<p class="line"><a href="/alerts?${about}">Its alerts</a> <a href="/activity?${about}">Its activity</a></p>
</section>`;
}

/** Commands that a person may use instead of waiting. */
function heldCommands({ mailbox, alerts }: MailboxRow): Markup {
  const isHeld = alerts.some(({ rule }) => rule === 'guard_held');
  return html`<p class="line">${isHeld ? doLink(breakerReleasePath, 'Release') : ''} ${doLink(mailboxCommandPath(mailbox, 'pause'), 'Pause')}</p>`;
}

/**
 * Note about a problem of the whole account that prevents Warmwarden from reading the mailbox, or from acting on it.
 */
function accountNote({ fleet, row: { mailbox }, now }: MailboxPageParts): Markup | string {
  const account = fleet.account(mailbox.account);
  if (!account) return '';
  const { name, failingSince, lastFailure, keyWrites } = account;
  if (failingSince !== null)
    return html`<p class="bad">No request of account ${text(name)} has succeeded ${lasting(failingSince, now)}: this page shows what was read before. ${lastFailure === null ? '' : text(sentence(lastFailure))}</p>`;
  return keyWrites !== false
    ? ''
    : html`<p class="bad">The key of account ${text(name)} may not write, so Warmwarden does NOT act on a breach of this mailbox.</p>`;
}

/** Note about an emergency stop of this mailbox alone: the banner above every page covers wider stops. */
function stopOver({ fleet, row: { mailbox }, now, command }: MailboxPageParts): Markup | string {
  const off = fleet.writesOffOver(mailbox.account, mailbox.id, now);
  return off?.scope.kind === 'mailbox' ? html`<p class="bad">${prose(writesAreOff(off, command))}</p>` : '';
}

/**
 * Explanation of the state. For a paused mailbox it gives the reason of the pause, because its verdict says only that
 * no decision is needed.
 */
function whyOf(parts: MailboxPageParts, verdict: Verdict): string {
  if (verdict.reason !== 'already_paused') return parts.explain(verdict);
  const claim = parts.row.mailbox.memory?.claim ?? null;
  return pausedText({ claim, actions: actionsOf(parts), changes: changesOf(parts) }, parts.zone);
}

function daysPanel(parts: MailboxPageParts): Markup {
  const { row, now } = parts;
  return html`<section class="panel" aria-labelledby="days"><h2 id="days">Sent and bounced</h2>
${dayChart({ rows: dailyRows(row.mailbox.stats?.answer, now), limitOn: limitsOf(parts), actions: actionsOf(parts), changes: changesOf(parts), alerts: row.alerts })}</section>`;
}

/** Limit in force at the end of each day, as far back as the read decisions reach. */
function limitsOf({ row, entries, now }: MailboxPageParts): (date: IsoDate) => Ppm | null {
  const newestFirst = entries?.decisions ?? [];
  return (date) => {
    const end = Math.min(now, Date.parse(date) + dayMs);
    if (entries === null || end >= now) return row.verdict?.limitPpm ?? null;
    return newestFirst.find(({ since }) => since < end)?.verdict.limitPpm ?? null;
  };
}

function actionsOf({ fleet, row, entries }: MailboxPageParts): readonly Action[] {
  if (entries && entries.actions.length > 0) return entries.actions;
  const { account, id, action } = row.mailbox;
  const recent = fleet.recentActions().filter((one) => one.account === account && one.mailboxId === id);
  return recent.length === 0 && action !== null ? [action] : recent;
}

function alertList({ fleet, row, now }: MailboxPageParts): Markup | string {
  if (row.alerts.length === 0) return '';
  const silences = fleet.silences(now);
  return html`<section class="panel" aria-labelledby="alerts"><h2 id="alerts">Firing alerts</h2><ol class="events">
${row.alerts.map((alert) => alertItem({ alert, now, silence: silenceOf(alert, silences) }))}</ol></section>`;
}

function factsPanel({ fleet, row, now, zone }: MailboxPageParts): Markup {
  const { mailbox } = row;
  const { warmup, detail, entry } = mailbox;
  const known = (value: number | string | null | undefined) =>
    value === null || value === undefined
      ? html`<span class="muted">unknown</span>`
      : html`${typeof value === 'number' ? numberText(value) : text(value)}`;
  const dateOf = (at: EpochMs | undefined) => (at === undefined ? undefined : utcDate(at));
  const percentOf = (rate: number | null | undefined) => (rate == null ? rate : `${numberText(rate)} %`);
  const fact = (name: string, value: Markup, at: EpochMs | null | undefined) =>
    html`<div><dt>${name}</dt><dd>${value} <small>${at === undefined ? '' : age(at, now)}</small></dd></div>`;
  return html`<section class="panel" aria-labelledby="facts"><h2 id="facts">What is known <small>and how old it is</small></h2><dl class="facts">
<div class="wide"><dt>Bounce rate in the guard’s window</dt><dd>${row.ratePpm === null ? html`<span class="muted">no emails in it yet</span>` : rateCell(row)}</dd></div>
${fact('Stats', known(rowsKnown(row)), mailbox.stats?.at ?? null)}
${fact('Warm-up mode', known(warmup?.answer.mode), warmup?.at ?? null)}
${fact('Warm-up status', known(warmup?.answer.status), warmup?.at ?? null)}
${fact('Warm-up day', known(warmupDayOf(mailbox)), undefined)}
${fact('Warm-up started', known(dateOf(detail?.answer.warmupStartedAt)), undefined)}
${fact('Daily limit', known(dailyLimitOf(mailbox)), undefined)}
${fact('Reply rate', known(percentOf(warmup?.answer.config.replyRate)), undefined)}
${fact('Health score', known(row.healthScore), undefined)}
${fact('Mailbox status', known(mailboxStatusOf(mailbox)), entry.at)}
${fact('Created', known(dateOf(entry.answer.createdAt)), undefined)}
${fact('Connection', connectionOf(row), detail?.at ?? null)}
${dnsFacts(row, fact)}
${mailbox.dns?.answer.source === undefined ? '' : fact('DNS source', known(mailbox.dns.answer.source), undefined)}
${fact('Blacklists', listingsOf(row), mailbox.blacklist?.at ?? null)}
${recentFact(row, zone, fact)}
${fact('API version', known(fleet.account(mailbox.account)?.apiHealth.version), undefined)}
</dl></section>`;
}

function rowsKnown({ mailbox: { stats } }: MailboxRow): string | null {
  if (!stats?.answer.rows) return null;
  return counted(stats.answer.rows.length, 'day', 'days');
}

type Fact = (name: string, value: Markup, at: EpochMs | null | undefined) => Markup;

function dnsFacts({ mailbox: { dns } }: MailboxRow, fact: Fact): readonly Markup[] {
  if (dns === null) return [fact('DNS', html`<span class="muted">unknown</span>`, null)];
  return Object.entries(dns.answer.records).map(([name, { pass, status }]) => {
    const said = status === null ? '' : ` (${text(status)})`;
    if (pass === null) return fact(name.toUpperCase(), html`<span class="muted">unclear${said}</span>`, dns.at);
    return fact(
      name.toUpperCase(),
      pass ? html`<span class="good">passing</span>` : html`<strong class="bad">failing${said}</strong>`,
      dns.at,
    );
  });
}

/** Note about the recent emails, if they show a problem. */
function recentFact({ mailbox: { warmup } }: MailboxRow, zone: string, fact: Fact): Markup | string {
  const sentences = recentEmailSentences(warmup, zone);
  return sentences.length === 0 ? '' : fact('Recent emails', html`${text(sentences.join(' '))}`, warmup?.at);
}

function connectionOf({ mailbox: { detail } }: MailboxRow): Markup {
  if (!detail || detail.answer.connection === 'unclear') return html`<span class="muted">unknown</span>`;
  if (detail.answer.connection === 'connected') return html`<span class="good">connected</span>`;
  return html`<strong class="bad">${text(detail.answer.connectionError ?? 'broken')}</strong>`;
}

function listingsOf({ mailbox: { blacklist } }: MailboxRow): Markup {
  if (!blacklist || blacklist.answer.listed === null) return html`<span class="muted">unknown</span>`;
  const { listed, lists, found, checked } = blacklist.answer;
  const of = checked === null ? '' : ` of ${numberText(checked)}`;
  if (!listed) return html`<span class="good">none${of}</span>`;
  return html`<strong class="bad">on ${found === null ? 'some' : numberText(found)}${of}</strong>${lists.length === 0 ? '' : `: ${lists.map(text).join(', ')}`}`;
}

function actionsPanel(parts: MailboxPageParts): Markup | string {
  const actions = actionsOf(parts).filter((action) => !neededNoChange(action));
  if (actions.length === 0) return '';
  return html`<section class="panel" aria-labelledby="actions"><h2 id="actions">What was done</h2><ol class="events">
${actions.map((action) => actionItem({ action, explain: parts.explain, now: parts.now, link: false }))}</ol></section>`;
}

/** Changes, newest first. */
function changesOf({ row, entries }: MailboxPageParts): readonly Change[] {
  return entries?.changes ?? row.mailbox.changes.toReversed();
}

/** Changes by others: a person, the vendor, or another tool. */
function changesPanel(parts: MailboxPageParts): Markup | string {
  const { now } = parts;
  const changes = changesOf(parts);
  if (changes.length === 0) return '';
  const value = (word: string | null) => text(word ?? 'nothing');
  return html`<section class="panel" aria-labelledby="changes"><h2 id="changes">What changed outside Warmwarden</h2><ol class="events">
${changes.map(
  ({ what, from, to, at }) =>
    html`<li><p class="line"><strong>${what.replaceAll('_', ' ')}</strong> ${value(from)} → ${value(to)} <span class="muted">seen ${ago(at, now)}</span></p></li>`,
)}</ol></section>`;
}

/**
 * Times of a decision, such as "4 answers, the first 2 h ago, the last 1 min ago". A decision is repeated with each
 * answer; its action is not.
 */
function decidedWhen(
  { since, until, count }: Pick<RecordedDecision, 'since' | 'until' | 'count'>,
  now: EpochMs,
): Markup {
  if (count === 1) return ago(until, now);
  if (duration(now - since) === duration(now - until)) return html`${numberText(count)} answers, ${ago(until, now)}`;
  return html`${numberText(count)} answers, the first ${ago(since, now)}, the last ${ago(until, now)}`;
}

function decisionsPanel(parts: MailboxPageParts): Markup {
  const { decided, explain, now } = parts;
  if (decided === null)
    return html`<p class="bad">Warmwarden cannot read the decisions at the moment. The log says why.</p>`;
  const items = decided.decisions.map(
    ({ since, until, count, verdict }) =>
      html`<li class="${verdict.action}"><p class="line"><span class="badge ${verdict.action}">${actionWord(verdict.action)}</span> <span class="muted">${decidedWhen({ since, until, count }, now)}</span></p><p>${prose(explain(verdict))}</p></li>`,
  );
  const oldest = decided.decisions.at(-1)?.since;
  const older =
    decided.more && oldest !== undefined
      ? html`<p><a href="${mailboxPath(parts.row.mailbox)}?until=${oldest - 1}#decisions">Earlier decisions</a></p>`
      : '';
  return html`${items.length === 0 ? html`<p class="muted">None${decided.until === null ? ' yet' : ' until then'}.</p>` : html`<ol class="events">${items}</ol>`}${older}`;
}

/** Form that selects the decisions of a day. It works without a script. */
function dayForm({ row, decided, now }: MailboxPageParts): Markup {
  const shown = utcDate(decided?.until ?? now);
  const back = html`<a href="${mailboxPath(row.mailbox)}#decisions">Show the newest</a>`;
  return html`<form class="filter" action="${mailboxPath(row.mailbox)}#decisions" method="get">
<label for="day">Until the end of (UTC)</label> <input id="day" name="day" type="date" value="${shown}" max="${utcDate(now)}">
<button type="submit">Show</button> ${decided?.until == null ? '' : back}</form>`;
}

// Advice about the mailbox by its state, in one or two sentences.

/** Tone of the top of the mailbox's page, by state. */
function stateTone(state: GuardState): Tone {
  switch (state) {
    case 'held':
      return 'alarm';
    case 'not_judged':
    case 'paused_by_others':
    case 'not_running':
    case 'no_warmup':
      return 'unknown';
    case 'paused_by_guard':
    case 'recovering':
      return 'acted';
    default:
      return 'calm';
  }
}

function mailboxAdvice(
  { state, mailbox, verdict, alerts }: MailboxRow,
  words: Pick<MailboxPageParts, 'command' | 'zone'>,
): string {
  const needing = alerts.filter(({ severity }) => severity !== 'info').length;
  const nothing = needing === 0 ? 'Nothing to do' : `Read the ${needing === 1 ? 'alert' : 'alerts'} below`;
  const sent = mailbox.action?.state;
  if (state === 'held' && (sent === 'refused' || sent === 'unconfirmed'))
    return 'The last action has not taken effect. Look at the mailbox in the mailbox app and make the change below yourself.';
  const hold = alerts.find(({ rule }) => rule === 'guard_held');
  if (state === 'held' && hold) return heldMailboxAdvice(hold, mailbox, words);
  switch (state) {
    case 'held':
      return verdict?.reason === 'first_sight'
        ? `${needing === 0 ? 'Nothing to do yet' : nothing}. A mailbox seen for the first time is judged on its last ${counted(verdict.windowDays, 'day')}, and Warmwarden acts when a second answer shows the breach again.`
        : `Warmwarden has decided to act, but has not acted yet. To pause the warm-up now: \`${words.command} pause ${typedName(mailbox)}\`.`;
    case 'not_judged':
      if (awaitsJudgement(mailbox))
        return 'Warmwarden has read newer statistics, but not the warm-up, so it has not judged them yet. The sentence above is about older ones.';
      return 'The guard cannot judge it, so Warmwarden does nothing. The sentence above says what is missing.';
    case 'paused_by_guard':
      return 'The warm-up stays paused until a person resumes it. First find out where the bounces come from. Warmwarden does not touch campaign sending.';
    case 'recovering':
      return `${nothing}${needing === 0 ? ': the' : '. The'} mailbox sends less, and the bounce limit of recovery mode applies. If its emails keep bouncing, Warmwarden pauses its warm-up.`;
    case 'over_limit':
      return overLimitAdvice(verdict);
    case 'near_limit':
      return 'Warmwarden has not acted. Find out now where the bounces come from, so that it does not have to.';
    case 'paused_by_others':
      return `The guard did not pause it, so Warmwarden leaves it paused. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'not_running':
      if (isDisconnected(mailbox))
        return 'The mailbox app has lost its connection to the mailbox, so it neither sends nor receives. Connect it again in the mailbox app.';
      return `Its warm-up is finished or has not started. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'no_warmup':
      return `The mailbox app does not warm it up. ${needing === 0 ? nothing : 'Leave it so'} if that is on purpose.`;
    case 'ok':
      return needing === 0 ? 'Nothing to do.' : `${nothing}: ${needing === 1 ? 'it says' : 'each says'} what to do.`;
  }
}

function overLimitAdvice(verdict: MailboxRow['verdict']): string {
  if (verdict?.foundUntil)
    return 'The next bounce would be a breach in recovery mode. Find out where the bounces come from, or pause the warm-up yourself.';
  return verdict?.reason === 'insufficient_evidence'
    ? 'The bounces are too few for Warmwarden to act. Find out where they come from before the next one.'
    : 'The configuration asks for an alert only, so Warmwarden does not act. Pause the warm-up or set the mode to recovery yourself.';
}

/** Advice about a mailbox that the circuit breaker holds. `hold`: the breaker's alert. */
function heldMailboxAdvice(
  hold: Alert,
  mailbox: MailboxState,
  { command, zone }: Pick<MailboxPageParts, 'command' | 'zone'>,
): string {
  const from = actsFrom(hold);
  const next =
    from === null
      ? 'Warmwarden acts only after a release.'
      : `Without a release, Warmwarden acts on its own from ${momentText(from, zone)} if fresh data still shows the breach.`;
  return `Warmwarden has not acted, because the circuit breaker is holding its actions. ${next} If the bounces are real, carry out all held actions: \`${command} breaker release\`. To pause only this mailbox now: \`${command} pause ${typedName(mailbox)}\`.`;
}
