// Reference pages: the request budget, and the meaning of each alert.
import { html } from 'hono/html';
import { alertRules } from '../../core/alert-rules.ts';
import type { AccountState, MailboxState, SweepProgress } from '../../core/mailbox.ts';
import { runbookOf } from '../../core/runbooks.ts';
import type { EpochMs } from '../../core/time.ts';
import { mendText, slowText, sumText, sweepText } from '../../core/wording/forecast.ts';
import { counted, numberText, spanText } from '../../core/wording/phrases.ts';
import { compareKeys, type Key, pageNumbered, whole } from '../query.ts';
import { oldestPoll } from './parts/account-panels.ts';
import { age, ago, type Markup, pageLinks, prose, severityBadge, table, text } from './parts/elements.ts';
import { place } from './place.ts';

export const runbooksPlace = place('/runbooks', {}, ({ world: { command } }) => {
  const items = alertRules.map((rule) => {
    const { means, cases, done, todo } = runbookOf(rule, command);
    const items = cases.map(
      (one) => html`<li>${severityBadge(one.severity)} <strong>${one.cause}</strong>: ${prose(one.means)}
${one.todo !== null && html`<p><strong>What to do.</strong> ${prose(one.todo)}</p>`}</li>`,
    );
    return html`<section class="panel" id="${rule}"><h2>${rule}</h2>
<p>${prose(means)}</p>
${items.length > 0 && html`<ul class="events">${items}</ul>`}
${done !== null && html`<p><strong>What was done.</strong> ${prose(done)}</p>`}
${todo !== null && html`<p><strong>What to do.</strong> ${prose(todo)}</p>`}</section>`;
  });
  return { title: 'Runbooks · Warmwarden', body: html`<h1>What alerts mean</h1>${items}` };
});

/** Kinds of data about a mailbox, in people's words, with the route that reads each. */
const dataKinds = [
  { kind: 'stats', word: 'Statistics', route: 'stats' },
  { kind: 'warmup', word: 'Warm-up', route: 'warmup' },
  { kind: 'detail', word: 'Connection', route: 'mailbox' },
  { kind: 'dns', word: 'DNS', route: 'dns' },
  { kind: 'blacklist', word: 'Blacklists', route: 'blacklist' },
] as const;

type DataKind = (typeof dataKinds)[number];

interface DataAge {
  oldest: EpochMs | null;
  newest: EpochMs | null;
  unread: number;
}

function dataAges(mailboxes: Iterable<MailboxState>): Readonly<Record<DataKind['kind'], DataAge>> {
  const age = (): DataAge => ({ oldest: null, newest: null, unread: 0 });
  const ages = { stats: age(), warmup: age(), detail: age(), dns: age(), blacklist: age() };
  for (const mailbox of mailboxes) {
    for (const { kind } of dataKinds) {
      const [known, at] = [ages[kind], mailbox[kind]?.at ?? null];
      if (at === null) known.unread += 1;
      else {
        known.oldest = Math.min(known.oldest ?? at, at);
        known.newest = Math.max(known.newest ?? at, at);
      }
    }
  }
  return ages;
}

/** Accounts per page: an account takes 2.7 KB of markup. */
const accountsAPage = 40;

export const budgetPlace = place('/budget', { page: whole(1) }, ({ fleet, world, timeZone }, asked) => {
  const all = [...fleet.accounts()].sort((a, b) => compareKeys(needKey(a), needKey(b)));
  const shown = pageNumbered(all, asked.page ?? 1, accountsAPage);
  const now = world.clock.now();
  const panels = shown.rows.map((account) => {
    const ages = dataAges(fleet.mailboxesOf(account.name));
    return accountPanel({ account, sweep: fleet.sweep(account.name), ages, now, zone: timeZone() });
  });
  const none = html`<p class="muted">No account is configured.</p>`;
  const body = html`<h1>Request budget</h1>
<p class="muted">Every request to the API counts against the rate limit of its key. Warmwarden reads the mailboxes at risk first, and the rest as often as the rate limit allows.</p>
${panels.length === 0 ? none : html`${panels}${pageLinks(shown, (target) => `/budget?page=${target}`)}`}`;
  return { title: 'Budget · Warmwarden', body };
});

/** Sort key: accounts whose budget is too small come first, then by name. */
function needKey({ forecast, name }: AccountState): Key {
  return [forecast?.fits === false ? 0 : 1, name];
}

interface AccountPanelParts {
  readonly account: AccountState;
  readonly sweep: SweepProgress | undefined;
  readonly ages: ReturnType<typeof dataAges>;
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

function agesTable(ages: AccountPanelParts['ages'], { forecast }: AccountState, now: EpochMs): Markup {
  const rows = dataKinds.map(({ kind, word, route }) => {
    const { oldest, newest, unread } = ages[kind];
    const most = forecast === null ? '–' : spanText(forecast.oldestMs[route]);
    return [word, age(newest, now), age(oldest, now), unread === 0 ? 'none' : numberText(unread), most];
  });
  const headings = ['Data', 'Newest', 'Oldest', 'Never read', 'Max. age'];
  return table({ caption: 'Age of the data by kind', className: 'days', headings, rows });
}
