// The mailboxes that the configuration names one by one, and that no mailbox list holds. Pure.
import type { Alert } from '../../core/alert.ts';

interface Named {
  readonly id: string;
  readonly email: string;
}

/** The names that belong to none of these mailboxes: neither an id nor, whatever its case, an address. */
export function unlistedNames(names: readonly string[], mailboxes: readonly Named[]): readonly string[] {
  if (names.length === 0) return [];
  const here = new Set(mailboxes.flatMap(({ id, email }) => [id, email.toLowerCase()]));
  return [...new Set(names)].filter((name) => !here.has(name) && !here.has(name.toLowerCase()));
}

/** The mailboxes that are reported as missing already, because they were listed before. */
export function reportedMissing(alerts: readonly Alert[]): readonly Named[] {
  return alerts.flatMap(({ rule, status, mailboxId: id, email }) =>
    rule === 'mailbox_missing' && status !== 'resolved' && id !== null && email !== null ? [{ id, email }] : [],
  );
}

/** The alerts about names that the configuration no longer has. */
export function noLongerNamed(alerts: readonly Alert[], names: readonly string[]): readonly Alert[] {
  return alerts.filter(
    ({ rule, mailboxId, object }) =>
      rule === 'mailbox_missing' && mailboxId === null && object !== null && !names.includes(object),
  );
}
