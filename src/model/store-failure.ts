// Why the store did not do what it was asked to.
import type { Alert } from './alert.ts';

export interface StoreFailure {
  /** What fails and why, in a few words, where it is not the store itself: see `titleOf`. */
  readonly title?: string;
  /** What was said, for people; no full stop. */
  readonly said: string;
  /** What a person does about it, in whole sentences; a command stands at the end. */
  readonly remedy: string;
  /** A damaged file: other reads and writes may succeed, and it is damaged all the same until Warmwarden starts again. */
  readonly lasting: boolean;
  /**
   * There was no connection, or no write at all: the next write, and read where reads failed, ends it. Absent: what failed itself
   * has to succeed.
   */
  readonly untilWritten?: boolean;
  /** It often ends without anybody, such as a lost connection or a lock. Absent: a person has to do something. */
  readonly mayPass?: boolean;
  /** What failed works again, but has not done so for long. */
  readonly isOver?: true;
}

const storeTitle = 'the store is failing';

/** The failure in a few words. */
export function titleOf({ title }: StoreFailure): string {
  return title ?? storeTitle;
}

/** The end in a few words, of what had that title. */
export function endTitleOf(title: string): string {
  return title === storeTitle ? 'the store works again' : 'replicas do all the work again';
}

/** What failed since the store was opened. */
export interface StoreTrouble {
  /** Reads and writes. */
  readonly failures: number;
  readonly newest: StoreFailure | null;
  /** Whether what failed has succeeded since. */
  readonly isOver: boolean;
}

/** A new, empty store that a process began with after the one of the process before it failed. */
export interface NewStore {
  /** Emergency stops of the lost store that are in force in it. */
  readonly stops: number;
  /** Others that are not known. */
  readonly more: number;
}

/** What is not known any more, in sentences. */
export function newStoreText({ stops, more }: NewStore): string {
  const what =
    stops === 0 ? 'its earlier actions, its silences and any emergency stop' : 'its earlier actions and silences';
  const begun = `Warmwarden started with a new, empty store: it no longer knows ${what}.`;
  if (stops === 0) return begun;
  const kept = stops === 1 ? 'the emergency stop that was' : `the ${stops} emergency stops that were`;
  const others = more === 0 ? '' : ` It could not restore ${more} more: set them again.`;
  return `${begun} It restored ${kept} in force.${others}`;
}

/** That people were notified that the store fails. */
export interface NotifiedOutage {
  /** As it was announced. When it began to fire names the outage. */
  readonly alert: Alert;
  /** The channels that took it. */
  readonly notified: readonly string[];
  /** Absent: the store is still the one that failed. */
  readonly newStore?: NewStore;
}
