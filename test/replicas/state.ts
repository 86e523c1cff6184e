// The small world in which the protocol of several replicas is enumerated: one database, one mailbox in breach at its API, two
// replicas, one person. Times are relative to now, so that states that mean the same are the same.
import type { Moment } from '../../src/store/replicas/deadline.ts';
import type { Seen } from '../../src/store/replicas/heir.ts';

export type Change = 'pause' | 'resume';
type Status = 'paused' | 'running';

export const statusAfter = (change: Change): Status => (change === 'pause' ? 'paused' : 'running');
export const changeTo = (status: Status): Change => (status === 'paused' ? 'pause' : 'resume');

export interface Database {
  up: boolean;
  /** Of the lease. */
  owner: string;
  /** By replica: of the row that each of its transactions raises. Who was marked dead has none. */
  versions: Record<string, number>;
  /** By replica. */
  beats: Record<string, number>;
  dead: string[];
  /** By replica: how old its beat is by the database's own clock. Nobody should look at it. */
  ages: Record<string, number>;
  /** What was believed of the mailbox at the last commit. */
  believed: Status;
  intent: Change | null;
  /** What its process did not finish, and what did not show when its heir looked. */
  unseen: { change: Change; at: number }[];
  /** Intents to pause that were opened: one breach, one intent. */
  pauses: number;
  /** A person wants it to run. */
  command: 'none' | 'asked' | 'taken' | 'done';
  takes: number;
  /** A change was taken for a person's. */
  foreign: boolean;
}

/** A POST on its way. */
interface Flight {
  change: Change;
  /** Ticks until its answer, and until its effect shows. */
  answerIn: number;
  shownIn: number;
  sender: string;
  /** Its sender was awake from the gate on. */
  inTime: boolean;
}

export type Task = { do: 'open' | 'settle' | 'note' | 'take'; change: Change };

export interface Replica {
  id: string;
  life: 'up' | 'frozen' | 'asleep' | 'crashed';
  /** Ticks. */
  away: number;
  at: 'beat' | 'ack' | 'watch' | 'mark' | 'take' | 'work' | 'commit' | 'gate' | 'send' | 'idle';
  sending: Moment | null;
  sent: Moment | null;
  /** It takes the lease for its own. */
  holds: boolean;
  seen: Seen | null;
  task: Task | null;
  /** The open intent is its predecessor's, and it has not looked yet. */
  inherits: boolean;
  /** After a COMMIT whose reply was lost. */
  expected: number | null;
  /** It takes what it opened for not opened: a planted fault. */
  forgets: boolean;
  /** Before the next POST, in milliseconds. */
  waitMs: number;
  /** It was away since the gate. */
  late: boolean;
  /** It froze, slept or crashed, or its clock was set. */
  harmed: boolean;
}

export interface State {
  db: Database;
  status: Status;
  flights: Flight[];
  replicas: [Replica, Replica];
  /** Faults that may still happen. */
  faults: number;
  violation: string | null;
}

const replica = (id: string): Replica => ({
  ...{ id, life: 'up', away: 0, at: 'beat', sending: null, sent: null, holds: false, seen: null },
  ...{ task: null, inherits: false, expected: null, forgets: false, waitMs: 0, late: false, harmed: false },
});

export const begin = (faults: number): State => ({
  db: {
    up: true,
    ...{ owner: 'a', versions: { a: 0, b: 0 } },
    ...{ beats: { a: 0, b: 0 }, dead: [], ages: {} },
    ...{ believed: 'running', intent: null, unseen: [], pauses: 0 },
    ...{ command: 'none', takes: 0, foreign: false },
  },
  ...{ status: 'running', flights: [], replicas: [replica('a'), replica('b')], faults, violation: null },
});

/** A process that learned that it was taken for dead starts over under a new id. */
export function startOver(one: Replica, { db }: State): void {
  const id = `${one.id}'`;
  Object.assign(one, replica(id));
  db.beats[id] = 0;
  db.versions[id] = 0;
}

/** A copy that can be changed. */
export function copyOf({ db, flights, replicas: [a, b], ...rest }: State): State {
  return {
    ...rest,
    db: {
      ...db,
      beats: { ...db.beats },
      versions: { ...db.versions },
      ages: { ...db.ages },
      dead: [...db.dead],
      unseen: [...db.unseen],
    },
    flights: flights.map((flight) => ({ ...flight })),
    replicas: [{ ...a }, { ...b }],
  };
}
