// Detection of lost connections in the API's words.
import type { MailboxState } from './mailbox.ts';

/** Words that mean a lost connection wherever they stand in a status. The API documents none besides `active`. */
const lostConnection = /disconnect|connection|reconnect|unauthori|auth_?(error|fail|expired)|credential/;

/** True if a status word means a lost connection. */
export function saysDisconnected(status: string | null): boolean {
  return status !== null && lostConnection.test(status.toLowerCase());
}

/**
 * True if the newest list entry or the newest details report a lost connection. Such a mailbox neither sends nor
 * receives.
 */
export function isDisconnected({ entry, detail }: Pick<MailboxState, 'entry' | 'detail'>): boolean {
  if (saysDisconnected(entry.answer.status)) return true;
  return detail !== null && (detail.answer.connection === 'error' || saysDisconnected(detail.answer.status));
}
