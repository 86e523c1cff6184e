// Links that prepare commands, and the selection of mailboxes. Only operators see them.

import { html } from 'hono/html';
import { mayAcknowledge } from '../../../alerts/routing.ts';
import { isDisarming, protectionOf } from '../../../alerts/rules/protection-rule.ts';
import { type Alert, noAccount, type Silence } from '../../../core/alert.ts';
import { mailboxKey } from '../../../core/mailbox.ts';
import {
  acknowledgePath,
  alertSilencePath,
  breakerPath,
  mailboxCommandPath,
  silenceExpirePath,
  silencePath,
  undoPath,
  writesPath,
} from '../../../core/page-links.ts';
import type { WriteScope } from '../../../core/write-scope.ts';
import type { Markup } from './elements.ts';

const silenceLasts = '4h';
const stopsOffered = 3;

/** Link that prepares a command. Elements with `class="do"` are hidden from viewers. */
export function doLink(path: string, label: string): Markup {
  return html`<a class="do" href="${path}">${label}</a>`;
}

/** Removes the elements with the class `do` from a page or a part of it, for readers who may not operate. */
export function withoutCommands(markup: string): string {
  return markup.replace(/<(a|form|nav) class="do\b[^>]*>.*?<\/\1>|<input class="do"[^>]*>/gs, '');
}

export const endStop = 'Switch writes on again';

/** Path of the page that prepares the end of exactly this stop. */
export function writesOnPath(scope: WriteScope): string {
  switch (scope.kind) {
    case 'everything':
      return writesPath('on');
    case 'account':
      return writesPath('on', { account: scope.account });
    case 'mailbox':
      return writesPath('on', { mailbox: mailboxKey(scope.account, scope.mailboxId) });
  }
}

export function alertCommands(alert: Alert, silence: Silence | null): Markup {
  const { rule, account, mailboxId } = alert;
  const scope = mailboxId === null ? { account } : { mailbox: mailboxKey(account, mailboxId) };
  const remedy =
    protectionOf(alert) === 'writes'
      ? doLink(writesPath('on', account === noAccount ? {} : scope), endStop)
      : rule === 'guard_held'
        ? html`${heldLinks(alert)} ${stopLinks(alert)}`
        : '';
  const silencing = silence
    ? doLink(silenceExpirePath(silence.id), 'Expire the silence')
    : doLink(alertSilencePath(alert, silenceLasts), 'Silence 4 h');
  const acknowledge = mayAcknowledge(alert) ? doLink(acknowledgePath(alert), 'Acknowledge') : '';
  return html`<p class="line">${remedy} ${acknowledge} ${isDisarming(alert) ? '' : silencing}</p>`;
}

/** Links that carry out or drop what the circuit breaker holds, each with its effect. */
export function heldLinks({ object, facts: { numbers } }: Alert): Markup {
  const [held, pauses] = [Number(numbers['held'] ?? 0), Number(numbers['pauses'] ?? 0)];
  const all = held === 1 ? 'the held mailbox' : `all ${held} held mailboxes`;
  const effect = pauses === held ? `Pause ${all}` : pauses === 0 ? `Switch ${all} to recovery mode` : `Act on ${all}`;
  return html`${doLink(breakerPath('apply', object ?? ''), `${effect} now`)} ${doLink(breakerPath('discard', object ?? ''), `Wrong data: drop ${held === 1 ? 'the held action' : `all ${held} held actions`}`)}`;
}

function stopLinks({ facts: { accounts = [], numbers } }: Alert): readonly Markup[] {
  if (numbers['acts_from'] === undefined) return [];
  if (accounts.length > stopsOffered) return [doLink(writesPath('off'), 'Switch writes off')];
  return accounts.map((account) => doLink(writesPath('off', { account }), `Writes off: ${account}`));
}

export function ruleCommands(alert: Alert): Markup | '' {
  if (isDisarming(alert)) return '';
  return html`<p class="line">${doLink(silencePath({ rule: [alert.rule] }, silenceLasts), 'Silence this rule for 4 h')}</p>`;
}

/** Checkbox that selects a mailbox for `selectionBar`. The selection stays while the table changes. */
export function selectBox(mailbox: { readonly account: string; readonly id: string }, label: string): Markup {
  const key = mailboxKey(mailbox.account, mailbox.id);
  return html`<input class="do" type="checkbox" form="selection" name="mailbox" value="${key}" aria-label="Select ${label}">`;
}

export const undoLink = doLink(undoPath, 'Undo actions of the last hour');
export const addSilenceLink = doLink(silencePath({}, silenceLasts), 'Add a silence');

export function writeStopLink(isStopped: boolean): Markup {
  return isStopped ? doLink(writesPath('on'), endStop) : doLink(writesPath('off'), 'Switch writes off');
}

export function mailboxLinks(mailbox: { readonly account: string; readonly id: string }): readonly Markup[] {
  const { account, id } = mailbox;
  return [
    doLink(mailboxCommandPath(mailbox, 'pause'), 'Pause'),
    doLink(mailboxCommandPath(mailbox, 'resume'), 'Resume'),
    doLink(mailboxCommandPath(mailbox, 'mode'), 'Set the mode'),
    doLink(mailboxCommandPath(mailbox, 'limit'), 'Set the daily limit'),
    doLink(mailboxCommandPath(mailbox, 'set'), 'Other settings'),
    doLink(silencePath({ account: [account], mailbox: [id] }, silenceLasts), 'Silence 4 h'),
    doLink(writesPath('off', { mailbox: mailboxKey(account, id) }), 'Switch its guard off'),
  ];
}

/** Commands for the selected mailboxes, at the end of the fleet. Without a script it is a plain form. */
export function selectionBar(): Markup {
  const button = (command: string, label: string) =>
    html`<button type="submit" name="do" value="${command}">${label}</button>`;
  return html`<form class="do selection" id="selection" method="get" action="/mailboxes" aria-label="Commands for the selected mailboxes"><span>Selected mailboxes:</span>
${button('pause', 'Pause')} ${button('resume', 'Resume')} ${button('mode', 'Set the mode')} ${button('limit', 'Set the daily limit')}</form>`;
}
