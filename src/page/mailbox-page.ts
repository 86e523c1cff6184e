// A mailbox's page: the verdict in a sentence, what to do, the days in a chart, the checks, and every decision.
import { html } from 'hono/html';
import type { Fleet } from '../fleet/fleet.ts';
import { dailyLimitOf, mailboxStatusOf, warmupDayOf } from '../fleet/newest-value.ts';
import { dailyRows } from '../model/daily-counts.ts';
import type { RecordedDecision } from '../model/decision.ts';
import type { Ppm } from '../model/policy.ts';
import { dayMs, type EpochMs, type IsoDate } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';
import { counted, numberText } from '../wording/phrases.ts';
import { recentEmailSentences } from '../wording/recent-emails.ts';
import { actionItem } from './action-item.ts';
import { dayChart } from './day-chart.ts';
import { age, ago, breakable, lasting, type Markup, prose, severityBadge, stateBadge, text } from './elements.ts';
import { rateCell } from './fleet-table.ts';
import type { MailboxRow } from './fleet-view.ts';
import { mailboxAdvice, stateTone } from './mailbox-advice.ts';
import { Regions, type View } from './regions.ts';

export interface MailboxPageParts {
  readonly fleet: Fleet;
  readonly row: MailboxRow;
  /** The newest first; null when they could not be read. */
  readonly decisions: readonly RecordedDecision[] | null;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
}

export function mailboxPage(parts: MailboxPageParts): View {
  const { row, now } = parts;
  const { mailbox } = row;
  const regions = new Regions();
  const body = html`
<nav class="crumbs" aria-label="Where you are"><a href="/">Fleet</a> › ${text(mailbox.account)}</nav>
${regions.piece('summary', summary(parts))}
${regions.piece('alerts', alertList(parts))}
<div class="columns">
<div>
${regions.piece('days', daysPanel(parts))}
${regions.piece('actions', actionsPanel(parts))}
${regions.piece('changes', changesPanel(row, now))}
${regions.piece('decisions', decisionsPanel(parts))}
</div>
${regions.piece('facts', factsPanel(row, now))}
</div>`;
  return { title: `${row.label} · Warmwarden`, body, regions };
}

function summary({ row, explain, now }: MailboxPageParts): Markup {
  const { mailbox, verdict } = row;
  return html`<section class="headline ${stateTone(row.state)}" aria-label="Summary">
<p class="line">${stateBadge(row.state)} <span class="muted">judged ${ago(mailbox.verdict?.at ?? null, now)}</span></p>
<h1 class="address">${breakable(row.label)}</h1>
<p>${verdict === null ? 'Not judged yet: Warmwarden must read both stats and warm-up once.' : prose(explain(verdict))}</p>
<p class="advice">${mailboxAdvice(row)}</p>
${(verdict?.warnings ?? []).map((warning) => html`<p class="muted">${text(warning)}</p>`)}
</section>`;
}

function daysPanel(parts: MailboxPageParts): Markup {
  const { row, now } = parts;
  return html`<section class="panel" aria-labelledby="days"><h2 id="days">Sent and bounced</h2>
${dayChart({ rows: dailyRows(row.mailbox.stats?.answer, now), limitOn: limitsOf(parts), actions: actionsOf(parts) })}</section>`;
}

/** The limit in force at the end of each day, as far back as the shown decisions reach. */
function limitsOf({ row, decisions, now }: MailboxPageParts): (date: IsoDate) => Ppm | null {
  const newestFirst = decisions ?? [];
  return (date) => {
    const end = Math.min(now, Date.parse(date) + dayMs);
    if (decisions === null || end >= now) return row.verdict?.limitPpm ?? null;
    return newestFirst.find(({ since }) => since < end)?.verdict.limitPpm ?? null;
  };
}

function actionsOf({ fleet, row }: MailboxPageParts) {
  const { account, id, action } = row.mailbox;
  const recent = fleet.recentActions().filter((one) => one.account === account && one.mailboxId === id);
  return recent.length === 0 && action !== null ? [action] : recent;
}

function alertList({ row, now }: MailboxPageParts): Markup | string {
  if (row.alerts.length === 0) return '';
  return html`<section class="panel" aria-labelledby="alerts"><h2 id="alerts">Firing alerts</h2><ol class="events">
${row.alerts.map(
  (
    alert,
  ) => html`<li id="alert-${alert.fingerprint}" class="${alert.severity}"><p class="line">${severityBadge(alert.severity)} <strong>${breakable(alert.facts.title)}</strong> <span class="muted">${lasting(alert.since, now)}</span></p>
${alert.facts.sentences.map((sentence) => html`<p>${prose(sentence)}</p>`)}</li>`,
)}</ol></section>`;
}

function factsPanel(row: MailboxRow, now: EpochMs): Markup {
  const { mailbox } = row;
  const { warmup, detail, entry } = mailbox;
  const known = (value: number | string | null | undefined) =>
    value === null || value === undefined
      ? html`<span class="muted">unknown</span>`
      : html`${typeof value === 'number' ? numberText(value) : text(value)}`;
  const fact = (name: string, value: Markup, at: EpochMs | null | undefined) =>
    html`<div><dt>${name}</dt><dd>${value} <small>${at === undefined ? '' : age(at, now)}</small></dd></div>`;
  return html`<section class="panel" aria-labelledby="facts"><h2 id="facts">What is known <small>and how old it is</small></h2><dl class="facts">
<div class="wide"><dt>Bounce rate in the guard’s window</dt><dd>${rateCell(row)}</dd></div>
${fact('Stats', known(rowsKnown(row)), mailbox.stats?.at ?? null)}
${fact('Warm-up mode', known(warmup?.answer.mode), warmup?.at ?? null)}
${fact('Warm-up status', known(warmup?.answer.status), warmup?.at ?? null)}
${fact('Warm-up day', known(warmupDayOf(mailbox)), undefined)}
${fact('Daily limit', known(dailyLimitOf(mailbox)), undefined)}
${fact('Health score', known(row.healthScore), undefined)}
${fact('Mailbox status', known(mailboxStatusOf(mailbox)), entry.at)}
${fact('Connection', connectionOf(row), detail?.at ?? null)}
${dnsFacts(row, fact)}
${fact('Blacklists', listingsOf(row), mailbox.blacklist?.at ?? null)}
${recentFact(row, fact)}
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

/** What the recent emails show, when there is something to see. */
function recentFact({ mailbox: { warmup } }: MailboxRow, fact: Fact): Markup | string {
  const sentences = recentEmailSentences(warmup);
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
  const actions = actionsOf(parts);
  if (actions.length === 0) return '';
  return html`<section class="panel" aria-labelledby="actions"><h2 id="actions">What was done</h2><ol class="events">
${actions.map((action) => actionItem({ action, explain: parts.explain, now: parts.now, link: false }))}</ol></section>`;
}

/** What others changed, the newest first: a person, the vendor, another tool. */
function changesPanel({ mailbox: { changes } }: MailboxRow, now: EpochMs): Markup | string {
  if (changes.length === 0) return '';
  const value = (word: string | null) => text(word ?? 'nothing');
  return html`<section class="panel" aria-labelledby="changes"><h2 id="changes">What others changed</h2><ol class="events">
${changes
  .toReversed()
  .map(
    ({ what, from, to, at }) =>
      html`<li><p class="line"><strong>${what.replaceAll('_', ' ')}</strong> ${value(from)} → ${value(to)} <span class="muted">seen ${ago(at, now)}</span></p></li>`,
  )}</ol></section>`;
}

/** "4 times, the first 2 h ago, the last 1 min ago". */
function decidedWhen(
  { since, until, count }: Pick<RecordedDecision, 'since' | 'until' | 'count'>,
  now: EpochMs,
): Markup {
  if (count === 1) return ago(until, now);
  return html`${numberText(count)} times, the first ${ago(since, now)}, the last ${ago(until, now)}`;
}

function decisionsPanel({ decisions, explain, now }: MailboxPageParts): Markup {
  if (decisions === null) {
    return html`<section class="panel" aria-labelledby="decisions"><h2 id="decisions">Decisions</h2>
<p class="bad">Warmwarden cannot read the decisions at the moment. The log says why.</p></section>`;
  }
  const items = decisions.map(
    ({ since, until, count: times, verdict }) =>
      html`<li class="${verdict.action}"><p class="line"><span class="badge ${verdict.action}">${verdict.action === 'none' ? 'no action' : verdict.action}</span> <span class="muted">${decidedWhen({ since, until, count: times }, now)}</span></p><p>${prose(explain(verdict))}</p></li>`,
  );
  return html`<section class="panel" aria-labelledby="decisions"><h2 id="decisions">Decisions</h2>
${items.length === 0 ? html`<p class="muted">None yet.</p>` : html`<ol class="events">${items}</ol>`}</section>`;
}
