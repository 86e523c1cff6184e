// Turns of the event loop for long work. Pieces of different works never follow one another without a turn between them.
import { setImmediate } from 'node:timers';

/** urgent: a mailbox, an action or a person's command waits for it. patient: it only reads, shows or reports something. */
export type Urgency = 'urgent' | 'patient';

const waiting: Readonly<Record<Urgency, (() => void)[]>> = { urgent: [], patient: [] };
let wasUrgent = false;
let isTurning = false;
let turns = 0;

/**
 * Resolves in a turn of its own, in which no other long work does a piece. While urgent and patient work wait, they alternate
 * (Prometheus waits 10 s for a scrape); each kind is served in the order of asking.
 */
export function ownTurn(urgency: Urgency = 'urgent'): Promise<void> {
  return new Promise((resolve) => {
    waiting[urgency].push(resolve);
    if (!isTurning) setImmediate(next);
    isTurning = true;
  });
}

/** The number of the patient turn that goes on; null when the last turn was an urgent one. */
export function patientTurn(): number | null {
  return wasUrgent ? null : turns;
}

/** Small works that begin in one turn of the event loop at most: each takes some tenths of a millisecond. */
export const smallWorksATurn = 8;
let begun = 0;
const small: (() => void)[] = [];

/**
 * For one of very many small works, such as to send a request or to read a short answer: null when there is room for it in
 * this turn; otherwise resolves in a later one. Where hundreds arrive at once, they are one long work, done piece by piece.
 */
export function roomForSmallWork(): Promise<void> | null {
  if (begun === 0) setImmediate(endOfTurn);
  begun += 1;
  if (small.length === 0 && begun <= smallWorksATurn) return null;
  return new Promise((resolve) => {
    if (small.push(resolve) === 1) void ownTurn().then(beginSmall);
  });
}

function endOfTurn(): void {
  begun = 0;
}

function beginSmall(): void {
  for (const begin of small.splice(0, smallWorksATurn)) begin();
  if (small.length > 0) void ownTurn().then(beginSmall);
}

function next(): void {
  const { urgent, patient } = waiting;
  const isPatientDue = patient.length > 0 && (urgent.length === 0 || wasUrgent);
  wasUrgent = !isPatientDue;
  turns += 1;
  (isPatientDue ? patient : urgent).shift()?.();
  isTurning = urgent.length + patient.length > 0;
  if (isTurning) setImmediate(next);
}
