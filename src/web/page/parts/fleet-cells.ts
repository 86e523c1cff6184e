// Cells of a mailbox in the fleet's table, and the address of a selection of mailboxes.
import { html } from 'hono/html';
import { numberText, share } from '../../../core/wording/phrases.ts';
import { type MailboxRow, type Selection, wholeFleet } from '../../overview/fleet.ts';
import type { Markup } from './elements.ts';

/** Address of a page of a selection. Absent fields select all. */
export function selectionPath(selection: Partial<Selection>, page = 1): string {
  const { text: words, state, account, domain, provider, tag, sort } = { ...wholeFleet, ...selection };
  const asked = { q: words, state, account, domain, provider, tag, sort: sort === wholeFleet.sort ? null : sort };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value);
  if (page > 1) query.set('page', String(page));
  return query.size === 0 ? '/' : `/?${query}`;
}

/** Position of the limit on the meter, in percent of its width. Values to its right exceed the limit. */
const limitAtPercent = 66;

/** Rate such as "4 of 210 = 1.9 %, limit 1 %", with a meter whose tick is the limit. */
export function rateCell({ ratePpm, verdict, state }: MailboxRow): Markup {
  if (ratePpm === null || verdict === null) return html`<span class="muted">–</span>`;
  const { limitPpm, bounced, sent } = verdict;
  const counts = html`${numberText(bounced)} of ${numberText(sent)} =`;
  if (limitPpm === null) return html`${counts} <b>${share(ratePpm)}</b> <span class="muted">no limit known</span>`;
  const width = limitPpm === 0 ? 100 : Math.min(100, (ratePpm / limitPpm) * limitAtPercent);
  const over = ratePpm > limitPpm;
  const tone = over ? 'over' : state === 'near_limit' ? 'near' : '';
  return html`<span class="figures"><span>${counts} <b class="${over ? 'bad' : ''}">${share(ratePpm)}</b></span> <span class="muted">limit ${share(limitPpm)}</span></span>
<svg class="meter ${tone}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" rx="1"/><rect class="value" width="${width.toFixed(1)}" height="6" rx="1"/><rect class="limit" x="${limitAtPercent}" width="1.5" height="6"/></svg>`;
}

/** Result of the DNS checks in words, because colour alone is not accessible. */
export function dnsCell({ dns }: MailboxRow): Markup {
  if (!dns.read) return html`<span class="muted">never read</span>`;
  const failing = dns.failing.map((name) => name.toUpperCase()).join(', ');
  if (failing) return html`<strong class="bad">${failing} failing</strong>`;
  if (dns.inconclusive.length > 0) return html`<span class="muted">unclear</span>`;
  return html`<span class="good">passing</span>`;
}

/** Number of blacklists that list the mailbox. */
export function listingsCell({ listings }: MailboxRow): Markup {
  if (listings === null) return html`<span class="muted">unknown</span>`;
  if (listings === 0) return html`none`;
  return html`<strong class="bad">${listings === 'listed' ? 'listed' : `on ${numberText(listings)}`}</strong>`;
}
