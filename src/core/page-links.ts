// Paths of the page. A path with `do` prepares a command; opening it changes nothing.
import { type Alert, type AlertMatch, alertId, isCause, noAccount } from './alert.ts';
import { mailboxKey } from './mailbox.ts';

export function mailboxPath({ account, id }: { readonly account: string; readonly id: string }): string {
  return `/mailboxes/${encodeURIComponent(account)}/${encodeURIComponent(id)}`;
}

/** `lasts`: a duration such as `4h`. */
export function silencePath(match: Omit<AlertMatch, 'severity'>, lasts: string): string {
  const wanted = Object.entries(match).flatMap(([name, globs]) =>
    (globs ?? []).map((glob): [string, string] => [name, glob]),
  );
  return `/silences?${new URLSearchParams([...wanted, ['for', lasts], ['do', 'add']])}`;
}

type Silenced = Pick<Alert, 'rule' | 'account' | 'email' | 'mailboxId' | 'object'>;

export function alertSilencePath(alert: Silenced, lasts: string): string {
  const mailbox = alert.email ?? alert.mailboxId;
  return groupSilencePath([alert], lasts, mailbox === null ? {} : { mailbox: [mailbox] });
}

/** Prepares a silence of one rule and account, by objects; for mailboxes by causes alone. */
export function groupSilencePath(
  alerts: readonly [Silenced, ...Silenced[]],
  lasts: string,
  mailbox: Pick<AlertMatch, 'mailbox'> = {},
): string {
  const [{ rule, account }] = alerts;
  const isOfMailboxes = 'mailbox' in mailbox || alerts.some(({ mailboxId }) => mailboxId !== null);
  const objects = isOfMailboxes && !alerts.every(isCause) ? {} : objectsMatch(alerts);
  const ofAccount = account === noAccount ? {} : { account: [account] };
  return silencePath({ rule: [rule], ...ofAccount, ...mailbox, ...objects }, lasts);
}

/** The page's form splits globs at spaces and commas, which ? replaces. */
function objectsMatch(alerts: readonly Silenced[]): AlertMatch {
  const objects = alerts.flatMap(({ object }) => object ?? []);
  if (objects.length < alerts.length) return {};
  return { object: [...new Set(objects)].map((object) => object.replace(/[\s,]/g, '?')) };
}

export function mailboxCommandPath(
  mailbox: { readonly account: string; readonly id: string },
  command: 'pause' | 'resume' | 'mode' | 'limit' | 'set' | 'contest-end',
): string {
  const key = mailboxKey(mailbox.account, mailbox.id);
  return `/mailboxes?${new URLSearchParams({ mailbox: key, do: command })}`;
}

export function writesPath(to: 'on' | 'off', scope: { account?: string; mailbox?: string } = {}): string {
  return `/writes?${new URLSearchParams({ ...scope, do: to })}`;
}

export function acknowledgePath(alert: Pick<Alert, 'fingerprint' | 'firingAt'>): string {
  return `/alerts?${new URLSearchParams({ alert: alertId(alert), do: 'acknowledge' })}`;
}

/** Page of the alerts of a rule and account, each with its commands. */
export function alertsPath(rule: string, account: string): string {
  return `/alerts?${new URLSearchParams({ rule, account })}`;
}

export function silenceExpirePath(id: string): string {
  return `/silences?${new URLSearchParams({ id, do: 'expire' })}`;
}

export function resendPath(which: { readonly channel?: string; readonly delivery?: string }): string {
  return `/deliveries?${new URLSearchParams({ ...which, do: 'resend' })}`;
}

/** `api`: the API whose held actions the page is about. */
export function breakerPath(end: 'apply' | 'discard', api: string): string {
  return `/breaker?${new URLSearchParams({ api, do: end })}`;
}
export const undoPath = '/activity?since=1h&do=undo';
