// Turns of the event loop for long work. Pieces of different works never follow one another without a turn between them.
import { setImmediate } from 'node:timers';

/** urgent: a mailbox, an action or a person's command waits for it. patient: it only shows, reads or tells something. */
export type Urgency = 'urgent' | 'patient';

/** Of so many turns in a row one is for patient work, however much urgent work waits: Prometheus waits 10 s for a scrape. */
const patientEvery = 2;

const waiting: Readonly<Record<Urgency, (() => void)[]>> = { urgent: [], patient: [] };
let urgentInARow = 0;
let isTurning = false;

/** Resolves in a turn of its own: of all long works one piece is done in a turn, urgent ones first, then in the order of asking. */
export function ownTurn(urgency: Urgency = 'urgent'): Promise<void> {
  return new Promise((resolve) => {
    waiting[urgency].push(resolve);
    if (!isTurning) setImmediate(next);
    isTurning = true;
  });
}

function next(): void {
  const { urgent, patient } = waiting;
  const isPatientDue = patient.length > 0 && (urgent.length === 0 || urgentInARow >= patientEvery - 1);
  urgentInARow = isPatientDue ? 0 : urgentInARow + 1;
  (isPatientDue ? patient : urgent).shift()?.();
  isTurning = urgent.length + patient.length > 0;
  if (isTurning) setImmediate(next);
}
