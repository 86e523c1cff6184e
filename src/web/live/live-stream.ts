// The stream of live pages: what changed on an address is found once for all its readers, and sent as the same bytes.

import { type Clock, inTurns, nextTurn, systemClock, type World } from '../../world/world.ts';
import { withoutCommands } from '../page/parts/command-links.ts';
import type { View } from '../page/parts/elements.ts';
import { LivePage, type Patch, type Trouble } from './live-page.ts';

/** Where the bytes of one reader go. */
export interface Sink {
  /** How many bytes its connection has not taken yet. */
  waiting(): number;
  send(bytes: Uint8Array): void;
  /** Ends it at once, whatever waits. */
  cut(): void;
  /** Whether it is shown commands. */
  readonly mayOperate: boolean;
  /** Whether whoever reads still may: a session ends, a token is removed. */
  mayStay(): Promise<boolean>;
}

export interface LiveLimits {
  readonly readers: number;
  /** Addresses that are remembered, with readers or without. */
  readonly addresses: number;
  /** Between two looks for what changed. */
  readonly tickMs: number;
  /** Without a change, readers hear at least this often that the picture is still of now. */
  readonly beatMs: number;
  /** What may wait for a reader that is slow: several whole pages. */
  readonly waitingBytes: number;
  /** A reader for whom something waits, and who takes nothing for so long, is cut. */
  readonly stallMs: number;
  /** However it reads: the kernel may take bytes for hours for a reader that has stopped. A page comes back by itself. */
  readonly lifeMs: number;
}

export const usualLimits: LiveLimits = {
  readers: 200,
  addresses: 400,
  tickMs: 1_000,
  beatMs: 15_000,
  waitingBytes: 512 * 1024,
  stallMs: 30_000,
  lifeMs: 3_600_000,
};

/** Looking for changes takes at most this share of the time: the more there is to compare, the rarer. */
const restPerWork = 9;
/** Each connection that is written to takes the event loop a tenth of a millisecond: so many are in one turn. */
const readersATurn = 16;

/** A read of a page that has not begun: who asks for the page meanwhile is brought up to date by it, too. */
interface Reading {
  readonly readers: Set<Reader>;
  readonly done: Promise<void>;
}

interface Reader {
  readonly sink: Sink;
  readonly address: string;
  readonly openedAt: number;
  /** The newest change that it has. */
  has: number;
  /** Bytes in all. */
  sent: number;
  /** How many of them its connection had taken when it last took any, and when that was. */
  taken: number;
  takenAt: number;
}

export interface LiveParts {
  readonly world: World;
  /** The page at an address of this server, not older than a revision; null where there is none any more. */
  readonly read: (address: string, least: number) => Promise<View | null>;
  /** Puts the path prefix in front of the addresses in HTML. */
  readonly prefixed: (html: string) => string;
  /** Grows whenever something may have changed. */
  readonly revision: () => number;
  readonly limits: LiveLimits;
}

const encoder = new TextEncoder();

export class LiveStream {
  readonly #parts: LiveParts;
  readonly #limits: LiveLimits;
  /** Browsers live in the machine's time, also where the daemon's clock is moved by hand. */
  readonly #clock: Clock = systemClock();
  readonly #pages = new Map<string, LivePage>();
  readonly #readers = new Set<Reader>();
  readonly #closing = new AbortController();
  /** Numbers of another process mean nothing here. */
  readonly #process: string;
  #number = 0;
  #loop: Promise<void> | null = null;
  #reading: Promise<void> = Promise.resolve();
  /** By address. */
  readonly #unread = new Map<string, Reading>();

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#process = Math.floor(parts.world.random() * 1e12).toString(36) + parts.world.clock.now().toString(36);
  }

  /** A page that is being sent to somebody: the id of the newest change that it has. */
  note(address: string, view: View): string {
    this.#update(address, view);
    return this.#idOf(this.#number);
  }

  get isFull(): boolean {
    return this.#readers.size >= this.#limits.readers;
  }

  /** Sends what changed on an address after `since`, the id that a page or an event had; what is unknown gets everything. */
  async open(address: string, since: string | null, sink: Sink): Promise<() => void> {
    const at = this.#clock.monotonic();
    const reader: Reader = { sink, address, openedAt: at, has: this.#numberOf(since), sent: 0, taken: 0, takenAt: at };
    this.#readers.add(reader);
    await this.#readFor(address, [reader], this.#parts.revision());
    this.#write(reader, this.#beat(address));
    this.#loop ??= this.#run();
    return () => void this.#readers.delete(reader);
  }

  /** Ends every reader. Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { sink } of this.#readers) sink.cut();
    this.#readers.clear();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { tickMs, beatMs } = this.#limits;
    let seen = -1;
    let beatAt = this.#clock.monotonic() + beatMs;
    let restMs = tickMs;
    while (this.#readers.size > 0 && !signal.aborted) {
      await this.#clock.sleep(restMs, signal);
      const begin = this.#clock.monotonic();
      const revision = this.#parts.revision();
      const isBeat = begin >= beatAt;
      // With each beat all is looked at: what time alone changes, and what only the store knows.
      await this.#look(revision, revision !== seen || isBeat);
      seen = revision;
      if (isBeat) {
        beatAt = begin + beatMs;
        const staying: Reader[] = [];
        for (const reader of this.#readers) {
          if (this.#isOver(reader, begin) || !(await reader.sink.mayStay())) this.#cut(reader);
          else staying.push(reader);
        }
        const due = [...Map.groupBy(staying, ({ address }) => address)].flatMap(([address, readers]) => {
          const bytes = this.#beat(address);
          return readers.map((reader) => [reader, bytes] as const);
        });
        await this.#writeAll(due);
      }
      restMs = Math.max(tickMs, (this.#clock.monotonic() - begin) * restPerWork);
    }
    this.#loop = null;
  }

  /** Every address that somebody looks at, or each that moves by itself, one after the other, all of them of one revision. */
  async #look(revision: number, everything: boolean): Promise<void> {
    const byAddress = Map.groupBy(this.#readers, ({ address }) => address);
    for (const [address, readers] of byAddress) {
      if (this.#closing.signal.aborted) return;
      if (!everything && !this.#pages.get(address)?.isMoving) continue;
      await this.#readFor(address, readers, revision);
    }
  }

  /** One page at a time: a view that was read earlier must not be taken in after a later one. */
  #readFor(address: string, readers: readonly Reader[], least: number): Promise<void> {
    const unread = this.#unread.get(address);
    if (unread) {
      for (const reader of readers) unread.readers.add(reader);
      return unread.done;
    }
    const asking = new Set(readers);
    const before = this.#reading;
    const done = (async () => {
      await before;
      // Where many pages are opened at once, what is left of one and the next would be one long work.
      await nextTurn('patient');
      this.#unread.delete(address);
      await this.#bringUpToDate(address, [...asking], least);
    })();
    this.#unread.set(address, { readers: asking, done });
    this.#reading = done;
    return done;
  }

  /** Never rejects. */
  async #bringUpToDate(address: string, readers: readonly Reader[], least: number): Promise<void> {
    try {
      const view = await this.#parts.read(address, least);
      if (!view) return this.#fails(address, 'gone');
      this.#update(address, view);
      await this.#sendTo(readers, view);
    } catch (error) {
      this.#fails(address, 'failed');
      this.#parts.world.log.error({ err: error, address }, 'a live page could not be updated');
    }
  }

  #update(address: string, view: View): void {
    const next = this.#number + 1;
    if (this.#page(address).update(view, next)) this.#number = next;
  }

  /** Its readers hear with the next beat that what they have is old. */
  #fails(address: string, trouble: Trouble): void {
    this.#page(address).trouble = trouble;
  }

  #page(address: string): LivePage {
    const page = this.#pages.get(address) ?? new LivePage();
    // Last in the order of the map: the one that was not looked at for longest goes first.
    this.#pages.delete(address);
    this.#pages.set(address, page);
    for (const [oldest] of this.#pages) {
      if (this.#pages.size <= this.#limits.addresses) break;
      this.#pages.delete(oldest);
    }
    return page;
  }

  /** The same bytes for all that lack the same. */
  async #sendTo(readers: readonly Reader[], view: View): Promise<void> {
    const due: [Reader, Uint8Array][] = [];
    const bytesSince = new Map<string, Uint8Array | null>();
    for (const reader of readers) {
      const { mayOperate } = reader.sink;
      const lacks = `${reader.has} ${mayOperate}`;
      let bytes = bytesSince.get(lacks);
      if (bytes === undefined) {
        const patch = this.#pages.get(reader.address)?.since(view, reader.has) ?? null;
        bytes = patch && this.#patch(patch, mayOperate);
        bytesSince.set(lacks, bytes);
      }
      reader.has = this.#number;
      if (bytes) due.push([reader, bytes]);
    }
    // Rendering the page was enough for one turn.
    if (due.length > 0) await nextTurn('patient');
    await this.#writeAll(due);
  }

  #writeAll(due: readonly (readonly [Reader, Uint8Array])[]): Promise<void> {
    const write = (some: typeof due) => {
      for (const [reader, bytes] of some) this.#write(reader, bytes);
    };
    return inTurns(due, write, { urgency: 'patient', size: readersATurn });
  }

  #patch({ title, pieces, lists }: Patch, mayOperate: boolean): Uint8Array {
    const shown = (html: string) => this.#parts.prefixed(mayOperate ? html : withoutCommands(html));
    const sent = Object.entries(pieces).map(([id, html]) => [id, shown(html)]);
    return this.#event('patch', { title, pieces: Object.fromEntries(sent), lists });
  }

  #beat(address: string): Uint8Array {
    const trouble = this.#pages.get(address)?.trouble ?? null;
    return this.#event('beat', trouble === null ? {} : { trouble });
  }

  #event(name: 'patch' | 'beat', fields: object): Uint8Array {
    const at = new Date(this.#parts.world.clock.now()).toISOString();
    const data = JSON.stringify({ at, ...fields });
    return encoder.encode(`id: ${this.#idOf(this.#number)}\nevent: ${name}\ndata: ${data}\n\n`);
  }

  /** A reader that does not take its bytes is cut: it comes back and gets what it lacks in one piece. */
  #write(reader: Reader, bytes: Uint8Array): void {
    if (!this.#readers.has(reader)) return;
    if (reader.sink.waiting() + bytes.byteLength <= this.#limits.waitingBytes) {
      reader.sent += bytes.byteLength;
      reader.sink.send(bytes);
      return;
    }
    this.#cut(reader);
  }

  /** Whether it has stopped reading, or had its place for long: others want it too. */
  #isOver(reader: Reader, now: number): boolean {
    const waiting = reader.sink.waiting();
    const taken = reader.sent - waiting;
    if (waiting === 0 || taken > reader.taken) {
      reader.taken = taken;
      reader.takenAt = now;
    }
    const { stallMs, lifeMs } = this.#limits;
    return now - reader.takenAt >= stallMs || now - reader.openedAt >= lifeMs;
  }

  #cut(reader: Reader): void {
    this.#readers.delete(reader);
    reader.sink.cut();
  }

  #idOf(number: number): string {
    return `${this.#process}-${number}`;
  }

  /** -1: what the reader has is unknown. */
  #numberOf(id: string | null): number {
    const [, process, number] = /^(\w+)-(\d{1,15})$/.exec(id ?? '') ?? [];
    return process === this.#process && Number(number) <= this.#number ? Number(number) : -1;
  }
}
