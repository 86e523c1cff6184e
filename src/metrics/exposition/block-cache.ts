// The gauges of many items, kept as compressed blocks of 64 items: a scrape renders only blocks in which an item changed, and
// of them only the gauges whose samples are no longer the same.
import { createPacer, type Pacer } from '../../world.ts';
import { type Piece, pieceOf } from './piece.ts';
import { type FamilyHead, headText, type Labels, labelText, sampleLine } from './text.ts';

/** Its help holds no quotes, so that it reads the same in both formats. */
export type Gauge = Pick<FamilyHead, 'name' | 'help'>;

export interface ItemSample<Name extends string> {
  readonly gauge: Name;
  /** Besides those of identityOf. */
  readonly labels: Labels;
  readonly value: number;
}

/** Samples that are made of the same facts about an item. Several parts may have samples of one gauge. */
export interface Part<Item, Name extends string> {
  readonly gauges: readonly Name[];
  /** Equal facts, one by one, give equal samples. */
  readonly factsOf: (item: Item) => readonly unknown[];
  readonly samplesOf: (item: Item) => Iterable<ItemSample<Name>>;
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
  readonly parts: readonly Part<Item, Name>[];
}

interface Slot<Item, Name extends string> {
  item: Item;
  identity: string;
  block: Block<Item, Name>;
  /** The number of the round in which it changed last. */
  changedIn: number;
}

interface Block<Item, Name extends string> {
  slots: Slot<Item, Name>[];
  /** What is to be rendered again. */
  stale: Set<Column<Item, Name>>;
  /** None where no item has a sample. */
  readonly pieces: Map<Column<Item, Name>, Piece>;
}

const itemsPerBlock = 64;
/** Another layout renders everything once: it has to be worth more than that. */
const layoutCost = 4;
/** The loop belongs to others after so much work. */
const sliceMs = 2;

/** The samples of one gauge that a part has. */
interface Column<Item, Name extends string> {
  readonly part: Part<Item, Name>;
  readonly name: Name;
}

export class BlockCache<Item, Name extends string> {
  readonly #source: Source<Item, Name>;
  /** In the order of the gauges. */
  readonly #columns: readonly Column<Item, Name>[];
  /** HELP and TYPE of each gauge. */
  readonly #heads: ReadonlyMap<Name, Piece>;
  /** In the source's order. */
  #slots: Slot<Item, Name>[] = [];
  /** In the order of sending: items that change together stand together. */
  #blocks: Block<Item, Name>[] = [];
  #round = 0;
  /** Columns of items that changed in this round. */
  #changes = 0;
  /** Columns of items rendered since the last layout only because they stand beside one that changed. */
  #needless = 0;

  constructor(source: Source<Item, Name>) {
    this.#source = source;
    const names = Object.keys(source.gauges) as Name[];
    this.#columns = names.flatMap((name) =>
      source.parts.filter(({ gauges }) => gauges.includes(name)).map((part) => ({ part, name })),
    );
    const headOf = (name: Name) => pieceOf(headText({ ...source.gauges[name], type: 'gauge' }, 'text'));
    this.#heads = new Map(names.map((name) => [name, headOf(name)]));
  }

  /** The pieces of all gauges as the source has them now. Yields the event loop; not to be called while it runs. */
  async pieces(): Promise<readonly Piece[]> {
    const pacer = createPacer(sliceMs, 'patient');
    this.#round += 1;
    this.#changes = 0;
    if (!(await this.#takeChanges(pacer))) await this.#regroup(pacer);
    if (this.#isScattered()) this.#arrange(this.#slots.toSorted((a, b) => a.changedIn - b.changedIn));
    for (const block of this.#blocks) {
      for (const part of new Set([...block.stale].map(({ part }) => part))) {
        this.#render(block, part);
        if (pacer.due()) await pacer.turn();
      }
    }
    const headed = new Set<Name>();
    const all: Piece[] = [];
    for (const column of this.#columns) {
      const { name } = column;
      const ofColumn = this.#blocks.flatMap(({ pieces }) => pieces.get(column) ?? []);
      const head = headed.has(name) || ofColumn.length === 0 ? undefined : this.#heads.get(name);
      if (head) headed.add(name);
      all.push(...(head ? [head] : []), ...ofColumn);
      if (pacer.due()) await pacer.turn();
    }
    return all;
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

  #change(slot: Slot<Item, Name>, item: Item): void {
    const before = slot.item;
    slot.item = item;
    for (const part of this.#source.parts) {
      if (areSame(part.factsOf(before), part.factsOf(item))) continue;
      const [were, are] = [valuesOf(part.samplesOf(before)), valuesOf(part.samplesOf(item))];
      for (const column of this.#columnsOf(part))
        if (were.get(column.name) !== are.get(column.name)) this.#spoil(slot, column);
    }
  }

  #spoil(slot: Slot<Item, Name>, column: Column<Item, Name>): void {
    slot.changedIn = this.#round;
    slot.block.stale.add(column);
    this.#changes += 1;
  }

  #spoilAll(slot: Slot<Item, Name>): void {
    for (const column of this.#columns) this.#spoil(slot, column);
  }

  /** Items came or went: those that stay keep their blocks, newcomers fill the last one. */
  async #regroup(pacer: Pacer): Promise<void> {
    const { items, keyOf, identityOf, regrouped } = this.#source;
    await regrouped(pacer);
    const known = new Map(this.#slots.map((slot) => [keyOf(slot.item), slot]));
    const placed = new Map<string, Slot<Item, Name>>();
    for (const item of items()) {
      const identity = labelText(identityOf(item));
      const slot = known.get(keyOf(item)) ?? placed.get(keyOf(item)) ?? this.#newSlot(item, identity);
      if (slot.item !== item) this.#change(slot, item);
      if (slot.identity !== identity) this.#spoilAll(slot);
      slot.identity = identity;
      placed.set(keyOf(item), slot);
      known.delete(keyOf(item));
      if (pacer.due()) await pacer.turn();
    }
    const gone = new Set(known.values());
    for (const { block } of gone) {
      block.slots = block.slots.filter((slot) => !gone.has(slot));
      block.stale = new Set(this.#columns);
    }
    this.#slots = [...placed.values()];
    this.#blocks = this.#blocks.filter(({ slots }) => slots.length > 0);
  }

  #newSlot(item: Item, identity: string): Slot<Item, Name> {
    let block = this.#blocks.at(-1);
    if (block === undefined || block.slots.length >= itemsPerBlock) {
      block = { slots: [], stale: new Set(), pieces: new Map() };
      this.#blocks.push(block);
    }
    const slot = { item, identity, block, changedIn: this.#round };
    block.slots.push(slot);
    this.#spoilAll(slot);
    return slot;
  }

  #columnsOf(part: Part<Item, Name>): readonly Column<Item, Name>[] {
    return this.#columns.filter((column) => column.part === part);
  }

  /** Whether what was rendered beside changes since the last layout would have paid for another one. */
  #isScattered(): boolean {
    for (const { stale, slots } of this.#blocks) this.#needless += stale.size * slots.length;
    this.#needless -= this.#changes;
    return this.#needless >= layoutCost * this.#columns.length * this.#slots.length;
  }

  #arrange(slots: readonly Slot<Item, Name>[]): void {
    this.#needless = 0;
    this.#blocks = [];
    for (let from = 0; from < slots.length; from += itemsPerBlock) {
      const block: Block<Item, Name> = {
        slots: slots.slice(from, from + itemsPerBlock),
        stale: new Set(this.#columns),
        pieces: new Map(),
      };
      for (const slot of block.slots) slot.block = block;
      this.#blocks.push(block);
    }
  }

  /** Renders the stale columns of a part. */
  #render(block: Block<Item, Name>, part: Part<Item, Name>): void {
    const stale = [...block.stale].filter((column) => column.part === part);
    const texts = this.#textsOf(part, new Set(stale.map(({ name }) => name)), block.slots);
    for (const column of stale) {
      const text = texts.get(column.name);
      if (text === undefined) block.pieces.delete(column);
      else block.pieces.set(column, pieceOf(text));
      block.stale.delete(column);
    }
  }

  #textsOf(
    part: Part<Item, Name>,
    names: ReadonlySet<Name>,
    slots: readonly Slot<Item, Name>[],
  ): ReadonlyMap<Name, string> {
    const texts = new Map<Name, string>();
    for (const { item, identity } of slots) {
      for (const { gauge, labels, value } of part.samplesOf(item)) {
        if (!names.has(gauge)) continue;
        const own = labelText(labels);
        const line = sampleLine(this.#source.gauges[gauge].name, own === '' ? identity : `${identity},${own}`, value);
        texts.set(gauge, (texts.get(gauge) ?? '') + line);
      }
    }
    return texts;
  }
}

/** What is written of the samples of each gauge. */
function valuesOf<Name extends string>(samples: Iterable<ItemSample<Name>>): ReadonlyMap<Name, string> {
  const values = new Map<Name, string>();
  for (const { gauge, labels, value } of samples)
    values.set(gauge, (values.get(gauge) ?? '') + sampleLine('', labelText(labels), value));
  return values;
}

const areSame = (facts: readonly unknown[], others: readonly unknown[]) =>
  facts.length === others.length && facts.every((fact, index) => Object.is(fact, others[index]));
