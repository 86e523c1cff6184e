// Alerts beyond one mailbox, of one account. Each look pools the mailboxes anew and derives conditions from the pools.

import type { Condition } from '../../alerts/condition.ts';
import { leave } from '../../alerts/engine.ts';
import {
  accountShiftAlert,
  type DomainFinding,
  type DomainShare,
  domainOverLimit,
  domainSubject,
  type PoolKnowledge,
  shiftSubject,
} from '../../alerts/rules/pooled-rules.ts';
import { type AlertChanges, fingerprintOf, isCause } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import {
  accountShift,
  domainExcess,
  domainWeek,
  type Part,
  Pool,
  type PooledWindow,
  poolsOf,
  type Standing,
} from '../../core/guard/pooled-rules.ts';
import { limitedDays } from '../../core/guard/window.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import { compareTexts } from '../../core/nearest.ts';
import type { EpochMs } from '../../core/time.ts';
import type { RecorderOptions } from './guarded-account.ts';

const noneRuns = 'No guarded mailbox of the domain is in warm-up any more.';
const namedMailboxes = 3;

export type PooledOptions = Pick<RecorderOptions, 'account' | 'policyFor' | 'staleBefore'> & {
  /** True if this process has read all answers that a mailbox is judged by. */
  readonly isRead: (mailboxId: string) => boolean;
};

interface Member extends Part {
  readonly email: string;
  readonly statsAt: EpochMs | null;
}

/** Returns the conditions of pooled alerts that fire or may fire, and the ends of alerts without a running mailbox. */
export function pooledAlerts(
  fleet: Fleet,
  options: PooledOptions,
  now: EpochMs,
): { readonly conditions: readonly Condition[]; readonly ends: AlertChanges } {
  const { account } = options;
  const before = options.staleBefore();
  const pools = poolsOf([...fleet.mailboxesOf(account)].flatMap((mailbox) => memberOf(mailbox, before, options) ?? []));
  const conditions = [...pools.domains].flatMap(([name, pool]) => {
    const finding = findingOf(account, name, pool, now);
    const isKnown = fleet.alert(fingerprintOf(domainSubject(account, name))) !== undefined;
    return isKnown || finding.excess ? [domainOverLimit(finding, now)] : [];
  });
  const found = { account, shift: accountShift(pools, now), ...knowledge(pools.whole) };
  const hasShift = fleet.alert(fingerprintOf(shiftSubject(account))) !== undefined;
  if (hasShift || found.shift?.isShifted) conditions.push(accountShiftAlert(found, now));
  const gone = [...fleet.alertsOf(account)].filter(
    (alert) =>
      alert.rule === 'shared_bounces' &&
      alert.status === 'firing' &&
      !isCause(alert) &&
      !pools.domains.has(alert.object ?? ''),
  );
  return { conditions, ends: leave(gone, now, noneRuns) };
}

function memberOf(mailbox: MailboxState, before: EpochMs, { policyFor, isRead }: PooledOptions): Member | null {
  const { id, email, firstSeenAt, stats } = mailbox;
  const verdict = mailbox.verdict?.answer;
  const statsAt = stats?.at ?? null;
  const about = { domain: domainOf(email), email, statsAt };
  // A mailbox that could not be read until its data would be stale is not waited for.
  if (!isRead(id)) return { ...about, standing: firstSeenAt < before ? 'unknown' : 'pending', days: null };
  if (verdict?.run === 'not_running') return null;
  const isStale = verdict?.reason === 'stale_data' || (statsAt ?? firstSeenAt) < before;
  const days = !verdict || verdict.run === 'unknown' || isStale ? null : limitedDays(mailbox, policyFor(mailbox));
  const standing: Standing = days ? 'counted' : 'unknown';
  return { ...about, standing, days };
}

function findingOf(account: string, domain: string, pool: Pool<Member>, now: EpochMs): DomainFinding {
  const excess = domainExcess(pool, now);
  return {
    ...{ account, domain, excess },
    week: () => domainWeek(pool, now),
    worst: () => (excess ? worstOf(pool.parts, excess) : []),
    ...knowledge(pool),
  };
}

function knowledge(pool: Pool<Member>): PoolKnowledge {
  const read = () => pool.parts.flatMap(({ standing, statsAt }) => (standing === 'counted' ? (statsAt ?? []) : []));
  return {
    counted: pool.of('counted'),
    unknown: pool.of('unknown'),
    pending: pool.of('pending'),
    oldestAt: () => read().reduce<EpochMs | null>((oldest, at) => (oldest === null || at < oldest ? at : oldest), null),
  };
}

function worstOf(members: readonly Member[], { from, to }: PooledWindow): readonly DomainShare[] {
  const shares = members.map((member) => ({ email: member.email, ...new Pool([member]).sum(from, to) }));
  return shares
    .filter(({ bounced }) => bounced > 0)
    .sort((a, b) => b.bounced - a.bounced || compareTexts(a.email, b.email))
    .slice(0, namedMailboxes);
}
