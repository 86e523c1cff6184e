// What a replica does, one step at a time: its beat, its look at the other, its work. Every step is atomic, and anything may
// happen between two. The decisions are those of src/store/replicas.

import { mayStillCome } from '../../src/core/guard-memory.ts';
import { commitOutcome } from '../../src/store/replicas/commit-outcome.ts';
import { isHeld, mayPost } from '../../src/store/replicas/deadline.ts';
import { afterFailedRead, afterRead, isSilent } from '../../src/store/replicas/heir.ts';
import { inheritedWaitMs } from '../../src/store/replicas/inheritance.ts';
import type { Planted } from './planted.ts';
import { changeTo, type Replica, type State, startOver, statusAfter, type Task } from './state.ts';

export const now = { monotonic: 0, wall: 0 };

/** Whether it takes itself for the holder. */
export function believes({ life, holds, sent }: Replica, planted: Planted): boolean {
  if (life !== 'up' || !holds || sent === null) return false;
  return planted === 'ignores a jump of the clock' ? isHeld({ ...sent, wall: sent.monotonic }, now) : isHeld(sent, now);
}

type Step = (state: State, one: Replica, planted: Planted) => void;

/** The steps that have one outcome. */
export const steps: Readonly<Record<Exclude<Replica['at'], 'idle' | 'commit' | 'send'>, Step>> = {
  beat(state, one, planted) {
    const { db } = state;
    one.at = 'watch';
    if (!db.up) return;
    if (db.dead.includes(one.id) && planted !== 'lets a dead one beat') return startOver(one, state);
    db.beats[one.id] = (db.beats[one.id] ?? 0) + 1;
    db.ages[one.id] = 0;
    Object.assign(one, { sending: now, at: 'ack' });
  },

  ack(_state, one, planted) {
    one.sent = planted === 'counts from the answer of a beat' ? now : one.sending;
    Object.assign(one, { sending: null, at: 'watch' });
  },

  watch({ db }, one, planted) {
    one.at = 'work';
    const { owner } = db;
    if (!db.up) {
      if (planted !== 'counts failed reads') one.seen = afterFailedRead;
    } else if (owner === one.id) one.holds = true;
    else if (db.dead.includes(owner)) one.at = 'take';
    else {
      if (planted !== 'lets a dead one beat') one.holds = false;
      one.seen = afterRead(one.seen, db.beats[owner] ?? 0, 0);
      const byDatabase = planted === "goes by the database's clock";
      if (byDatabase ? (db.ages[owner] ?? 0) >= 15_000 : isSilent(one.seen, 0)) one.at = 'mark';
    }
  },

  mark({ db }, one, planted) {
    one.at = 'work';
    const { owner } = db;
    const isSame = db.beats[owner] === one.seen?.beat || planted === 'marks dead whatever the beat is';
    if (!db.up || owner === one.id || !isSame || db.dead.includes(owner)) return;
    db.dead.push(owner);
    delete db.versions[owner];
    one.at = 'take';
  },

  take({ db }, one, planted) {
    one.at = 'work';
    const { owner, intent } = db;
    if (!db.up || !db.dead.includes(owner) || db.dead.includes(one.id)) return;
    db.owner = one.id;
    Object.assign(one, { holds: true, seen: null, expected: null, task: null, waitMs: 0 });
    if (planted === 'runs commands again' && db.command === 'taken') db.command = 'asked';
    if (intent === null) return;
    if (planted !== 'does not wait for inherited intents') one.waitMs = inheritedWaitMs;
    one.inherits = true;
  },

  work(state, one, planted) {
    one.at = 'idle';
    if (!believes(one, planted) || !state.db.up) return;
    if (one.expected !== null) return afterLostReply(state, one, planted);
    one.task = taskOf(state, one, planted);
    if (one.task) one.at = planted === 'sends before it commits' && one.task.do === 'open' ? 'gate' : 'commit';
  },

  gate(_state, one, planted) {
    const { sent } = one;
    const seen = sent && planted === 'ignores a jump of the clock' ? { ...sent, wall: sent.monotonic } : sent;
    const is = planted === 'forgets how long a POST takes' ? isHeld : mayPost;
    const passes = planted === 'has no gate' || (seen !== null && is(seen, now));
    Object.assign(one, { at: passes ? 'send' : 'idle', late: false });
  },
};

const taken: Readonly<Record<string, ReturnType<typeof commitOutcome>>> = {
  'takes a lost reply for success': 'committed',
  'takes a lost reply for a failure': 'not_committed',
};

function afterLostReply(state: State, one: Replica, planted: Planted): void {
  if (one.expected === null) return;
  const outcome = taken[planted ?? ''] ?? commitOutcome(one.expected, state.db.versions[one.id] ?? null);
  one.expected = null;
  one.forgets = planted === 'takes a lost reply for a failure';
  if (outcome === 'committed' && one.task?.do === 'open') one.at = 'gate';
  if (outcome === 'lost') one.holds = false;
}

/** What is to be written next about the mailbox; null: nothing. */
function taskOf({ db, status }: State, { waitMs }: Replica, planted: Planted): Task | null {
  if (status !== db.believed) {
    const change = changeTo(status);
    if (change === db.intent) return { do: 'settle', change };
    return waitMs > 0 ? null : { do: 'note', change };
  }
  if (waitMs > 0 || db.foreign) return null;
  if (db.command === 'asked') return { do: 'take', change: 'resume' };
  const isLeft = planted === 'leaves a late change as it is' && db.unseen.length > 0 && db.command === 'done';
  const wanted = db.command === 'none' ? 'paused' : 'running';
  return status === wanted || isLeft ? null : { do: 'open', change: changeTo(wanted) };
}

/** The transaction of a task, as far as the lease lets it. */
export function apply(state: State, one: Replica, planted: Planted): boolean {
  const { db, status } = state;
  const { task, id } = one;
  const version = db.versions[id];
  const isOurs = db.owner === id && version !== undefined;
  if (!task || !db.up || (!isOurs && planted !== 'writes without the fence')) return false;
  if (!isOurs) state.violation ??= 'a replica wrote without the lease';
  if (version !== undefined) db.versions[id] = version + 1;
  const { change } = task;
  if (one.inherits && task.do !== 'note') {
    // It has looked: what did not show may come later.
    one.inherits = false;
    if (task.do !== 'settle' && db.intent !== null) db.unseen.push({ change: db.intent, at: 0 });
  }
  if (task.do === 'open') {
    // What is open already is tried again under its id.
    const isNew = db.intent !== change || one.forgets;
    one.forgets = false;
    if (change === 'pause' && isNew) db.pauses += 1;
    db.intent = change;
  } else if (task.do === 'settle') {
    Object.assign(db, { intent: null, believed: status, command: change === 'resume' ? 'done' : db.command });
  } else if (task.do === 'note') {
    db.believed = statusAfter(change);
    const late = db.unseen.findIndex((post) => post.change === change && mayStillCome(post, 0));
    // Each POST comes once.
    if (late >= 0 && planted !== 'leaves a late change as it is') db.unseen.splice(late, 1);
    if (late < 0 || planted === "takes a late change for a person's") db.foreign = true;
  } else {
    db.takes += 1;
    const isDone = status === 'running';
    Object.assign(db, { command: isDone ? 'done' : 'taken', intent: isDone ? null : 'resume' });
  }
  return true;
}
