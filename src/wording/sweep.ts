// How far a first sweep is, in a sentence.
import type { SweepProgress } from '../model/sweep.ts';
import { dayMs, type EpochMs } from '../model/time.ts';
import { counted, momentText, numberText, roughSpanText, timeText } from './phrases.ts';

/** When it is read, and in which zone times are given: an IANA name. */
export interface Reading {
  readonly now: EpochMs;
  readonly zone: string;
}

/** `First sweep of acme: 340 of 1,000 mailboxes read, done in about 11 min (23:41 UTC)`. Without a full stop. */
export function sweepText({ account, mailboxes, part, read, doneAt }: SweepProgress, { now, zone }: Reading): string {
  const what = part === 'judging' ? 'read' : 'read for connection, DNS and blacklists';
  const all = counted(mailboxes, 'mailbox', 'mailboxes');
  const allRead = read === mailboxes && mailboxes > 0;
  // What is over the limit, say, must be seen twice.
  const counts = allRead
    ? `${mailboxes === 1 ? '' : 'all '}${all} ${what}, second looks`
    : `${numberText(read)} of ${all} ${what},`;
  return `First sweep of ${account}: ${counts} ${doneText(doneAt, { now, zone })}`;
}

/** Several that go on at once, as one sentence: `First sweep of 3 accounts: ...`. */
export function sweepsText(sweeps: readonly SweepProgress[], reading: Reading): string {
  const [first] = sweeps;
  if (!first) return '';
  const ends = sweeps.flatMap(({ doneAt }) => doneAt ?? []);
  const all = {
    ...first,
    account: sweeps.length === 1 ? first.account : counted(sweeps.length, 'account'),
    mailboxes: sweeps.reduce((sum, { mailboxes }) => sum + mailboxes, 0),
    read: sweeps.reduce((sum, { read }) => sum + read, 0),
    doneAt: ends.length === 0 ? null : Math.max(...ends),
  };
  return sweepText(all, reading);
}

/** `done in about 11 min (23:41 UTC)`, with the date where it is not today's or tonight's. */
function doneText(doneAt: EpochMs | null, { now, zone }: Reading): string {
  if (doneAt === null) return 'waiting for the API to answer';
  const leftMs = Math.max(0, doneAt - now);
  const time = leftMs < dayMs ? timeText(doneAt, zone) : momentText(doneAt, zone);
  return `done in about ${roughSpanText(leftMs)} (${time})`;
}
