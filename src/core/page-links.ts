// Paths of the page, shared by the page and the links in messages. A path with `do` opens its subject with a prepared
// command; opening it changes nothing.
import { type Alert, type AlertMatch, isCause, noAccount } from './alert.ts';

export function mailboxPath({ account, id }: { readonly account: string; readonly id: string }): string {
  return `/mailboxes/${encodeURIComponent(account)}/${encodeURIComponent(id)}`;
}

/** A mailbox with the command to resume its warm-up prepared. */
export function resumePath(mailbox: { readonly account: string; readonly id: string }): string {
  return `${mailboxPath(mailbox)}?do=resume`;
}

/** The silences with a new one prepared. `lasts`: a duration as the command line takes it, such as `4h`. */
export function silencePath(match: Omit<AlertMatch, 'severity'>, lasts: string): string {
  const wanted = Object.entries(match).flatMap(([name, globs]) =>
    (globs ?? []).map((glob): [string, string] => [name, glob]),
  );
  return `/silences?${new URLSearchParams([...wanted, ['for', lasts], ['do', 'add']])}`;
}

type Silenced = Pick<Alert, 'rule' | 'account' | 'email' | 'mailboxId' | 'object'>;

/** Path of a prepared silence of this very alert: of its mailbox and cause, or of its domain, IP address or channel. */
export function alertSilencePath(alert: Silenced, lasts: string): string {
  const { rule, account, email, mailboxId } = alert;
  const mailbox = email ?? mailboxId;
  const ofMailbox = { mailbox: [mailbox ?? ''], ...(isCause(alert) && objectsMatch([alert])) };
  const named = mailbox === null ? objectsMatch([alert]) : ofMailbox;
  return silencePath({ rule: [rule], ...accountMatch(account), ...named }, lasts);
}

/** Path of a prepared silence of alerts of one rule and account, by their objects; of mailboxes by their causes alone. */
export function groupSilencePath(alerts: readonly [Silenced, ...Silenced[]], lasts: string): string {
  const [{ rule, account }] = alerts;
  const isOfMailboxes = alerts.some(({ mailboxId }) => mailboxId !== null);
  const objects = isOfMailboxes && !alerts.every(isCause) ? {} : objectsMatch(alerts);
  return silencePath({ rule: [rule], ...accountMatch(account), ...objects }, lasts);
}

function accountMatch(account: string): AlertMatch {
  return account === noAccount ? {} : { account: [account] };
}

/** The form of the page separates globs by spaces and commas: inside of one, ? takes their place. */
function objectsMatch(alerts: readonly Silenced[]): AlertMatch {
  const objects = alerts.flatMap(({ object }) => object ?? []);
  if (objects.length < alerts.length) return {};
  return { object: [...new Set(objects)].map((object) => object.replace(/[\s,]/g, '?')) };
}

/** A mailbox with a command prepared; `given` are what the command takes, such as `mode`. */
export function mailboxCommandPath(
  mailbox: { readonly account: string; readonly id: string },
  command: 'pause' | 'resume' | 'mode' | 'limit' | 'contest-release',
  given: Readonly<Record<string, string>> = {},
): string {
  return `${mailboxPath(mailbox)}?${new URLSearchParams({ ...given, do: command })}`;
}

/** The emergency stop with its beginning or its end prepared: of everything, of an account, or of a mailbox by name. */
export function writesPath(off: boolean, scope: { readonly account?: string; readonly mailbox?: string } = {}): string {
  return `/writes?${new URLSearchParams({ ...scope, do: off ? 'off' : 'on' })}`;
}

/** Path of the prepared end of a silence. */
export function silenceExpirePath(id: string): string {
  return `/silences?${new URLSearchParams({ id, do: 'expire' })}`;
}

/** Path of the prepared resend of undelivered messages: all of a channel, or one. */
export function resendPath(which: { readonly channel?: string; readonly delivery?: string }): string {
  return `/deliveries?${new URLSearchParams({ ...which, do: 'resend' })}`;
}

export const breakerReleasePath = '/breaker?do=release';
/** `since`: a duration, such as `1h`. */
export const undoPath = '/activity?since=1h&do=undo';
