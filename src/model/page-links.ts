// Where things are on the page, as paths: the one place that the page and the links in messages share. A path with `do`
// opens what it names with a command prepared; opening it changes nothing.
import type { AlertMatch } from './alert.ts';

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
