// List entries of the pages: actions, messages to channels, alerts.

import { html } from 'hono/html';
import { type KnownFleet, silenceOf } from '../../../alerts/routing.ts';
import {
  type Action,
  type ActionKind,
  type ActionState,
  alreadySo,
  neededNoChange,
  type Person,
  settingsText,
} from '../../../core/action.ts';
import type { Alert, Silence } from '../../../core/alert.ts';
import { ruleBook } from '../../../core/alert-rules.ts';
import { type ListedDelivery, publicState } from '../../../core/delivery.ts';
import { mailboxPath, resendPath } from '../../../core/page-links.ts';
import type { EpochMs } from '../../../core/time.ts';
import { explainVerdict, sentence } from '../../../core/wording/explain.ts';
import { counted } from '../../../core/wording/phrases.ts';
import type { AlertFilter, AlertGroup } from '../../overview/alerts.ts';
import { alertCommands, doLink, ruleCommands } from './command-links.ts';
import { ago, breakable, lasting, type Markup, moment, pathTo, prose, severityBadge, text } from './elements.ts';

interface ActionItemParts {
  readonly action: Action;
  readonly now: EpochMs;
  readonly link: boolean;
}

const kindWords: Readonly<Record<ActionKind, { readonly wanted: string; readonly done: string }>> = {
  recovery: { wanted: 'Switch to recovery', done: 'Switched to recovery' },
  pause: { wanted: 'Pause warm-up', done: 'Paused warm-up' },
  restore: { wanted: 'Restore', done: 'Restored' },
  resume: { wanted: 'Resume warm-up', done: 'Resumed warm-up' },
  mode: { wanted: 'Set the mode', done: 'Mode set' },
  limit: { wanted: 'Set the target daily limit', done: 'Target daily limit set' },
  set: { wanted: 'Set', done: 'Set' },
};

const stateWords: Readonly<Record<ActionState, { readonly word: string; readonly tone: string }>> = {
  planned: { word: 'planned', tone: 'waiting' },
  open: { word: 'in progress', tone: 'waiting' },
  confirmed: { word: 'confirmed', tone: 'confirmed' },
  refused: { word: 'refused', tone: 'critical' },
  unconfirmed: { word: 'not confirmed', tone: 'critical' },
  dropped: { word: 'dropped', tone: 'info' },
};
const noChange = { word: alreadySo, tone: 'none' };

function askedFor({ name, reason }: Person): string {
  return reason === '' ? `${name} requested it.` : `${name} requested it: ${reason}`;
}

export function actionItem({ action, now, link }: ActionItemParts): Markup {
  const { word, tone } = neededNoChange(action) ? noChange : stateWords[action.state];
  const { targetLimit, targetSettings } = action;
  const limit = targetLimit === undefined ? '' : ` to ${counted(targetLimit, 'email')}`;
  const target = targetSettings ? ` ${settingsText(targetSettings)}` : limit;
  const what = kindWords[action.kind][action.state === 'confirmed' ? 'done' : 'wanted'] + target;
  const path = mailboxPath({ account: action.account, id: action.mailboxId });
  return html`<li id="action-${action.id}" class="${tone}">
<p class="line"><span class="badge ${tone}">${word}</span> <strong>${what}</strong>
${link ? html`<a href="${path}">${breakable(action.email)}</a>` : ''} <span class="muted">${ago(action.settledAt ?? action.plannedAt, now)}</span></p>
<p>${prose(action.by ? askedFor(action.by) : explainVerdict(action.verdict))}</p>
${action.causes.map((cause) => html`<p class="muted">${prose(cause)}</p>`)}
${action.detail === null || action.detail === word ? '' : html`<p class="muted">${prose(sentence(action.detail))}</p>`}
${action.nextTryAt === null ? '' : html`<p class="muted">Next try ${ago(action.nextTryAt, now)}.</p>`}
</li>`;
}

// List entry of a message to a channel: its state, and the response to the last attempt.

const deliveryWords: Readonly<
  Record<ReturnType<typeof publicState>, { readonly word: string; readonly tone: string }>
> = {
  pending: { word: 'waiting', tone: 'waiting' },
  sent: { word: 'sent', tone: 'confirmed' },
  undelivered: { word: 'undelivered', tone: 'critical' },
};

export function deliveryItem(delivery: ListedDelivery, now: EpochMs): Markup {
  const { word, tone } = deliveryWords[publicState(delivery)];
  return html`<li id="delivery-${delivery.id}"><p class="line"><span class="badge ${tone}">${word}</span> ${text(delivery.title)}${publicState(delivery) === 'undelivered' ? doLink(resendPath({ delivery: delivery.id }), 'Send again') : ''}</p>
<p class="muted">${text(delivery.channel)}, ${ago(delivery.settledAt ?? delivery.createdAt, now)}${delivery.detail ? `: ${text(delivery.detail)}` : ''}</p></li>`;
}

// List entry of an alert: severity, subject, beginning, advice.

interface ListContext {
  readonly now: EpochMs;
  readonly silences: readonly Silence[];
  readonly fleet: KnownFleet;
}

/** `isBrief`: the title alone, because the page already says what to do, with its links. */
export function alertItem(alert: Alert, { now, silences, fleet }: ListContext, isBrief = false): Markup {
  const silence = silenceOf(alert, silences, fleet);
  return html`<li id="alert-${alert.fingerprint}" class="${alert.severity}">
<p class="line">${severityBadge(alert.severity)} <strong>${alertTitle(alert)}</strong> <span class="muted">${lasting(alert.since, now)}</span> ${silence ? html`<span class="badge none">silenced</span> <span class="muted">until ${moment(silence.until)} by ${text(silence.by)}</span>` : ''} ${runbookLink(alert)}</p>
${!isBrief && alert.facts.sentences.map((sentence) => html`<p>${prose(sentence)}</p>`)}
${acknowledgedLine(alert)}
${silence ? html`<p class="muted">Silenced because: ${text(silence.reason)}</p>` : ''}
${alert.status === 'firing' && !isBrief ? alertCommands(alert, silence) : ''}</li>`;
}

export function acknowledgedLine({ acknowledged }: Alert): Markup | '' {
  if (!acknowledged) return '';
  const { by, reason, at } = acknowledged;
  return html`<p class="muted"><span class="badge none">acknowledged</span> ${moment(at)} by ${text(by)}${reason && html`: ${text(reason)}`}</p>`;
}

/** Entry of a group of alerts of one rule, with a link to the list with each alert. */
export function alertGroupItem(
  { first, others, count }: AlertGroup,
  filter: AlertFilter,
  context: ListContext,
): Markup {
  if (count === 1) return alertItem(first, context);
  const { rule, severity } = first;
  const path = pathTo('/alerts', { ...filter, severity, rule });
  const left = count - others.length - 1;
  return html`<li id="alerts-${severity}-${rule}" class="${severity}">
<p class="line">${severityBadge(severity)} <strong><a href="${path}">${counted(count, 'alert')}: ${ruleBook[rule].name}</a></strong> ${runbookLink(first)}</p>
<ul class="plain">${[first, ...others].map((alert) => html`<li>${alertTitle(alert)}</li>`)}</ul>
<p class="muted"><a href="${path}">${counted(left, 'more is', 'more are')} firing</a>.</p>
${ruleCommands(first)}</li>`;
}

export function alertTitle(alert: Alert): Markup {
  const title = breakable(alert.facts.title);
  if (alert.rule === 'guard_held') return html`<a href="${pathTo('/', { state: 'held' })}">${title}</a>`;
  if (alert.mailboxId === null) return html`${title}`;
  return html`<a href="${mailboxPath({ account: alert.account, id: alert.mailboxId })}">${title}</a>`;
}

export function runbookLink({ rule }: Pick<Alert, 'rule'>): Markup {
  return html`<a class="runbook" href="/runbooks#${rule}" aria-label="Runbook of ${rule}">${rule}</a>`;
}
