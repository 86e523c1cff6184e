// Answers that say again what a mailbox was judged by. Nothing comes of one but its time, so it is not judged again.

import type { StatsAnswer, WarmupAnswer } from '../../core/answers.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { Policy } from '../../core/policy.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import { dayMs, type EpochMs, minuteMs } from '../../core/time.ts';
import { judgedThatMatters } from '../commit/unwritten.ts';
import type { Observation } from './observe.ts';
import { isActive } from './plan.ts';
import type { Tick } from './tick.ts';

/** Interventions, claims and reversals age: after this, or on another day, the same answers are judged again. */
const judgedAnewAfterMs = 5 * minuteMs;

/** What a judgement rests on besides the mailbox. */
export interface Grounds {
  readonly policy: Policy;
  readonly rules: RuleSettings;
}

/** Not the whole mailbox, whose times and verdict are others by now: they would be kept for as long as it is judged by the same. */
interface Judged extends Grounds, Pick<MailboxState, 'memory' | 'action' | 'entry' | 'detail'> {
  readonly at: EpochMs;
  readonly stats: StatsAnswer | undefined;
  readonly warmup: WarmupAnswer | undefined;
}

/** For the mailboxes of one account. */
export class Repeats {
  readonly #fleet: Fleet;
  /** By mailbox: its last judgement, when it led to nothing. */
  readonly #judged = new Map<string, Judged>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** A mailbox was judged. */
  judged({ mailbox, verdict, actions, changes, breaker }: Tick, grounds: Grounds, now: EpochMs): void {
    const isCalm =
      verdict?.action === 'none' &&
      actions.length + changes.length === 0 &&
      breaker === null &&
      !isActive(mailbox.action) &&
      (mailbox.memory?.answersJudged ?? 0) >= judgedThatMatters;
    if (!isCalm) {
      this.#judged.delete(mailbox.id);
      return;
    }
    const { policy, rules } = grounds;
    const { memory, action, entry, detail } = mailbox;
    const [stats, warmup] = [mailbox.stats?.answer, mailbox.warmup?.answer];
    // Field by field: V8 keeps what is spread into a literal in a second object, with room to grow.
    this.#judged.set(mailbox.id, { policy, rules, stats, warmup, memory, action, entry, detail, at: now });
  }

  /** The mailbox with an answer that says again what it was judged by; null: the answer has to be judged. */
  of(before: MailboxState, observation: Observation, grounds: Grounds, now: EpochMs): MailboxState | null {
    if (!isJudgeable(observation)) return null;
    const { route, observed } = observation;
    const last = this.#judged.get(before.id);
    if (!last || observed.answer !== before[route]?.answer || !isSameGround(last, before, grounds)) return null;
    const isLately = last.at <= now && now - last.at < judgedAnewAfterMs;
    if (!isLately || Math.floor(last.at / dayMs) !== Math.floor(now / dayMs)) return null;
    // An alert counts looks, and says when the last one was.
    if (this.#fleet.alertsAbout(before).length > 0) return null;
    return withTime(before, observation, now);
  }

  /** The mailbox has left. */
  forget(mailboxId: string): void {
    this.#judged.delete(mailboxId);
  }
}

/** An answer that is judged. */
type Judgeable = Extract<Observation, { readonly route: 'stats' | 'warmup' }>;

const isJudgeable = (one: Observation): one is Judgeable => one.route === 'stats' || one.route === 'warmup';

/** Whether a judgement would find what the last one found, but for the time. */
function isSameGround(last: Judged, mailbox: MailboxState, { policy, rules }: Grounds): boolean {
  return (
    last.policy === policy &&
    last.rules === rules &&
    last.stats === mailbox.stats?.answer &&
    last.warmup === mailbox.warmup?.answer &&
    last.memory === mailbox.memory &&
    last.action === mailbox.action &&
    last.entry === mailbox.entry &&
    last.detail === mailbox.detail
  );
}

/** As it is after the answer, with the verdict as it would be given now. */
function withTime(before: MailboxState, answered: Judgeable, now: EpochMs): MailboxState | null {
  const isStats = answered.route === 'stats';
  const stats = isStats ? answered.observed : before.stats;
  if (!before.verdict || !stats) return null;
  const { answer } = before.verdict;
  const dataAgeMs = Math.max(0, now - stats.at);
  const verdict = { at: now, answer: answer.dataAgeMs === dataAgeMs ? answer : { ...answer, dataAgeMs } };
  return isStats ? { ...before, stats: answered.observed, verdict } : { ...before, warmup: answered.observed, verdict };
}
