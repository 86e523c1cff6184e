// Numbers that stand for the fingerprints of alerts: a message of a storm is about as many as there are mailboxes, and their
// texts would be megabytes in one row. Pure.
import { hash } from 'node:crypto';

/** Of each name one, in ascending order. Two names have the same by chance in one of 2^48 cases. */
export type Marks = Float64Array;

/** What a message is about. */
export interface About {
  /** Fingerprints of alerts, and what else keeps its order with this message. A later message about one of them waits behind it. */
  readonly alerts: readonly string[];
  /** Of the alerts of a storm, instead of their fingerprints. */
  readonly marks?: Marks | undefined;
}

/** The first 48 bits of its SHA-256. */
export function markOf(name: string): number {
  return Number.parseInt(hash('sha256', name, 'hex').slice(0, 12), 16);
}

/** Whether a message is about the alert. */
export function isAboutAlert({ alerts, marks }: About, fingerprint: string): boolean {
  return alerts.includes(fingerprint) || (marks !== undefined && has(marks, markOf(fingerprint)));
}

function has(marks: Marks, wanted: number): boolean {
  let [from, to] = [0, marks.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((marks[middle] ?? 0) < wanted) from = middle + 1;
    else to = middle;
  }
  return marks[from] === wanted;
}

/** Whether some mark is in both. Each is walked through once: of storms that wait for a receiver, every two are compared. */
function haveCommon(marks: Marks, others: Marks): boolean {
  let at = 0;
  for (const mark of marks) {
    while ((others[at] ?? Number.POSITIVE_INFINITY) < mark) at += 1;
    if (others[at] === mark) return true;
  }
  return false;
}

/** What several messages are about. */
export class CoveredAlerts {
  readonly #names = new Set<string>();
  readonly #marks: Marks[] = [];

  add({ alerts, marks }: About): void {
    for (const name of alerts) this.#names.add(name);
    if (marks) this.#marks.push(marks);
  }

  /** Whether this message is about some of that, too. */
  hasAnyOf({ alerts, marks }: About): boolean {
    return alerts.some((name) => this.#hasName(name)) || (marks !== undefined && this.#hasSomeOf(marks));
  }

  #hasName(name: string): boolean {
    if (this.#names.has(name)) return true;
    if (this.#marks.length === 0) return false;
    const mark = markOf(name);
    return this.#marks.some((known) => has(known, mark));
  }

  #hasSomeOf(marks: Marks): boolean {
    if (this.#marks.some((known) => haveCommon(known, marks))) return true;
    return [...this.#names].some((name) => has(marks, markOf(name)));
  }
}
