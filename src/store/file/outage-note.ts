// A note beside the store that people were notified that it fails: the store itself may take nothing then, and the process that
// finds it working again tells them that it does.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import type { NotifiedOutage } from '../../model/store-failure.ts';
import { create, noteOf } from './place.ts';

/** Used while there is space, and from then on written over in place: a full disk takes the note too. */
const reservedBytes = 8192;

export class OutageNote {
  readonly #path: string;

  /** Of the store in the file. */
  constructor(file: string) {
    this.#path = noteOf(file);
    if (this.#text().trim() === '') this.#put('');
  }

  /** null when there is none that can be read. */
  read(): NotifiedOutage | null {
    try {
      const { alert, notified } = JSON.parse(this.#text());
      return isAlert(alert) && Array.isArray(notified) ? { alert, notified } : null;
    } catch {
      return null;
    }
  }

  /** False when it can't be written. It survives the process, not the machine: waiting for a disk that hangs would stop the guard. */
  write(outage: NotifiedOutage): boolean {
    return this.#put(JSON.stringify(outage));
  }

  remove(): void {
    this.#put('');
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }

  #put(text: string): boolean {
    const bytes = Buffer.from(text.padEnd(reservedBytes));
    try {
      create(this.#path);
      writeFileSync(this.#path, bytes, { flag: 'r+' });
      truncateSync(this.#path, bytes.length);
      return true;
    } catch {
      return false;
    }
  }
}

/** Enough of an alert to be shown and recorded: half of one would fail every write that takes it over. */
function isAlert({ fingerprint, account, since, firingAt, facts }: Record<string, unknown>): boolean {
  const texts = [fingerprint, account].every((text) => typeof text === 'string');
  return (
    texts && [since, firingAt].every((at) => typeof at === 'number') && typeof facts === 'object' && facts !== null
  );
}
