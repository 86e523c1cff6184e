// A note beside the store for the next process: that people were notified that it fails, which emergency stops were in force, and
// whether the file was deleted or replaced. The store itself may take nothing then, and it may be another one at the next start.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import type { NotifiedOutage } from '../../core/store-failure.ts';
import { scopeKey, type WritesOff } from '../../core/write-scope.ts';
import { create, noteOf } from './place.ts';

/** Used while there is space, and from then on written over in place: a full disk takes the note too. */
const reservedBytes = 8192;

/** What the store was when it was deleted, replaced, cut short or overwritten under the process that had it open. */
export interface Replaced {
  /** Of the file: what its head may be marked with, and the stamp of its last content; null where that was overwritten. */
  readonly file: { readonly marks: readonly string[]; readonly stamp: string | null };
  /** The stamp of its WAL, which holds the newest writes; null: that is gone, too. */
  readonly wal: string | null;
}

/** What the last process left. Each part may be missing. */
export interface Left {
  readonly outage: Pick<NotifiedOutage, 'alert' | 'notified'> | null;
  /** null: it did not say. */
  readonly stops: readonly WritesOff[] | null;
  /** Emergency stops that did not fit. */
  readonly more: number;
  readonly replaced: Replaced | null;
  /** There is a note, and nothing can be read of it. */
  readonly unreadable?: true;
}

const nothing: Left = { outage: null, stops: null, more: 0, replaced: null };

/** What can be read of the note beside the store in the file. Never throws. */
export function leftBeside(file: string): Left {
  const text = textIn(noteOf(file));
  if (text.trim() === '') return nothing;
  try {
    const { alert, notified, stops, more, replaced } = JSON.parse(text);
    return {
      outage: isAlert(alert ?? {}) && Array.isArray(notified) ? { alert, notified } : null,
      stops: Array.isArray(stops) ? stops.filter(isStop) : null,
      more: typeof more === 'number' ? more : 0,
      replaced: isReplaced(replaced) ? replaced : null,
    };
  } catch {
    return { ...nothing, unreadable: true };
  }
}

/** Empty when it can't be read. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export class OutageNote {
  readonly #file: string;
  #left: Left;
  /** The last one could not be written. */
  #isOwed = false;

  /** Of the store in the file. */
  constructor(file: string) {
    this.#file = file;
    this.#left = leftBeside(file);
    if (this.#isEmpty) this.#put('');
  }

  /** That people were notified; null when nothing can be read of it. */
  read(): Left['outage'] {
    return leftBeside(this.#file).outage;
  }

  /** False when it can't be written. It survives the process, not the machine: waiting for a disk that hangs would stop the guard. */
  write({ alert, notified }: NotifiedOutage): boolean {
    return this.#keep({ outage: { alert, notified } });
  }

  /** The emergency stops in force while the store fails, at each look: the note may be gone since. null: it works. */
  keepStops(stops: readonly WritesOff[] | null): void {
    if (stops !== null || this.#left.stops !== null || this.#isOwed) this.#keep({ stops, more: 0 });
  }

  /** A person ended them, in a store that took it: at the next start they must not come back. `scopes`: as `scopeKey`. */
  endStops(scopes: readonly string[]): void {
    const { stops } = this.#left;
    const left = stops?.filter(({ scope }) => !scopes.includes(scopeKey(scope)));
    if (left && left.length !== stops?.length) this.#keep({ stops: left });
  }

  /** null: it is the file that it was. */
  keepReplaced(replaced: Replaced | null): void {
    if (JSON.stringify(replaced) !== JSON.stringify(this.#left.replaced)) this.#keep({ replaced });
  }

  /** The store is open, and what the last process left of it was heeded. People are still to be notified of the end. */
  heeded(): void {
    const { stops, replaced } = this.#left;
    if (stops !== null || replaced !== null) this.#keep({ stops: null, more: 0, replaced: null });
  }

  endOutage(): void {
    this.#keep({ outage: null });
  }

  get #isEmpty(): boolean {
    const { outage, stops, replaced } = this.#left;
    return outage === null && stops === null && replaced === null;
  }

  #keep(part: Partial<Left>): boolean {
    this.#left = { ...this.#left, ...part };
    return this.#put(this.#isEmpty ? '' : textOf(this.#left));
  }

  #put(text: string): boolean {
    const bytes = Buffer.from(text.padEnd(reservedBytes));
    const path = noteOf(this.#file);
    try {
      if (textIn(path) !== bytes.toString()) {
        create(path);
        writeFileSync(path, bytes, { flag: 'r+' });
        truncateSync(path, bytes.length);
      }
      this.#isOwed = false;
    } catch {
      this.#isOwed = true;
    }
    return !this.#isOwed;
  }
}

/** The emergency stops as far as they fit, the widest first. */
function textOf({ outage, stops, replaced }: Left): string {
  const width = { everything: 0, account: 1, mailbox: 2 };
  const sorted = stops?.toSorted((one, other) => width[one.scope.kind] - width[other.scope.kind]) ?? [];
  const rest = { ...outage, ...(replaced && { replaced }), ...(stops && { stops: [], more: sorted.length }) };
  let room = reservedBytes - Buffer.byteLength(JSON.stringify(rest));
  const fitting = sorted.filter((stop) => {
    room -= Buffer.byteLength(JSON.stringify(stop)) + 1;
    return room >= 0;
  });
  const more = sorted.length - fitting.length;
  return JSON.stringify({ ...rest, ...(stops && { stops: fitting, more }) });
}

/** Enough of an alert to be shown and recorded: half of one would fail every write that takes it over. */
function isAlert({ fingerprint, account, since, firingAt, facts }: Record<string, unknown>): boolean {
  const texts = [fingerprint, account].every((text) => typeof text === 'string');
  return (
    texts && [since, firingAt].every((at) => typeof at === 'number') && typeof facts === 'object' && facts !== null
  );
}

/** Half a stop would fail the start that puts it in force. */
function isStop(stop: Partial<WritesOff> | null): boolean {
  const { scope, since, until, by, reason } = stop ?? {};
  const isTimed = typeof since === 'number' && (until === null || typeof until === 'number');
  return isTimed && typeof by === 'string' && typeof reason === 'string' && isScope({ ...scope });
}

function isScope(scope: Readonly<Record<string, unknown>>): boolean {
  const named = { everything: [], account: ['account'], mailbox: ['account', 'mailboxId', 'email'] };
  const names = named[scope['kind'] as keyof typeof named] as readonly string[] | undefined;
  return names?.every((name) => typeof scope[name] === 'string') ?? false;
}

function isReplaced(replaced: Partial<Replaced> | null | undefined): replaced is Replaced {
  return Array.isArray(replaced?.file?.marks) && replaced.wal !== undefined;
}
