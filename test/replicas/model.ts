// The model of several replicas: which states follow a state, what must never be, and a search through all of them.
import { isHeld } from '../../src/store/replicas/deadline.ts';
import type { Planted } from './planted.ts';
import { begin, copyOf, type Replica, type State, statusAfter } from './state.ts';
import { apply, believes, now, steps } from './steps.ts';

const tickMs = 5_000;
/** Ages beyond this mean the same. */
const oldMs = 20_000;
/** Who is away wakes after one tick, before the deadline, after it, or at any time later. */
const awayTicks = [1, 2, 4, 5];
const longAway = 5;
/** After so many ticks without a fault all must be well: a takeover, the wait for an inherited intent, and two POSTs. */
const calmTicks = 24;

type Move = (state: State) => void;

/** Whose turn it is within this tick: its program has not come to an end. */
const isBusy = ({ life, at }: Replica) => life === 'up' && at !== 'idle';

/** Every state that may follow. */
function successors(state: State, planted: Planted): readonly State[] {
  const next: State[] = [];
  const after = (...moves: readonly Move[]) => {
    const copy = copyOf(state);
    for (const move of moves) move(copy);
    check(copy, planted);
    next.push(copy);
  };
  const isTickOver = !state.replicas.some(isBusy);
  // What touches nothing that others see may as well come first.
  const alone = state.replicas.findIndex((one) => isBusy(one) && (one.at === 'ack' || one.at === 'gate'));
  for (const index of [0, 1] as const) {
    if (alone >= 0 && index !== alone) continue;
    for (const move of movesOf(state, index, planted)) after(move);
    if (state.faults > 0) for (const fault of faultsOf(state, index)) after(spend, fault);
  }
  if (!isTickOver) return next;
  if (state.faults > 0 && state.db.up) after(spend, ({ db }) => Object.assign(db, { up: false }));
  if (state.faults > 0 && state.db.up && planted === "goes by the database's clock")
    after(spend, ({ db }) => {
      for (const id of Object.keys(db.ages)) db.ages[id] = oldMs;
    });
  if (!state.db.up) after(({ db }) => Object.assign(db, { up: true }));
  else if (state.db.command === 'none') after(({ db }) => Object.assign(db, { command: 'asked' }));
  after((copy) => tick(copy));
  return next;
}

const spend: Move = (state) => {
  state.faults -= 1;
};

function movesOf(state: State, index: 0 | 1, planted: Planted): readonly Move[] {
  const { life, at, away } = state.replicas[index];
  const own = (move: (state: State, one: Replica) => void) => (copy: State) => move(copy, copy.replicas[index]);
  if (life === 'frozen' || life === 'asleep')
    return awayTicks.includes(away) ? [own((_copy, one) => Object.assign(one, { life: 'up' }))] : [];
  if (life === 'crashed' || at === 'idle') return [];
  if (at === 'commit') {
    const lost = [true, false].map((applied) => own((copy, one) => loseReply(copy, one, applied, planted)));
    return [own((copy, one) => commit(copy, one, planted)), ...(state.faults > 0 && state.db.up ? lost : [])];
  }
  if (at !== 'send') return [own((copy, one) => steps[at](copy, one, planted))];
  const shown = [0, 5].map((shownIn) => own((copy, one) => send(copy, one, shownIn)));
  return state.faults > 0 ? [...shown, own((copy, one) => spend(copy) ?? send(copy, one, null))] : shown;
}

/** Between these steps and the next it matters whether time passes. */
const critical: readonly Replica['at'][] = ['ack', 'mark', 'take', 'commit', 'gate', 'send', 'idle'];

function faultsOf(state: State, index: 0 | 1): readonly Move[] {
  const { life, sent, at } = state.replicas[index];
  if (life !== 'up' || !critical.includes(at)) return [];
  const becomes = (life: Replica['life']) => (copy: State) => {
    Object.assign(copy.replicas[index], { life, away: 0, late: true, harmed: true });
  };
  const jump: Move = ({ replicas }) => {
    if (sent) Object.assign(replicas[index], { sent: { ...sent, wall: sent.wall - 3 * oldMs }, harmed: true });
  };
  // One that crashes leaves the guard to the other: both at once are not promised.
  const crash = state.replicas[1 - index]?.life === 'crashed' ? [] : [becomes('crashed')];
  return [becomes('frozen'), becomes('asleep'), ...crash, ...(at === 'idle' ? [jump] : [])];
}

function commit(state: State, one: Replica, planted: Planted): void {
  const { task } = one;
  const done = apply(state, one, planted);
  one.at = done && task?.do === 'open' ? 'gate' : 'idle';
  if (!done && state.db.up) one.holds = false;
}

function loseReply(state: State, one: Replica, applied: boolean, planted: Planted): void {
  spend(state);
  one.expected = (state.db.versions[one.id] ?? 0) + 1;
  if (applied) apply(state, one, planted);
  one.at = 'idle';
}

/** `shownIn` null: it is lost on its way. */
function send(state: State, one: Replica, shownIn: number | null): void {
  const { task, late, holds, sent } = one;
  if (!task || !holds || !sent) throw new Error('nothing to send');
  const { change } = task;
  if (!late && state.db.intent !== change) state.violation ??= 'a POST without a committed intent';
  if (!late && !isHeld(sent, now)) state.violation ??= 'a POST after the deadline';
  const underWay = state.flights.some((flight) => flight.inTime && flight.change === change);
  if (!late && underWay) state.violation ??= 'a POST beside another one';
  Object.assign(one, { at: 'idle', waitMs: 25_000 });
  if (shownIn === 0) Object.assign(state, { status: statusAfter(change) });
  else if (shownIn !== null)
    state.flights.push({ change, answerIn: Math.min(2, shownIn), shownIn, sender: one.id, inTime: !late });
}

function tick(state: State): void {
  const { db, replicas } = state;
  for (const flight of state.flights) {
    flight.answerIn -= 1;
    flight.shownIn -= 1;
    if (flight.answerIn === 0 && flight.inTime && flight.sender !== db.owner)
      state.violation ??= 'a POST was still under way when another took over';
    if (flight.shownIn === 0) state.status = statusAfter(flight.change);
  }
  state.flights = state.flights.filter(({ shownIn }) => shownIn > 0);
  for (const one of replicas) pass(one);
  for (const id of Object.keys(db.ages)) db.ages[id] = Math.min(oldMs, (db.ages[id] ?? 0) + tickMs);
  normalize(state);
}

/** Of a beat only matters whether it is the one that was seen, of a version how far it is from the expected one. */
function normalize({ db, replicas }: State): void {
  const { owner } = db;
  for (const one of replicas) {
    const { seen, expected } = one;
    if (seen) one.seen = { ...seen, beat: seen.beat === db.beats[owner] ? 0 : -1 };
    if (expected !== null) one.expected = expected - (db.versions[one.id] ?? expected);
  }
  db.beats = Object.fromEntries(Object.keys(db.beats).map((id) => [id, 0]));
  db.versions = Object.fromEntries(Object.keys(db.versions).map((id) => [id, 0]));
}

function pass(one: Replica): void {
  if (one.life === 'crashed') return void Object.assign(one, crashed);
  const older = (at: number) => Math.max(-oldMs, at - tickMs);
  const monotonic = (at: number) => (one.life === 'asleep' ? at : older(at));
  for (const key of ['sending', 'sent'] as const) {
    const moment = one[key];
    if (moment) one[key] = { monotonic: monotonic(moment.monotonic), wall: older(moment.wall) };
  }
  if (one.seen) one.seen = { ...one.seen, since: monotonic(one.seen.since) };
  one.waitMs = Math.max(0, one.waitMs - tickMs);
  if (one.life === 'up') one.at = 'beat';
  else one.away = Math.min(longAway, one.away + 1);
}

/** Of one that is gone nothing matters. */
const crashed = { at: 'idle', sending: null, sent: null, seen: null, task: null, expected: null, waitMs: 0 } as const;

/** What must never be, and what must be after a while without faults. */
function check(state: State, planted: Planted): void {
  const { db, replicas } = state;
  const holders = replicas.filter((one) => believes(one, planted));
  const living = replicas.find(({ id, life, sent, harmed }) => {
    const beats = life === 'up' && (!harmed || (sent !== null && isHeld(sent, now)));
    return beats && db.dead.includes(id);
  });
  if (holders.length > 1) state.violation ??= 'two take themselves for the holder';
  if (living) state.violation ??= 'one that lives and beats was taken for dead';
  if (db.pauses > 1) state.violation ??= 'a second intent for one breach';
  if (db.takes > 1) state.violation ??= 'a command was run twice';
  if (db.foreign) state.violation ??= "our change was taken for a person's";
}

/** What is wrong at the end of a tick when nothing unusual happened for long; null: nothing. */
function flaw({ db, status, replicas }: State, planted: Planted): string | null {
  const wanted = db.command === 'none' ? 'paused' : 'running';
  if (!replicas.some((one) => believes(one, planted))) return 'nobody guards';
  if (status !== wanted) return `the mailbox is ${status} although it should be ${wanted}`;
  return db.command === 'asked' || db.command === 'taken' ? 'a command has no end' : null;
}

/** Goes on without faults, each replica after the other, until all must be well. `settled`: where that was seen before. */
function unsettled(state: State, planted: Planted, settled: Set<string>): string | null {
  if (!state.db.up || state.replicas.some(({ life }) => life === 'frozen' || life === 'asleep')) return null;
  const copy = copyOf(state);
  const passed = new Set<string>();
  for (let ticks = 0; ticks < calmTicks; ticks += 1) {
    const key = JSON.stringify({ ...copy, faults: 0 });
    if (passed.has(key)) break;
    if (settled.has(key)) return null;
    passed.add(key);
    tick(copy);
    for (const index of [0, 1] as const) while (isBusy(copy.replicas[index])) movesOf(copy, index, planted)[0]?.(copy);
    check(copy, planted);
    if (copy.violation) return copy.violation;
  }
  for (const key of passed) settled.add(key);
  return flaw(copy, planted);
}

export interface Search {
  readonly states: number;
  /** The first that was found; null: none. */
  readonly violation: string | null;
}

/** Every state that can be reached with so many faults, or up to the first that must not be. */
export function search(faults: number, planted: Planted): Search {
  const seen = new Set<string>();
  const settled = new Set<string>();
  const open: State[] = [begin(faults)];
  for (let state = open.pop(); state; state = open.pop()) {
    for (const next of successors(state, planted)) {
      if (next.violation) return { states: seen.size, violation: next.violation };
      const key = JSON.stringify(next);
      if (seen.has(key)) continue;
      seen.add(key);
      const violation = next.replicas.some(isBusy) ? null : unsettled(next, planted, settled);
      if (violation) return { states: seen.size, violation };
      open.push(next);
    }
  }
  return { states: seen.size, violation: null };
}

/** One history of so many steps, chosen by `random`; what it met. */
export function walk(faults: number, steps: number, random: () => number): string | null {
  let state = begin(faults);
  for (let step = 0; step < steps; step += 1) {
    const next = successors(state, null);
    state = next[Math.floor(random() * next.length)] ?? state;
    if (state.violation) return state.violation;
  }
  return state.replicas.some(isBusy) ? null : unsettled(state, null, new Set());
}
