// A fleet of an agency, and what happens to its mailboxes, for the tests of incidents.
import type { Affected } from '../../src/alerts/shared-cause.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import type { RecentBounce } from '../../src/core/answers.ts';
import type { Incident, MemberState } from '../../src/core/incident.ts';
import { type MailboxState, mailboxKey } from '../../src/core/mailbox.ts';
import { dayMs } from '../../src/core/time.ts';
import { warmupAnswer } from '../guard/samples.ts';
import { breach, sampleAction, sampleAlert, sampleMailbox, sampleVerdict, start } from './samples.ts';

export const policyBlock: RecentBounce = { type: 'block', category: 'policy_block' };
export const invalid: RecentBounce = { type: 'hard', category: 'invalid_recipient' };

export interface Traits {
  readonly account?: string;
  readonly domain: string;
  readonly provider: string;
  readonly ip?: string;
}

/** Mailbox `number` of a domain, a month old, without any trouble. */
export function healthy(number: number, { account = 'acme', domain, provider, ip }: Traits): MailboxState {
  const email = `box${number}@${domain}`;
  const id = `${domain}-${number}`;
  const usual = sampleMailbox();
  const listing = { domain: null, checkedAt: null, listed: false, lists: [], found: 0, checked: 10 };
  return {
    ...usual,
    account,
    id,
    email,
    firstSeenAt: start - 30 * dayMs,
    entry: { at: start, answer: { ...usual.entry.answer, id, email, provider } },
    blacklist: ip === undefined ? null : { at: start, answer: { ...listing, ip } },
    verdict: { at: start, answer: sampleVerdict() },
  };
}

/** The mailbox after the guard acted on it, with the event that reports it. */
export function acted(
  mailbox: MailboxState,
  at: number,
  kind: 'recovery' | 'pause' = 'recovery',
  bounce = policyBlock,
) {
  const { account, id: mailboxId, email } = mailbox;
  const id = `${mailboxId}:${at}`;
  const action = sampleAction({ id, account, mailboxId, email, kind, plannedAt: at, openedAt: at, settledAt: at });
  const severity = kind === 'pause' ? 'critical' : 'warning';
  const facts = { title: `${email}: ${kind}`, sentences: [`${email} bounced.`], numbers: {} };
  const times = { since: at, firingAt: at };
  const alert = sampleAlert(0, {
    rule: 'guard_acted',
    account,
    mailboxId,
    email,
    object: `${id}:confirmed`,
    severity,
    facts,
    ...times,
  });
  const event: Transition = { kind: 'event', at, alert };
  return { mailbox: { ...mailbox, action, verdict: { at, answer: breach }, warmup: bouncing(bounce, at) }, event };
}

/** An alert about a mailbox. */
export function about(mailbox: MailboxState, rule: Alert['rule'], at: number, change: Partial<Alert> = {}): Alert {
  const { account, id: mailboxId, email } = mailbox;
  const facts = { title: `${email}: ${rule}`, sentences: [], numbers: {} };
  const subject = { rule, account, mailboxId, email, object: null };
  return sampleAlert(0, { ...subject, since: at, firingAt: at, facts, ...change });
}

function bouncing(bounce: RecentBounce, at: number): MailboxState['warmup'] {
  return { at, answer: { ...warmupAnswer('balanced', 'active'), recentBounces: [bounce, bounce, bounce] } };
}

/** A mailbox of an incident without the picture around it. */
export function affected(
  number: number,
  traits: Traits,
  change: { since?: number; kinds?: readonly string[]; state?: MemberState } = {},
): Affected {
  const { account, id: mailboxId, email } = healthy(number, traits);
  const { since = start, kinds = ['block (policy_block)'], state = 'recovery' } = change;
  const counts = { sent: 50, bounced: 4, severity: 'warning', goesOn: false } as const;
  return {
    key: mailboxKey(account, mailboxId),
    mailbox: { account, mailboxId, email, state, since, ...counts },
    kinds,
    traits: {
      domain: traits.domain,
      ip: traits.ip ?? null,
      provider: traits.provider,
      account,
      base_url: 'https://api.example',
    },
  };
}

/** An incident at google with `count` mailboxes on five domains, the first of which is held. */
export function sampleIncident(count: number, change: Partial<Incident> = {}): Incident {
  const members = Array.from({ length: count }, (_, number) => {
    const [state, severity] = number === 0 ? (['held', 'critical'] as const) : (['recovery', 'warning'] as const);
    const { mailbox } = affected(number, { domain: `g${number % 5}.example`, provider: 'google' }, { state });
    return { ...mailbox, severity };
  });
  return {
    id: 'inc_sample',
    cause: { attribute: 'provider', value: 'google' },
    kind: 'block (policy_block)',
    beganAt: start,
    openedAt: start,
    members,
    alerts: [],
    severity: 'critical',
    joinedAt: start,
    movedAt: start,
    announced: null,
    endedAt: null,
    ...change,
  };
}

export function causeOf({ cause }: Pick<Incident, 'cause'>): string {
  return `${cause.attribute} ${cause.value}`;
}
