// protection_off: a person took protection away, such as the emergency stop, enforcement, an account, every channel, or
// every message by a silence. All people are notified: no route and no silence keeps it back, and it is repeated daily.

import { type Alert, type AlertMatch, noAccount, type Silence, type Subject, severities } from '../../core/alert.ts';
import type { AlertRule } from '../../core/alert-rules.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import { dayMs, type EpochMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted, firstText, momentText } from '../../core/wording/phrases.ts';
import {
  scopeText as stopScopeText,
  type WriteScope,
  type WritesOff,
  writesOnCommand,
} from '../../core/write-scope.ts';
import { atOnce, type Condition, type MailboxContext, pageLink } from '../condition.ts';

/** Returns true for an alert about protection that was taken away. */
export function isDisarming({ rule }: { readonly rule: AlertRule }): boolean {
  return rule === 'protection_off';
}

/** Place of `enforce: false` in the configuration. */
export type EnforcementScope =
  | { readonly kind: 'everything' }
  | { readonly kind: 'override'; readonly account: string; readonly match: string };

interface ProtectionWords {
  readonly command: string;
  readonly zone: string;
}

export function enforcementSubject(scope: EnforcementScope): Subject {
  const everything = scope.kind === 'everything';
  return subjectOf(everything ? noAccount : scope.account, everything ? 'enforcement' : `enforcement ${scope.match}`);
}

/** Returns the condition. `by` reloaded the configuration that switched enforcement off. */
export function enforcementOff(
  scope: EnforcementScope,
  { by, at }: { readonly by: string; readonly at: EpochMs },
  { command, zone }: ProtectionWords,
): Condition {
  const sentences = [
    `Reloaded by ${by} on ${momentText(at, zone)}: the configuration now says guard.enforce: false.`,
    'Warmwarden does not change these mailboxes by itself. It keeps polling and notifies you of what it would have done. Enforcement stays off until the configuration says guard.enforce: true.',
    `To switch it on: write guard.enforce: true, then run \`${command} reload\`.`,
  ];
  const facts = { title: `enforcement is OFF for ${scopeText(scope)}`, sentences, numbers: { until: null } };
  return { subject: enforcementSubject(scope), severity: 'warning', active: true, ...atOnce, facts };
}

/** Returns true for an alert about enforcement that is off. */
export function isEnforcementAlert({ rule, object }: Alert): boolean {
  return rule === 'protection_off' && object !== null && /^enforcement( |$)/.test(object);
}

/** Ends an alert about enforcement that is off. */
export function enforcementOn({ account, object, facts }: Alert): Condition {
  const about = { title: facts.title.replace('is OFF', 'is on again'), sentences: [], numbers: {} };
  return { subject: subjectOf(account, object), severity: 'warning', active: false, ...atOnce, facts: about };
}

function scopeText(scope: EnforcementScope): string {
  if (scope.kind === 'everything') return 'all accounts';
  return scope.match === '*' ? `account ${scope.account}` : `mailboxes of ${scope.account} that match ${scope.match}`;
}

interface Removal {
  readonly account: string;
  readonly mailboxes: number;
  readonly by: string;
  readonly at: EpochMs;
}

const removalMark = 'account ';
/** Time of reminders about a removed account. It stays away, so longer reminders are useless. docs/decisions/0009. */
const remindedForMs = 3 * dayMs;

/** Returns the condition of an account that a reload removed. */
export function accountRemoved({ account, mailboxes, by, at }: Removal, { command, zone }: ProtectionWords): Condition {
  const until = at + remindedForMs;
  const sentences = [
    `Reloaded by ${by} on ${momentText(at, zone)}: the account is no longer in the configuration. It had ${counted(mailboxes, 'mailbox', 'mailboxes')}.`,
    'Warmwarden no longer polls the account, does not change its mailboxes, and sends no alerts about it.',
    `If that was not intended: put the account back into the configuration, then run \`${command} reload\`. Otherwise you are reminded daily until ${momentText(until, zone)}.`,
  ];
  const numbers = { removed_account: account, until: new Date(until).toISOString() };
  const facts = { title: `account ${account} is no longer guarded`, sentences, numbers };
  return { subject: subjectOf(noAccount, removalOf(account)), severity: 'warning', active: true, ...atOnce, facts };
}

/** Returns true for an alert about a removed account. */
export function isRemoval({ rule, object }: Alert): boolean {
  return rule === 'protection_off' && object?.startsWith(removalMark) === true;
}

/** Ends alerts about removed accounts that are back, or of which people were reminded for long enough. */
export function removalsOver(alerts: Iterable<Alert>, accounts: readonly string[], now: EpochMs): readonly Condition[] {
  const back = new Set(accounts.map(removalOf));
  return [...alerts].filter(isRemoval).flatMap(({ object, since, facts }) => {
    const isBack = back.has(object ?? '');
    if (!isBack && now - since < remindedForMs) return [];
    const title = isBack
      ? `${object} is guarded again`
      : `${object} is still not guarded, and this is the last reminder`;
    const about = { title, sentences: [], numbers: facts.numbers };
    const subject = subjectOf(noAccount, object);
    return [{ subject, severity: 'warning', active: false, ...atOnce, facts: about }];
  });
}

function removalOf(account: string): string {
  return `${removalMark}${account}`;
}

interface ChannelsRemoval {
  /** Names of the removed channels. */
  readonly channels: readonly string[];
  /** Configuration file that no longer contains the channels. */
  readonly file: string;
  readonly by: string;
  readonly at: EpochMs;
}

/** Maximum channels that a message names. */
const channelsNamed = 5;
const channelsSubject = subjectOf(noAccount, 'channels');

/**
 * Returns the condition for a reload that removed every channel except recipes. The removed channels get it as their
 * last message.
 */
export function channelsRemoved(
  { channels, file, by, at }: ChannelsRemoval,
  { command, zone }: ProtectionWords,
): Condition {
  const sentences = [
    `Reloaded by ${by} on ${momentText(at, zone)}: ${file} no longer has the ${channels.length === 1 ? 'channel' : 'channels'} ${firstText(channels, channelsNamed)}.`,
    'Warmwarden keeps guarding the mailboxes, but it can no longer notify you: this is the last message that it sends.',
    `If that was not intended: put alerts.channels back into ${file}, then run \`${command} reload\`.`,
  ];
  const title = 'no channel is left that can notify you';
  const facts = { title, sentences, numbers: { until: null } };
  return { subject: channelsSubject, severity: 'warning', active: true, ...atOnce, facts };
}

/** Ends the alert about removed channels. */
export function channelsBack(): Condition {
  const facts = {
    title: 'Warmwarden can notify you again: the configuration has a channel',
    sentences: [],
    numbers: {},
  };
  return { subject: channelsSubject, severity: 'warning', active: false, ...atOnce, facts };
}

/** Returns true for an alert about removed channels. */
export function isOfChannels({ rule, object }: Alert): boolean {
  return rule === 'protection_off' && object === channelsSubject.object;
}

/** Returns a condition for each silence that covers everything, and for each ended silence that still has an alert. */
export function messagesSilenced(
  silences: readonly Silence[],
  alerts: Iterable<Alert>,
  { accounts, ...words }: ProtectionWords & { readonly accounts: readonly string[] },
): readonly Condition[] {
  const wide = silences.filter(({ match }) => coversEverything(match, accounts));
  const objects = new Set(wide.map(({ id }) => silenceObject(id)));
  const over = [...alerts].filter(
    ({ rule, object }) => rule === 'protection_off' && object?.startsWith(silenceMark) && !objects.has(object),
  );
  return [...wide.map((silence) => silenced(silence, words)), ...over.map(({ object }) => silenceOver(object))];
}

/** Returns true if a match lets no alert about a mailbox of these accounts through. */
export function coversEverything(match: AlertMatch, accounts: readonly string[]): boolean {
  const all = (globs: readonly string[] | undefined) => globs === undefined || globs.includes('*');
  const everyAccount =
    all(match.account) || accounts.every((name) => match.account?.some((glob) => fitsGlob(glob, name)));
  const everySeverity = severities.every((severity) => match.severity?.includes(severity) ?? true);
  const everyObject = all(match.domain) && all(match.mailbox) && all(match.object);
  return everyAccount && everySeverity && all(match.rule) && everyObject;
}

const silenceMark = 'silence ';
const silenceObject = (id: string) => `${silenceMark}${id}`;

function silenced({ id, by, reason, from, until }: Silence, { command, zone }: ProtectionWords): Condition {
  return {
    subject: subjectOf(noAccount, silenceObject(id)),
    severity: 'warning',
    active: true,
    ...atOnce,
    since: from,
    facts: {
      title: `a silence mutes all messages until ${momentText(until, zone)}`,
      sentences: [
        sentence(`Added by ${by} on ${momentText(from, zone)}: ${reason}`),
        'Warmwarden keeps guarding, but sends no other message.',
        `To end it now: \`${command} silence expire ${id}\`.`,
      ],
      numbers: { silence: id, until: new Date(until).toISOString() },
    },
  };
}

function silenceOver(object: string | null): Condition {
  const facts = { title: 'the silence that muted all messages is over', sentences: [], numbers: {} };
  return { subject: subjectOf(noAccount, object), severity: 'warning', active: false, ...atOnce, facts };
}

function subjectOf(account: string, object: string | null): Subject {
  return { rule: 'protection_off', account, mailboxId: null, email: null, object };
}

// Rule for the emergency stop: one alert per scope. It ends when the stop is removed or has expired.

const stopObject = 'writes';

/** Returns true for an alert about the emergency stop. */
export function isStop({ rule, object }: Alert): boolean {
  return rule === 'protection_off' && object === stopObject;
}

/** End of a stop: a person removed it, or it expired. */
export type WritesEnd = { readonly by: string; readonly reason: string } | 'expired';

function stopSubject(scope: WriteScope): Subject {
  return {
    rule: 'protection_off',
    account: scope.kind === 'everything' ? noAccount : scope.account,
    mailboxId: scope.kind === 'mailbox' ? scope.mailboxId : null,
    email: scope.kind === 'mailbox' ? scope.email : null,
    object: stopObject,
  };
}

/** Returns the condition of a stop. `end` is null while the stop is on. */
export function writesOffCondition(
  off: WritesOff,
  end: WritesEnd | null,
  { pageUrl, command, rules: { timeZone } }: Pick<MailboxContext, 'pageUrl' | 'command' | 'rules'>,
): Condition {
  const { scope, since, until } = off;
  const about = stopScopeText(scope);
  const link = scope.kind === 'mailbox' ? pageLink(pageUrl, scope.account, scope.mailboxId) : {};
  return {
    subject: stopSubject(scope),
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
