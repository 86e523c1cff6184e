// guard_acted for a request that took effect late. An event of its own, announced once.
import type { Action } from '../../core/action.ts';
import type { Transition } from '../../core/alert.ts';
import { type MailboxState, typedName } from '../../core/mailbox.ts';
import { actionNoun } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { eventOf, type MailboxContext, pageLink, subjectOf } from '../condition.ts';

/**
 * Late request, the newer change that it undid (or null if none), and the action that sends that change again (or null
 * if none).
 */
export interface LateRequest {
  readonly post: Action;
  readonly undid: Action | null;
  readonly repeat: Action | null;
}

/**
 * Returns the event, or null if its rule is switched off. `before` is the mailbox in the last look before the request
 * took effect.
 */
export function lateRequestEvent(
  { post, undid, repeat }: LateRequest,
  before: MailboxState,
  { now, pageUrl, rules, command }: Pick<MailboxContext, 'now' | 'pageUrl' | 'rules' | 'command'>,
): Transition | null {
  if (!rules.of.guard_acted.enabled) return null;
  const time = (at: number) => momentText(at, rules.timeZone);
  const sentAt = post.openedAt ?? post.plannedAt;
  const name = typedName(before);
  const facts = {
    title: `${before.email}: a delayed request of Warmwarden took effect`,
    sentences: [
      `The Warmwarden process that requested ${actionNoun(post)} at ${time(sentAt)} stopped in the middle of it, and another process took over. The mailbox API carried the request out late, between ${time(before.warmup?.at ?? sentAt)} and ${time(now)}.`,
      consequence(undid, repeat),
      `Check the mailbox: \`${command} explain ${name}\`.`,
    ],
    numbers: { action: post.kind, outcome: 'late', ...pageLink(pageUrl, before.account, before.id) },
  };
  const subject = { ...subjectOf('guard_acted', before), object: `${post.id}:late:${now}` };
  return eventOf(subject, { severity: rules.acted.recovery, since: sentAt, now, facts });
}

function consequence(undid: Action | null, repeat: Action | null): string {
  if (!undid) return 'Nothing that was requested since contradicts it, so Warmwarden treats the change as its own.';
  const undone = `It undid a newer change: ${actionNoun(undid)}.`;
  if (repeat) return `${undone} Warmwarden now sends that change again.`;
  if (undid.by)
    return `${undone} Another change of the mailbox is in progress, so Warmwarden does not send that one again. Send it again yourself if it is still needed.`;
  return `${undone} Warmwarden judges the mailbox again, based on the same counts.`;
}
