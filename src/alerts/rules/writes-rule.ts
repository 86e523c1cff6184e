// writes_off: the emergency stop is on. One alert a scope; it ends when the stop is taken away or has expired.
import { noAccount, type Subject } from '../../core/alert.ts';
import { sentence } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { scopeText, type WriteScope, type WritesOff, writesOnCommand } from '../../core/write-scope.ts';
import { atOnce, type Condition, type MailboxContext, pageLink } from '../condition.ts';

/** How a stop ended: a person took it away, or its time was over. */
export type WritesEnd = { readonly by: string; readonly reason: string } | 'expired';

function writesSubject(scope: WriteScope): Subject {
  return {
    rule: 'writes_off',
    account: scope.kind === 'everything' ? noAccount : scope.account,
    mailboxId: scope.kind === 'mailbox' ? scope.mailboxId : null,
    email: scope.kind === 'mailbox' ? scope.email : null,
    object: null,
  };
}

/** `end`: null while it is on. */
export function writesOffCondition(
  off: WritesOff,
  end: WritesEnd | null,
  { pageUrl, command, rules: { timeZone } }: Pick<MailboxContext, 'pageUrl' | 'command' | 'rules'>,
): Condition {
  const { scope, since, until } = off;
  const about = scopeText(scope);
  const link = scope.kind === 'mailbox' ? pageLink(pageUrl, scope.account, scope.mailboxId) : {};
  return {
    subject: writesSubject(scope),
    severity: 'warning',
    active: end === null,
    ...atOnce,
    since,
    facts: {
      title: end === null ? `writes are OFF for ${about}` : `writes are on again for ${about}`,
      sentences: end === null ? onSentences(off, command, timeZone) : [endSentence(off, end, timeZone)],
      numbers: { scope: scope.kind, until: until === null ? null : new Date(until).toISOString(), ...link },
    },
  };
}

function onSentences(off: WritesOff, command: string, zone: string): readonly string[] {
  const { scope, since, until, by, reason } = off;
  const end =
    until === null
      ? 'Writes stay off until a person allows them again.'
      : `Writes will be on again on ${momentText(until, zone)}.`;
  return [
    sentence(`Switched off by ${by} on ${momentText(since, zone)}: ${reason}`),
    `${unchangedText(scope)} It keeps polling and notifies you of what it would have done. ${end}`,
    `To allow writes now: \`${writesOnCommand(scope, command)}\`.`,
  ];
}

function unchangedText(scope: WriteScope): string {
  switch (scope.kind) {
    case 'everything':
      return 'Warmwarden does not change any mailbox.';
    case 'account':
      return `Warmwarden does not change the mailboxes of account ${scope.account}.`;
    case 'mailbox':
      return 'Warmwarden does not change this mailbox.';
  }
}

function endSentence({ until }: WritesOff, end: WritesEnd, zone: string): string {
  if (end === 'expired')
    return `The emergency stop has expired${until === null ? '' : ` (${momentText(until, zone)})`}.`;
  return sentence(`Switched on by ${end.by}${end.reason === '' ? '' : `: ${end.reason}`}`);
}
