// Side panels: the state of each account's API and of each alert channel.

import { html } from 'hono/html';
import type { ChannelState, Fleet } from '../../../core/fleet/fleet.ts';
import type { Incident } from '../../../core/incident.ts';
import type { AccountState } from '../../../core/mailbox.ts';
import { accountBadges, notGuardedBy, type Trouble } from '../../../core/not-guarded.ts';
import { mailboxPath, resendPath } from '../../../core/page-links.ts';
import type { EpochMs } from '../../../core/time.ts';
import { sentence } from '../../../core/wording/explain.ts';
import { mendText, type Reading, slowText, sumText, sweepText } from '../../../core/wording/forecast.ts';
import { doneTexts, incidentAdvice, incidentTitle, memberLine, worstFirst } from '../../../core/wording/incidents.ts';
import { counted, duration, firstText, numberText, overlapText } from '../../../core/wording/phrases.ts';
import { leadsOf } from '../../overview/headline.ts';
import type { RouteParts } from '../../route-parts.ts';
import { doLink } from './command-links.ts';
import {
  ago,
  breakable,
  headingWith,
  lasting,
  type Markup,
  panel,
  pathTo,
  prose,
  severityBadge,
  text,
} from './elements.ts';

/** Largest number of listed accounts: those with problems come first, and the others are counted. */
const accountsListed = 8;
const mailboxesNamed = 10;

interface AccountsPanelParts extends Reading {
  readonly fleet: Fleet;
  readonly accounts: readonly AccountState[];
  readonly troubles: readonly Trouble[];
}

export function accountsPanel(parts: AccountsPanelParts): Markup {
  const ill = new Set(parts.troubles.map(({ account }) => account));
  const isWell = ({ name, health, forecast, isSlow }: AccountState) =>
    !ill.has(name) && health !== 'other' && forecast?.fits !== false && !isSlow;
  const accounts = parts.accounts.toSorted((a, b) => Number(isWell(a)) - Number(isWell(b)));
  const rest = accounts.slice(accountsListed);
  const restIll = rest.filter((account) => !isWell(account)).length;
  const more = html`<p class="${restIll === 0 ? 'muted' : 'bad'}">${counted(rest.length, 'more account')}, ${restIll === 0 ? 'all of them without a problem' : `${numberText(restIll)} of them with problems`}. See <a href="/groups">the fleet by account</a>.</p>`;
  return panel(
    'accounts',
    rest.length === 0 ? 'Accounts' : headingWith('Accounts', accounts.length),
    html`${accounts.length === 0 && html`<p class="muted">None yet.</p>`}
<ul class="plain">${accounts.slice(0, accountsListed).map((account) => accountItem(account, parts))}</ul>
${rest.length > 0 && more}`,
  );
}

function accountItem(account: AccountState, { fleet, troubles, ...reading }: AccountsPanelParts): Markup {
  const { now } = reading;
  const { name, guardedElsewhere = [], failingSince, forecast, queueLength } = account;
  const own = troubles.filter((trouble) => trouble.account === name);
  const { word, tone } = apiState(account, troubles);
  const sweep = fleet.sweep(name);
  // Some polls always wait, so their number alone does not show whether the rate limit is enough.
  const isEnough = queueLength > 0 && failingSince === null && forecast?.fits;
  const elsewhere = firstText(
    guardedElsewhere.map(({ email }) => email),
    mailboxesNamed,
  );
  return html`<li>
<p class="line"><strong>${text(name)}</strong> <span class="badge ${tone}">${word}</span></p>
${own.map(({ since, why }) => html`<p class="bad">NOT GUARDED${since !== null && html` ${lasting(since, now)}`}: ${text(sentence(why))}</p>`)}
${keyNote(account, fleet.lastWrites().get(name) ?? null, now)}
${guardedElsewhere.length > 0 && html`<p class="muted">${text(overlapText(guardedElsewhere))}: ${text(elsewhere)}.</p>`}
${sweep && html`<p>${text(sweepText(sweep, reading))}.</p>`}
<p class="muted">Last answer ${ago(account.lastSuccessAt, now)}. Up to ${counted(account.requestsPerMinute, 'request')} a minute, ${counted(queueLength, 'poll')} waiting${oldestPoll(account, now)}.${isEnough && ' The rate limit is enough for them.'}</p>
${forecast && html`<p class="${forecast.fits ? 'muted' : 'bad'}">${sumText(forecast)}.${!forecast.fits && html` ${mendText(forecast)}`}</p>`}
${account.isSlow && html`<p class="bad">${slowText(account)}</p>`}
</li>`;
}

/** Age of the oldest waiting poll. Empty during an outage, before which a failed poll may have been due. */
function oldestPoll({ oldestDueAt, failingSince }: AccountState, now: EpochMs): string {
  return oldestDueAt === null || failingSince !== null ? '' : `, the oldest for ${duration(now - oldestDueAt)}`;
}

/** Note about the rights of the key: unknown until Warmwarden has written with it. */
function keyNote({ keyWrites }: AccountState, lastWriteAt: EpochMs | null, now: EpochMs): Markup | string {
  if (keyWrites !== null) return '';
  return lastWriteAt === null
    ? html`<p class="muted">Whether the key can write is not known yet: the first action shows it.</p>`
    : html`<p class="muted">Warmwarden last changed a mailbox of this account ${ago(lastWriteAt, now)}. The next action shows whether the key may still write.</p>`;
}

function apiState(
  account: AccountState,
  troubles: readonly Trouble[],
): { readonly word: string; readonly tone: string } {
  const badge = accountBadges(troubles).get(account.name);
  if (badge !== undefined) return { word: badge, tone: 'critical' };
  if (account.lastSuccessAt === null) return { word: 'not polled yet', tone: 'info' };
  return account.health === 'other' ? { word: 'API unwell', tone: 'warning' } : { word: 'API up', tone: 'confirmed' };
}

export function channelsPanel(fleet: Fleet, now: EpochMs): Markup {
  const channels = [...fleet.channels()].map((channel) => channelItem(channel, now));
  const none = html`<p class="muted">No channel is configured: this page is the only place that shows alerts.</p>`;
  return panel(
    'messages',
    'Messages',
    html`${channels.length === 0 ? none : html`<ul class="plain">${channels}</ul>`}
<p class="muted"><a href="/alerts#messages">The newest messages</a></p>`,
  );
}

function channelItem(channel: ChannelState, now: EpochMs): Markup {
  const ill = channel.failingSince !== null;
  const isWell = !ill && channel.undelivered === 0;
  const waiting =
    channel.pending === 0
      ? 'No messages are waiting'
      : `${counted(channel.pending, 'message is', 'messages are')} waiting`;
  const again =
    channel.type === 'removed'
      ? 'The channel is no longer configured.'
      : html`Send again: <code>warmwarden channels resend ${text(channel.name)}</code> ${doLink(resendPath({ channel: channel.name }), 'Send again')}`;
  return html`<li><p class="line"><span><strong>${text(channel.name)}</strong>${channel.type === channel.name ? '' : html` <small>${channel.type}</small>`}</span> <span class="badge ${isWell ? 'confirmed' : 'critical'}">${ill ? 'failing' : isWell ? 'OK' : 'undelivered'}</span></p>
${ill ? html`<p class="bad">${text(channel.lastFailure ?? '')}</p>` : ''}
${channel.undelivered === 0 ? '' : html`<p class="bad">${counted(channel.undelivered, 'message is', 'messages are')} undelivered. ${again}</p>`}
<p class="muted">${waiting}. ${channel.lastSuccessAt === null ? 'No message has been sent since Warmwarden started.' : html`Last sent ${ago(channel.lastSuccessAt, now)}.`}</p></li>`;
}

const mailboxesListed = 5;

export function incidentsPanel(incidents: readonly Incident[], now: EpochMs, zone: string): Markup {
  const items = incidents.map((incident) => itemOf(incident, now, zone));
  return panel('incidents', headingWith('Incidents', incidents.length), html`<ol class="events">${items}</ol>`);
}

function whereAll({ attribute, value }: Incident['cause']): Markup | '' {
  return attribute === 'ip' || attribute === 'base_url'
    ? ''
    : html`: see <a href="${pathTo('/', { [attribute]: value })}">all mailboxes of this ${attribute}</a>`;
}

function itemOf(incident: Incident, now: EpochMs, zone: string): Markup {
  const { id, severity, members, cause, beganAt } = incident;
  const left = members.length - mailboxesListed;
  return html`<li id="${id}" class="${severity}">
<p class="line">${severityBadge(severity)} <strong>${breakable(incidentTitle(incident, members, zone))}</strong> <span class="muted">${lasting(beganAt, now)}</span></p>
${[...doneTexts(members), incidentAdvice(cause)].map((sentence) => html`<p>${prose(sentence)}</p>`)}
<ul class="plain">${worstFirst(members)
    .slice(0, mailboxesListed)
    .map(
      (one) =>
        html`<li><a href="${mailboxPath({ account: one.account, id: one.mailboxId })}">${text(memberLine(one, zone))}</a></li>`,
    )}</ul>
${left > 0 ? html`<p class="muted">${counted(left, 'more mailbox is', 'more mailboxes are')} in it${whereAll(cause)}.</p>` : ''}
</li>`;
}

/** Banner above every page except the fleet's: facts that make the content outdated or ineffective. */
export function bannerOf({ fleet, world }: Pick<RouteParts, 'fleet' | 'world'>): Markup | string {
  const now = world.clock.now();
  const { storeFailure } = fleet;
  const leads = leadsOf({
    ...{ storeFailure, accounts: [...fleet.accounts()], troubles: notGuardedBy(fleet, now) },
    ...{ writesOff: fleet.writesOff(now), now },
  });
  if (leads.length === 0) return '';
  return html`<div class="banner wrap" id="banner" role="status">${leads.map(
    ({ sentence, advice }) => html`<p><a href="/">${text(sentence)}</a> ${prose(advice)}</p>`,
  )}</div>`;
}
