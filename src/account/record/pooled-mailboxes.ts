// The running counts of an account's mailboxes beyond one of them: what each answer changes in them, and what they say then.
import type { DomainFinding, DomainShare, PoolKnowledge, ShiftFinding } from '../../alerts/rules/pooled-rules.ts';
import type { PooledWindow } from '../../core/breaker.ts';
import type { DomainPool, Part, Pool, Standing } from '../../core/guard/pool.ts';
import { PooledAccount } from '../../core/guard/pooled-account.ts';
import { accountShift, domainExcess, domainWeek } from '../../core/guard/pooled-rules.ts';
import { type DaysSource, limitedDays } from '../../core/guard/window.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import { type Policy, warmupModes } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';

/** Mailboxes that a message names. */
const namedMailboxes = 3;

/** How a mailbox is taken into the counts. */
export interface PooledLook {
  readonly policy: Policy;
  readonly now: EpochMs;
  /** What was read before this moment is stale. */
  readonly staleBefore: EpochMs;
}

/** A mailbox in the counts. */
interface Member extends Part {
  readonly email: string;
  readonly statsAt: EpochMs | null;
  /** Whether this process has judged it: what an earlier one read counts for nothing. */
  readonly judged: boolean;
  /** Its days can be counted. */
  readonly isSound: boolean;
  /** Bounces of its newest days. */
  readonly bouncedLately: number;
}

export class PooledMailboxes {
  readonly #name: string;
  readonly #account = new PooledAccount<Member>();

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Takes in a mailbox as it is now. `judged`: by this process, just now; once it was, it stays so. What an earlier process
   * or loop left counts for nothing before.
   */
  put(mailbox: MailboxState, look: PooledLook, judged: boolean): void {
    const before = this.kept(mailbox.id);
    const after = memberOf(mailbox, look, { before, judged: judged || before?.judged === true });
    if (after !== before) this.restore(mailbox.id, after);
  }

  /** What is remembered of a mailbox, to be put back with `restore` when what comes next is not committed. */
  kept(id: string): Member | null {
    return this.#account.part(id);
  }

  /** null: the mailbox has left. */
  restore(id: string, member: Member | null): void {
    this.#account.put(id, member);
  }

  /** Whether mailboxes are waited for. */
  get hasPending(): boolean {
    return this.#account.whole.of('pending') > 0;
  }

  /** What a domain's counts say; null when none of its mailboxes runs. */
  domain(name: string, now: EpochMs): DomainFinding | null {
    const pool = this.#account.domain(name, now);
    if (!pool) return null;
    const excess = domainExcess(pool, now);
    return {
      account: this.#name,
      domain: name,
      excess,
      week: () => domainWeek(pool, now),
      worst: () => (excess ? worstOf(this.#membersOf(pool), excess) : []),
      ...knowledge(pool, () => this.#membersOf(pool)),
    };
  }

  shift(now: EpochMs): ShiftFinding {
    const { whole } = this.#account;
    return {
      account: this.#name,
      shift: accountShift(this.#account, now),
      ...knowledge(whole, () => this.#account.parts()),
    };
  }

  #membersOf({ ids }: DomainPool): readonly Member[] {
    return [...ids].flatMap((id) => this.kept(id) ?? []);
  }
}

function knowledge(pool: Pool, members: () => Iterable<Member>): PoolKnowledge {
  return {
    counted: pool.of('counted'),
    unknown: pool.of('unknown'),
    pending: pool.of('pending'),
    oldestAt: () => oldestOf(members()),
  };
}

function oldestOf(members: Iterable<Member>): EpochMs | null {
  let oldest: EpochMs | null = null;
  for (const { standing, statsAt } of members) {
    if (standing !== 'counted' || statsAt === null) continue;
    if (oldest === null || statsAt < oldest) oldest = statsAt;
  }
  return oldest;
}

function worstOf(members: readonly Member[], { from, to }: PooledWindow): readonly DomainShare[] {
  const lately = members.filter(({ bouncedLately }) => bouncedLately > 0);
  const worst = lately.sort((a, b) => b.bouncedLately - a.bouncedLately).slice(0, 2 * namedMailboxes);
  const shares = worst.flatMap(({ email, standing, source }) => {
    if (standing !== 'counted') return [];
    const within = limitedDays(source)?.days.filter(({ date }) => date >= from && date <= to) ?? [];
    const sum = (field: 'sent' | 'bounced') => within.reduce((total, day) => total + day[field], 0);
    return [{ email, sent: sum('sent'), bounced: sum('bounced') }];
  });
  return shares
    .filter(({ bounced }) => bounced > 0)
    .sort((a, b) => b.bounced - a.bounced || (a.email < b.email ? -1 : 1))
    .slice(0, namedMailboxes);
}

/** So many newest days say who bounces most. */
const lateDays = 7;

/** The mailbox as it counts; `before` itself where the answer changes nothing of it. */
function memberOf(
  mailbox: MailboxState,
  look: PooledLook,
  { before, judged }: { readonly before: Member | null; readonly judged: boolean },
): Member {
  const { email } = mailbox;
  const same = before?.judged && isSourceOf(mailbox, look, before.source) ? before : null;
  const source = same?.source ?? sourceOf(mailbox, look);
  const { isSound, bouncedLately } = same ?? (judged ? summaryOf(source) : noSummary);
  const standing = judged ? standingOf(mailbox, isSound, look) : unjudgedStanding(mailbox, look);
  const statsAt = mailbox.stats?.at ?? null;
  const isInPlace = same?.email === email;
  if (isInPlace && same.standing === standing && same.statsAt === statsAt) return same;
  const domain = isInPlace ? same.domain : domainOf(email);
  return { domain, standing, source, email, statsAt, judged, isSound, bouncedLately };
}

function sourceOf({ stats, warmup, memory }: MailboxState, { policy, now }: PooledLook): DaysSource {
  const { limitsPpm } = policy;
  return {
    stats: stats?.answer ?? null,
    now,
    mode: warmup?.answer.mode ?? null,
    earlierModes: memory?.earlierModes ?? noModes,
    limitsPpm,
  };
}

const noModes: DaysSource['earlierModes'] = [];

/** Whether the days of the mailbox are those of that source. */
function isSourceOf({ stats, warmup, memory }: MailboxState, { policy }: PooledLook, source: DaysSource): boolean {
  return (
    source.stats === (stats?.answer ?? null) &&
    source.mode === (warmup?.answer.mode ?? null) &&
    source.earlierModes === (memory?.earlierModes ?? noModes) &&
    (source.limitsPpm === policy.limitsPpm ||
      warmupModes.every((mode) => source.limitsPpm[mode] === policy.limitsPpm[mode]))
  );
}

const noSummary = { isSound: false, bouncedLately: 0 };

function summaryOf(source: DaysSource): Pick<Member, 'isSound' | 'bouncedLately'> {
  const limited = limitedDays(source);
  const bouncedLately = limited?.days.slice(-lateDays).reduce((sum, { bounced }) => sum + bounced, 0) ?? 0;
  return { isSound: limited !== null, bouncedLately };
}

/** null: it is known not to run. */
function standingOf(mailbox: MailboxState, isSound: boolean, { staleBefore }: PooledLook): Standing | null {
  const verdict = mailbox.verdict?.answer;
  if (verdict?.run === 'not_running') return null;
  const isStale = verdict?.reason === 'stale_data' || (mailbox.stats?.at ?? mailbox.firstSeenAt) < staleBefore;
  return verdict && verdict.run !== 'unknown' && isSound && !isStale ? 'counted' : 'unknown';
}

/** What can't be read for as long as data may be old is not waited for. */
function unjudgedStanding({ firstSeenAt }: MailboxState, { staleBefore }: PooledLook): Standing {
  return firstSeenAt < staleBefore ? 'unknown' : 'pending';
}
