// The gauges of many items, kept as compressed blocks of 64 items: a scrape renders only blocks in which an item changed.
import { createPacer, type Pacer } from '../../world.ts';
import { type Piece, pieceOf, pieceOrSame } from './piece.ts';
import { type FamilyHead, headText, type Labels, labelText, sampleLine } from './text.ts';

/** Its help holds no quotes, so that it reads the same in both formats. */
export type Gauge = Pick<FamilyHead, 'name' | 'help'>;

export interface ItemSample<Name extends string> {
  readonly gauge: Name;
  /** Besides those of identityOf. */
  readonly labels: Labels;
  readonly value: number;
}

/** Where items come from. They are immutable: one that changed is another object. */
export interface Source<Item, Name extends string> {
  readonly gauges: Readonly<Record<Name, Gauge>>;
  /** Always in the same order. */
  readonly items: () => Iterable<Item>;
  readonly keyOf: (item: Item) => string;
  /** Called when items came or went, before any identity is asked for. */
  readonly regrouped: (pacer: Pacer) => Promise<void>;
  /** The labels that all samples of an item begin with; they change only when items come or go. */
  readonly identityOf: (item: Item) => Labels;
  readonly samplesOf: (item: Item) => Iterable<ItemSample<Name>>;
}

interface Slot<Item> {
  item: Item;
  identity: string;
  block: Block<Item>;
  /** The number of the round in which it changed last. */
  changedIn: number;
}

interface Block<Item> {
  slots: Slot<Item>[];
  stale: boolean;
  /** One a gauge, in the order of the gauges; undefined where no item has a sample. */
  pieces: (Piece | undefined)[];
}

const itemsPerBlock = 64;
/** The loop belongs to others after so much work. */
const sliceMs = 2;

export class BlockCache<Item, Name extends string> {
  readonly #source: Source<Item, Name>;
  readonly #names: readonly Name[];
  /** HELP and TYPE of each gauge. */
  readonly #heads: readonly Piece[];
  /** In the source's order. */
  #slots: Slot<Item>[] = [];
  /** In the order of sending: items that change together stand together. */
  #blocks: Block<Item>[] = [];
  #round = 0;
  /** Items rendered since the last layout only because they stand beside one that changed. */
  #needless = 0;

  constructor(source: Source<Item, Name>) {
    this.#source = source;
    this.#names = Object.keys(source.gauges) as Name[];
    const gauges: readonly Gauge[] = Object.values(source.gauges);
    this.#heads = gauges.map((gauge) => pieceOf(headText({ ...gauge, type: 'gauge' }, 'text')));
  }

  /** The pieces of all gauges as the source has them now. Yields the event loop; not to be called while it runs. */
  async pieces(): Promise<readonly Piece[]> {
    const pacer = createPacer(sliceMs);
    this.#round += 1;
    if (!(await this.#takeChanges(pacer))) await this.#regroup(pacer);
    if (this.#isScattered()) this.#arrange(this.#slots.toSorted((a, b) => a.changedIn - b.changedIn));
    for (const block of this.#blocks) {
      if (block.stale) this.#render(block);
      if (pacer.due()) await pacer.turn();
    }
    return this.#heads.flatMap((head, index) => {
      const column = this.#blocks.flatMap(({ pieces }) => pieces[index] ?? []);
      return column.length === 0 ? [] : [head, ...column];
    });
  }

  /** Walks source and slots side by side. False as soon as they are not the same items. */
  async #takeChanges(pacer: Pacer): Promise<boolean> {
    let index = 0;
    for (const item of this.#source.items()) {
      const slot = this.#slots[index];
      if (slot?.item !== item) {
        if (slot === undefined || this.#source.keyOf(slot.item) !== this.#source.keyOf(item)) return false;
        this.#change(slot, item);
      }
      index += 1;
      if (pacer.due()) await pacer.turn();
    }
    return index === this.#slots.length;
  }

  #change(slot: Slot<Item>, item: Item): void {
    slot.item = item;
    slot.changedIn = this.#round;
    slot.block.stale = true;
  }

  /** Items came or went: those that stay keep their blocks, newcomers fill the last one. */
  async #regroup(pacer: Pacer): Promise<void> {
    const { items, keyOf, identityOf, regrouped } = this.#source;
    await regrouped(pacer);
    const known = new Map(this.#slots.map((slot) => [keyOf(slot.item), slot]));
    const placed = new Map<string, Slot<Item>>();
    for (const item of items()) {
      const identity = labelText(identityOf(item));
      const slot = known.get(keyOf(item)) ?? placed.get(keyOf(item)) ?? this.#newSlot(item, identity);
      if (slot.item !== item || slot.identity !== identity) this.#change(slot, item);
      slot.identity = identity;
      placed.set(keyOf(item), slot);
      known.delete(keyOf(item));
      if (pacer.due()) await pacer.turn();
    }
    const gone = new Set(known.values());
    for (const { block } of gone) {
      block.slots = block.slots.filter((slot) => !gone.has(slot));
      block.stale = true;
    }
    this.#slots = [...placed.values()];
    this.#blocks = this.#blocks.filter(({ slots }) => slots.length > 0);
  }

  #newSlot(item: Item, identity: string): Slot<Item> {
    let block = this.#blocks.at(-1);
    if (block === undefined || block.slots.length >= itemsPerBlock) {
      block = { slots: [], stale: true, pieces: [] };
      this.#blocks.push(block);
    }
    const slot = { item, identity, block, changedIn: this.#round };
    block.slots.push(slot);
    block.stale = true;
    return slot;
  }

  /** Whether what was rendered beside changes since the last layout would have paid for another one. */
  #isScattered(): boolean {
    for (const { stale, slots } of this.#blocks) if (stale) this.#needless += slots.length;
    for (const { changedIn } of this.#slots) if (changedIn === this.#round) this.#needless -= 1;
    return this.#needless >= this.#slots.length;
  }

  #arrange(slots: readonly Slot<Item>[]): void {
    this.#needless = 0;
    this.#blocks = [];
    for (let from = 0; from < slots.length; from += itemsPerBlock) {
      const block: Block<Item> = { slots: slots.slice(from, from + itemsPerBlock), stale: true, pieces: [] };
      for (const slot of block.slots) slot.block = block;
      this.#blocks.push(block);
    }
  }

  #render(block: Block<Item>): void {
    const { gauges, samplesOf } = this.#source;
    const texts: Partial<Record<Name, string>> = {};
    for (const { item, identity } of block.slots) {
      for (const { gauge, labels, value } of samplesOf(item)) {
        const own = labelText(labels);
        const line = sampleLine(gauges[gauge].name, own === '' ? identity : `${identity},${own}`, value);
        texts[gauge] = (texts[gauge] ?? '') + line;
      }
    }
    block.pieces = this.#names.map((name, index) => {
      const text = texts[name];
      return text === undefined ? undefined : pieceOrSame(text, block.pieces[index]);
    });
    block.stale = false;
  }
}
