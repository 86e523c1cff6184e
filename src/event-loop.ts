// Turns of the event loop for long work. Pieces of different works never follow one another without a turn between them.
import { setImmediate } from 'node:timers';

/** urgent: a mailbox, an action or a person's command waits for it. patient: it only reads, shows or reports something. */
export type Urgency = 'urgent' | 'patient';

const waiting: Readonly<Record<Urgency, (() => void)[]>> = { urgent: [], patient: [] };
let wasUrgent = false;
let isTurning = false;

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

function next(): void {
  const { urgent, patient } = waiting;
  const isPatientDue = patient.length > 0 && (urgent.length === 0 || wasUrgent);
  wasUrgent = !isPatientDue;
  (isPatientDue ? patient : urgent).shift()?.();
  isTurning = urgent.length + patient.length > 0;
  if (isTurning) setImmediate(next);
}
