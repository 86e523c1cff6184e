// The request budget: what each key may do, what the cadence asks for, and how old each kind of data is.
import { html } from 'hono/html';
import type { Fleet } from '../fleet/fleet.ts';
import type { AccountState, MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { mendText, sumText } from '../wording/forecast.ts';
import { counted, numberText, spanText } from '../wording/phrases.ts';
import { sweepText } from '../wording/sweep.ts';
import { age, ago, type Markup, text } from './elements.ts';
import { Regions, type View } from './regions.ts';
import { duration } from './words.ts';

/** What is read of a mailbox, as people name it, and the route that reads it. */
const kinds = [
  ['stats', 'Statistics', 'stats'],
  ['warmup', 'Warm-up', 'warmup'],
  ['detail', 'Connection', 'mailbox'],
  ['dns', 'DNS', 'dns'],
  ['blacklist', 'Blacklists', 'blacklist'],
] as const;
type Kind = (typeof kinds)[number][0];

interface Ages {
  oldest: EpochMs | null;
  newest: EpochMs | null;
  unread: number;
}

export function budgetPage({ fleet, now }: { readonly fleet: Fleet; readonly now: EpochMs }): View {
  const regions = new Regions();
  const panels = [...fleet.accounts()].map((account) => accountPanel(fleet, account, now));
  const none = html`<p class="muted">No account is configured.</p>`;
  const body = html`<h1>Request budget</h1>
<p class="muted">Every request to the mailbox API counts against the limit of a key. Warmwarden reads the mailboxes at risk first, and the rest as often as the limit allows.</p>
${regions.piece('budget', panels.length === 0 ? none : html`${panels}`)}`;
  return { title: 'Budget · Warmwarden', body, regions };
}

function accountPanel(fleet: Fleet, account: AccountState, now: EpochMs): Markup {
  const { name, forecast, queueLength, oldestDueAt, throttledLastHour, requestsPerMinute } = account;
  const sweep = fleet.sweep(name);
  const ages = agesOf(fleet.mailboxesOf(name));
  const fact = (word: string, value: Markup | string) => html`<div><dt>${word}</dt><dd>${value}</dd></div>`;
  const waiting = oldestDueAt === null ? '' : `, the oldest for ${duration(now - oldestDueAt)}`;
  const pace =
    forecast === null
      ? ''
      : fact('The cadence needs', `${counted(Math.max(1, Math.round(forecast.asksPerMinute)), 'request')} a minute`);
  return html`<section class="panel" aria-labelledby="budget-${text(name)}"><h2 id="budget-${text(name)}">${text(name)} ${fitBadge(account)}</h2>
${sweep ? html`<p>${text(sweepText(sweep, now))}.</p><progress max="${sweep.mailboxes}" value="${sweep.read}" aria-label="First sweep"></progress>` : ''}
<div class="columns"><dl class="facts">
${fact('The key allows', `${counted(requestsPerMinute, 'request')} a minute`)}
${pace}
${fact('Waiting', `${counted(queueLength, 'poll')}${waiting}`)}
${fact('Refused for too many requests', throttledLastHour === 0 ? 'none in the last hour' : html`<strong class="bad">${numberText(throttledLastHour)} in the last hour</strong>`)}
${fact('Last answer', ago(account.lastSuccessAt, now))}
</dl>
${agesTable(ages, account, now)}</div>
${forecast === null ? '' : html`<p class="muted">${sumText(forecast)}.</p>${forecast.fits ? '' : html`<p class="bad">${mendText(forecast)}</p>`}`}</section>`;
}

function fitBadge({ forecast }: AccountState): Markup {
  if (forecast === null) return html`<span class="badge none">not known yet</span>`;
  return forecast.fits
    ? html`<span class="badge confirmed">the budget is enough</span>`
    : html`<span class="badge warning">too small for the cadence</span>`;
}

function agesTable(ages: Readonly<Record<Kind, Ages>>, { forecast }: AccountState, now: EpochMs): Markup {
  const rows = kinds.map(([kind, word, route]) => {
    const { oldest, newest, unread } = ages[kind];
    return html`<tr><th scope="row">${word}</th><td>${age(newest, now)}</td><td>${age(oldest, now)}</td><td class="number">${unread === 0 ? 'none' : numberText(unread)}</td><td class="number">${forecast === null ? '–' : spanText(forecast.oldestMs[route])}</td></tr>`;
  });
  return html`<table class="days"><caption class="unseen">Age of the data by kind</caption>
<thead><tr><th scope="col">Data</th><th scope="col">Newest</th><th scope="col">Oldest</th><th scope="col">Never read</th><th scope="col">Max. age</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function agesOf(mailboxes: Iterable<MailboxState>): Readonly<Record<Kind, Ages>> {
  const none = (): Ages => ({ oldest: null, newest: null, unread: 0 });
  const ages = { stats: none(), warmup: none(), detail: none(), dns: none(), blacklist: none() };
  for (const mailbox of mailboxes) {
    for (const [kind] of kinds) {
      const of = ages[kind];
      const at = mailbox[kind]?.at ?? null;
      if (at === null) of.unread += 1;
      else {
        of.oldest = Math.min(of.oldest ?? at, at);
        of.newest = Math.max(of.newest ?? at, at);
      }
    }
  }
  return ages;
}
