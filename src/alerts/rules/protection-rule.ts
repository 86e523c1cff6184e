// protection_off: a person took protection away. No route and no silence keeps it back, and it is repeated daily.

import { type Alert, type AlertMatch, noAccount, type Silence, type Subject } from '../../core/alert.ts';
import { type AlertRule, severities } from '../../core/alert-rules.ts';
import { fitsGlob } from '../../core/mailbox-pattern.ts';
import { dayMs, type EpochMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted, firstText, momentText } from '../../core/wording/phrases.ts';
import {
  type EnforcementScope,
  scopeText,
  type WriteScope,
  type WritesOff,
  writesOnCommand,
} from '../../core/write-scope.ts';
import { accountSubject, type Condition, condition } from '../condition.ts';

export function isDisarming({ rule }: { readonly rule: AlertRule }): boolean {
  return rule === 'protection_off';
}

/** Kinds of protection that a person can take away. A kind is the first word of the alert's object. */
type Protection = 'enforcement' | 'account' | 'channels' | 'silence' | 'writes';

/** Returns null for an alert of another rule. */
export function protectionOf({ rule, object }: Pick<Alert, 'rule' | 'object'>): Protection | null {
  return isDisarming({ rule }) ? ((object ?? '').split(' ', 1)[0] as Protection) : null;
}

interface ByWhom {
  /** Person who reloaded, or null if a start found it. */
  readonly by: string | null;
  readonly at: EpochMs;
}

function foundText({ by, at }: ByWhom, zone: string): string {
  return `${by === null ? 'Found at a start' : `Reloaded by ${by}`} on ${momentText(at, zone)}`;
}

function protectionSubject(account: string, object: string | null): Subject {
  return accountSubject('protection_off', account, object);
}

function ended(account: string, object: string | null, title: string, accounts?: readonly string[]): Condition {
  return condition(protectionSubject(account, object), {
    active: false,
    firing: () => [title],
    ...(accounts && { accounts }),
  });
}

// Enforcement that a reload or a restart switched off.

export function enforcementSubject(scope: EnforcementScope): Subject {
  if (scope.kind === 'everything') return protectionSubject(noAccount, 'enforcement');
  return protectionSubject(scope.account, `enforcement ${scope.match}`);
}

/** `by` reloaded the configuration that switched enforcement off. */
export function enforcementOff(scope: EnforcementScope, { by, at }: ByWhom, zone: string): Condition {
  const place =
    scope.kind === 'everything'
      ? 'guard.enforce: false'
      : `enforce: false in the override "${scope.match}" of account ${scope.account}`;
  return condition(enforcementSubject(scope), {
    active: true,
    firing: () => [
      `enforcement is OFF for ${enforcementText(scope)}`,
      `${foundText({ by, at }, zone)}: the configuration now says ${place}.`,
      'Warmwarden does not change these mailboxes by itself. It keeps polling and notifies you of what it would have done.',
      `To switch it on: remove ${place}, then run \`warmwarden reload\`.`,
    ],
    numbers: () => ({ until: null }),
  });
}

/** The configuration no longer has the scope of the alert. */
export function enforcementOver(
  { account, object, facts }: Alert,
  { accounts, isOffForAll }: { readonly accounts: readonly string[]; readonly isOffForAll: boolean },
): Condition {
  if (account !== noAccount && !accounts.includes(account))
    return ended(account, object, `account ${account} is no longer in the configuration`);
  if (isOffForAll) return ended(account, object, 'replaced by another alert: enforcement is OFF for all accounts');
  return ended(account, object, facts.title.replace('is OFF', 'is on again'));
}

function enforcementText(scope: EnforcementScope): string {
  if (scope.kind === 'everything') return 'all accounts';
  return scope.match === '*' ? `account ${scope.account}` : `mailboxes of ${scope.account} that match ${scope.match}`;
}

// Accounts that a reload or a restart removed.

/** The account stays away, so longer reminders are useless. docs/decisions/0009. */
const remindedForMs = 3 * dayMs;

export function accountRemoved(
  { account, mailboxes, by, at }: ByWhom & { readonly account: string; readonly mailboxes: number },
  zone: string,
): Condition {
  const until = at + remindedForMs;
  return condition(protectionSubject(noAccount, `account ${account}`), {
    active: true,
    accounts: [account],
    firing: () => [
      `account ${account} is no longer guarded`,
      `${foundText({ by, at }, zone)}: the account is no longer in the configuration. It had ${counted(mailboxes, 'mailbox', 'mailboxes')}.`,
      'Warmwarden no longer polls the account, does not change its mailboxes, and sends no alerts about it.',
      `If that was not intended: put the account back into the configuration, then run \`warmwarden reload\`. You are reminded daily until ${momentText(until, zone)}.`,
    ],
    numbers: () => ({ removed_account: account, until: new Date(until).toISOString() }),
  });
}

/** Ends alerts about accounts that are back, or of which people were reminded for long enough. */
export function removalsOver(alerts: Iterable<Alert>, accounts: readonly string[], now: EpochMs): readonly Condition[] {
  const back = new Set<string | null>(accounts.map((account) => `account ${account}`));
  const removals = [...alerts].filter((alert) => protectionOf(alert) === 'account');
  return removals.flatMap(({ object, since, facts }) => {
    if (back.has(object)) return [ended(noAccount, object, `${object} is guarded again`, facts.accounts)];
    if (now - since < remindedForMs) return [];
    const last = `${object} is still not guarded, and this is the last reminder`;
    return [ended(noAccount, object, last, facts.accounts)];
  });
}

// Channels that a reload removed.

const channelsNamed = 5;

/** A reload removed every channel except recipes: the page shows it. */
export function channelsRemoved(
  { channels, file, by, at }: ByWhom & { readonly channels: readonly string[]; readonly file: string },
  zone: string,
): Condition {
  return condition(protectionSubject(noAccount, 'channels'), {
    active: true,
    firing: () => [
      'no channel is left that can notify you',
      `${foundText({ by, at }, zone)}: ${file} no longer has the ${channels.length === 1 ? 'channel' : 'channels'} ${firstText(channels, channelsNamed)}.`,
      'Warmwarden keeps guarding the mailboxes, but only the page shows its alerts now.',
      `If that was not intended: put alerts.channels back into ${file}, then run \`warmwarden reload\`.`,
    ],
    numbers: () => ({ until: null }),
  });
}

export function channelsBack(): Condition {
  return ended(noAccount, 'channels', 'Warmwarden can notify you again: the configuration has a channel');
}

// Silences that mute every message.

interface TaggedAccount {
  readonly name: string;
  readonly tags: readonly string[];
}

/** Includes each ended silence that still has an alert. */
export function messagesSilenced(
  silences: readonly Silence[],
  alerts: Iterable<Alert>,
  { accounts, zone }: { readonly accounts: readonly TaggedAccount[]; readonly zone: string },
): readonly Condition[] {
  const wide = silences
    .filter(({ match }) => coversEverything(match, accounts))
    .map(({ id, by, reason, from, until }) =>
      condition(protectionSubject(noAccount, `silence ${id}`), {
        active: true,
        since: from,
        firing: () => [
          `a silence mutes all messages until ${momentText(until, zone)}`,
          sentence(`Added by ${by} on ${momentText(from, zone)}: ${reason}`),
          'Warmwarden keeps guarding, but sends no other message.',
          `To end it now: \`warmwarden silence expire ${id}\`.`,
        ],
        numbers: () => ({ silence: id, until: new Date(until).toISOString() }),
      }),
    );
  const going = new Set(wide.map(({ subject }) => subject.object));
  const over = [...alerts].filter((alert) => protectionOf(alert) === 'silence' && !going.has(alert.object));
  const end = 'the silence that muted all messages is over';
  return [...wide, ...over.map(({ object }) => ended(noAccount, object, end))];
}

/** True if the match covers every alert about a mailbox of these accounts. */
export function coversEverything(match: AlertMatch, accounts: readonly TaggedAccount[]): boolean {
  const all = (globs: readonly string[] | undefined) => globs === undefined || globs.includes('*');
  const fits = (globs: readonly string[] | undefined, words: readonly string[]) =>
    globs === undefined || words.some((word) => globs.some((glob) => fitsGlob(glob, word)));
  const everyAccount = accounts.every(({ name, tags }) => fits(match.account, [name]) && fits(match.tag, tags));
  const everySeverity = severities.every((severity) => match.severity?.includes(severity) ?? true);
  const everyObject = [match.domain, match.mailbox, match.object].every(all) && match.provider === undefined;
  return everyAccount && everySeverity && all(match.rule) && everyObject;
}

// Write stops: one alert per scope. It ends when the stop is removed or has expired.

export type WritesEnd = { readonly by: string; readonly reason: string } | 'expired';

function unchangedText(scope: WriteScope): string {
  if (scope.kind === 'everything') return 'any mailbox';
  return scope.kind === 'account' ? `the mailboxes of account ${scope.account}` : 'this mailbox';
}

/** `end` is null while the stop is on. */
export function writesOffCondition(
  { scope, since, until, by, reason }: WritesOff,
  end: WritesEnd | null,
  zone: string,
): Condition {
  const about = scopeText(scope);
  const account = scope.kind === 'everything' ? noAccount : scope.account;
  const mailbox = scope.kind === 'mailbox' && { mailboxId: scope.mailboxId, email: scope.email };
  const untilText = until === null ? null : momentText(until, zone);
  return condition(
    { ...protectionSubject(account, 'writes'), ...mailbox },
    {
      active: end === null,
      since,
      firing: () => [
        `writes are OFF for ${about}`,
        sentence(`Switched off by ${by} on ${momentText(since, zone)}: ${reason}`),
        `Warmwarden does not change ${unchangedText(scope)}. It keeps polling and notifies you of what it would have done. ${untilText ? `Writes will be on again on ${untilText}.` : 'Writes stay off until a person allows them again.'}`,
        `To allow writes now: \`${writesOnCommand(scope)}\`.`,
      ],
      ended: () => [
        `writes are on again for ${about}`,
        end === 'expired' && `The write stop has expired${untilText ? ` (${untilText})` : ''}.`,
        end && end !== 'expired' && sentence(`Switched on by ${end.by}${end.reason === '' ? '' : `: ${end.reason}`}`),
      ],
      numbers: () => ({ scope: scope.kind, until: until === null ? null : new Date(until).toISOString() }),
    },
  );
}
