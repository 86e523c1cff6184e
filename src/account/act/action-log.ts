// One line of the log about an action: whom it is about, how it stands, and the numbers it rests on.
import type { Action } from '../../core/action.ts';
import type { World } from '../../world/world.ts';

export function logAction(log: World['log'], action: Action, text: string): void {
  const { id, account, email, kind, by, state, attempts, detail } = action;
  const operator = by?.name ?? null;
  const counts = { sent: action.verdict.sent, bounced: action.verdict.bounced, reason: action.verdict.reason };
  log.warn({ account, mailbox: email, action: id, kind, operator, state, attempts, detail, ...counts }, text);
}
