// The pauses of Warmwarden, for channels that page: an event that never resolves as an alert, but whose page ends when the mailbox
// runs again, leaves, or a person silences it. Pure.
import type { Alert, Announcement, Severity, Transition } from '../model/alert.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';

const mark = 'guard_paused';

/** Whether it reports that Warmwarden paused a warm-up. */
export function isPause({ kind, alert: { rule, facts, mailboxId } }: Transition): boolean {
  const { action, outcome } = facts.numbers;
  return (
    kind === 'event' && rule === 'guard_acted' && mailboxId !== null && action === 'pause' && outcome === 'confirmed'
  );
}

/** The identity of what lasts while the mailbox is paused. */
export function pauseFingerprint({ account, mailboxId }: Pick<Alert, 'account' | 'mailboxId'>): string {
  return [mark, account, mailboxId ?? ''].join('|');
}

/** That channels were notified of a pause, and are to be notified of its end. */
export function pauseAnnouncement(
  { alert }: Transition,
  { channels, at }: { readonly channels: readonly string[]; readonly at: EpochMs },
): Announcement {
  return { fingerprint: pauseFingerprint(alert), at, severity: alert.severity, channels };
}

/** What decides whether a pause is over. */
export interface PauseFacts {
  readonly now: EpochMs;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
  /** Whether a person silenced it. */
  readonly silenced: (alert: Alert) => boolean;
}

/** The end of the pause that was announced; null while it lasts, and for what is no pause. */
export function pauseEnd({ fingerprint, at, severity }: Announcement, facts: PauseFacts): Transition | null {
  const [first, account = '', ...rest] = fingerprint.split('|');
  if (first !== mark) return null;
  const mailboxId = rest.join('|');
  const mailbox = facts.mailbox(account, mailboxId);
  const email = mailbox?.entry.answer.email ?? null;
  const about = { fingerprint, account, mailboxId, email, since: at, now: facts.now, severity };
  if (!mailbox) return endOf(about, 'the mailbox is no longer guarded');
  if (mailbox.memory?.run === 'running') return endOf(about, 'the warm-up runs again');
  const end = endOf(about, 'a person silenced it');
  return facts.silenced(end.alert) ? end : null;
}

interface About extends Pick<Alert, 'fingerprint' | 'account' | 'mailboxId' | 'email' | 'since'> {
  readonly severity: Severity;
  readonly now: EpochMs;
}

function endOf({ now, ...about }: About, why: string): Transition {
  const alert: Alert = {
    ...about,
    rule: 'guard_acted',
    object: null,
    status: 'resolved',
    firingAt: about.since,
    resolvedAt: now,
    firesAt: null,
    seen: 0,
    facts: { title: `${about.email ?? about.mailboxId}: ${why}`, sentences: [], numbers: {} },
  };
  return { kind: 'resolved', at: now, alert };
}
