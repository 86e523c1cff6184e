// The request budget: what each key may do, what the cadence asks for, and how old each kind of data is.
import { html } from 'hono/html';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { AccountState, SweepProgress } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { mendText, slowText, sumText, sweepText } from '../../core/wording/forecast.ts';
import { counted, numberText, spanText } from '../../core/wording/phrases.ts';
import { type budgetAccounts, DataAges, dataKinds } from '../overview/budget.ts';
import { oldestPoll } from './parts/account-panels.ts';
import { age, ago, type Markup, pageLinks, text, type View } from './parts/elements.ts';

export interface BudgetPageParts extends ReturnType<typeof budgetAccounts> {
  readonly fleet: Fleet;
  /** By the names of the accounts. */
  readonly ages: ReadonlyMap<string, DataAges>;
  readonly now: EpochMs;
  /** In which sentences give times: an IANA name. */
  readonly zone: string;
}

export function budgetPage({ fleet, accounts, page, pages, ages, now, zone }: BudgetPageParts): View {
  const panels = accounts.map((account) =>
    accountPanel({
      account,
      sweep: fleet.sweep(account.name),
      ages: ages.get(account.name) ?? new DataAges(),
      now,
      zone,
    }),
  );
  const none = html`<p class="muted">No account is configured.</p>`;
  const body = html`<h1>Request budget</h1>
<p class="muted">Every request to the mailbox API counts against the rate limit of its key. Warmwarden reads the mailboxes at risk first, and the rest as often as the rate limit allows.</p>
${panels.length === 0 ? none : html`${panels}${pageLinks({ page, pages }, (target) => `/budget?page=${target}`)}`}`;
  return { title: 'Budget · Warmwarden', body };
}

interface AccountPanelParts {
  readonly account: AccountState;
  readonly sweep: SweepProgress | undefined;
  readonly ages: DataAges;
  readonly now: EpochMs;
  readonly zone: string;
}

function accountPanel({ account, sweep, ages, now, zone }: AccountPanelParts): Markup {
  const { name, forecast, queueLength, throttledLastHour, requestsPerMinute } = account;
  const fact = (word: string, value: Markup | string) => html`<div><dt>${word}</dt><dd>${value}</dd></div>`;
  const pace =
    forecast === null
      ? ''
      : fact('The cadence needs', `${counted(Math.max(1, Math.round(forecast.asksPerMinute)), 'request')} a minute`);
  return html`<section class="panel" aria-labelledby="budget-${text(name)}"><h2 id="budget-${text(name)}">${text(name)} ${fitBadge(account)}</h2>
${sweep ? html`<p>${text(sweepText(sweep, { now, zone }))}.</p><progress max="${sweep.mailboxes}" value="${sweep.read}" aria-label="First sweep"></progress>` : ''}
<div class="columns even"><dl class="facts">
${fact('Warmwarden may make', `${counted(requestsPerMinute, 'request')} a minute`)}
${pace}
${fact('Waiting', `${counted(queueLength, 'poll')}${oldestPoll(account, now)}`)}
${fact('Refused for too many requests', throttledLastHour === 0 ? 'none in the last hour' : html`<strong class="bad">${numberText(throttledLastHour)} in the last hour</strong>`)}
${fact('Last answer', ago(account.lastSuccessAt, now))}
</dl>
${agesTable(ages, account, now)}</div>
${forecast === null ? '' : html`<p class="muted">${sumText(forecast)}.</p>${forecast.fits ? '' : html`<p class="bad">${mendText(forecast)}</p>`}`}${account.isSlow ? html`<p class="bad">${slowText(account)}</p>` : ''}</section>`;
}

function fitBadge({ forecast, isSlow }: AccountState): Markup {
  if (isSlow) return html`<span class="badge warning">slower than planned</span>`;
  if (forecast === null) return html`<span class="badge none">budget not known yet</span>`;
  return forecast.fits
    ? html`<span class="badge confirmed">the budget is enough</span>`
    : html`<span class="badge warning">too small for the cadence</span>`;
}

function agesTable(ages: DataAges, { forecast }: AccountState, now: EpochMs): Markup {
  const rows = dataKinds.map(({ kind, word, route }) => {
    const { oldest, newest, unread } = ages.of(kind);
    return html`<tr><th scope="row">${word}</th><td>${age(newest, now)}</td><td>${age(oldest, now)}</td><td class="number">${unread === 0 ? 'none' : numberText(unread)}</td><td class="number">${forecast === null ? '–' : spanText(forecast.oldestMs[route])}</td></tr>`;
  });
  return html`<table class="days"><caption class="unseen">Age of the data by kind</caption>
<thead><tr><th scope="col">Data</th><th scope="col">Newest</th><th scope="col">Oldest</th><th scope="col">Never read</th><th scope="col">Max. age</th></tr></thead><tbody>${rows}</tbody></table>`;
}
