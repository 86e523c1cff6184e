// Caches the gauges of many items as compressed blocks of items. A scrape renders only the series whose values changed,
// in the blocks that hold a changed item.
import { createPacer, type Pacer } from '../../world/world.ts';
import { type Piece, pieceOf } from './piece.ts';
import { type FamilyHead, headText, type Labels, labelText, numberText } from './text.ts';

/** Name and help of a gauge. The help contains no quotes, so it reads the same in both formats. */
export type Gauge = Pick<FamilyHead, 'name' | 'help'>;

/** Sample that each item may have. */
export interface Series<Item, Name extends string> {
  readonly gauge: Name;
  /**
   * Labels besides those of identityOf. The result of a function changes only when items are added or removed, as with
   * identityOf.
   */
  readonly labels: Labels | ((item: Item) => Labels);
}

/** Values for the series of a part, in order. A null, undefined or NaN gives no sample. */
export type Values = readonly (number | null | undefined)[];

/** Series that derive from the same facts about an item. Several parts may have series of one gauge. */
export interface Part<Item, Name extends string> {
  readonly series: readonly Series<Item, Name>[];
  /**
   * Returns the facts that the values derive from: equal facts give equal values. Absent if the values are as cheap to
   * compute as the facts.
   */
  readonly factsOf?: (item: Item) => readonly unknown[];
  readonly valuesOf: (item: Item) => Values;
  /** Marks values that take long to compute: they are kept until their item changes. */
  readonly kept?: true;
}

/** Source of the items. An item is immutable: after a change, it is another object. */
export interface Source<Item, Name extends string> {
  readonly gauges: Readonly<Record<Name, Gauge>>;
  /** Returns the items, always in the same order. */
  readonly items: () => Iterable<Item>;
  readonly keyOf: (item: Item) => string;
  /** Returns a whole number. Items with similar numbers are likely to change between the same two scrapes. */
  readonly orderOf: (item: Item) => number;
  /**
   * Returns the labels that begin all samples of an item, at least one. They change only when items are added or
   * removed.
   */
  readonly identityOf: (item: Item) => Labels;
  readonly parts: readonly Part<Item, Name>[];
}

interface Slot<Item, Name extends string> {
  item: Item;
  identity: string;
  block: Block<Item, Name>;
  /** Values of the parts that are kept, one part after the other; NaN gives no sample. */
  readonly kept: number[];
}

interface Block<Item, Name extends string> {
  slots: Slot<Item, Name>[];
  /** Columns to render again. */
  stale: Set<Column<Item, Name>>;
  /** Compressed text by column; a column without samples has no piece. */
  readonly pieces: Map<Column<Item, Name>, Piece>;
}

/**
 * Items in a block. Smaller blocks render fewer unchanged items, but the fixed cost of each compression weighs more.
 */
const itemsPerBlock = 256;
/** Number of blocks that get a new layout in one scrape. Each of them is rendered as a whole. */
const blocksALayout = 64;
/**
 * Price of a layout, in full renderings of its blocks that would have been saved. The price doubles for the next layout
 * of the same blocks, up to `most`, because a layout may not help.
 */
const layoutCosts = { first: 1, most: 8 } as const;
/** Maximum work before the event loop is yielded, milliseconds. */
const sliceMs = 2;

/** Series prepared for rendering. */
interface Column<Item, Name extends string> {
  readonly name: Name;
  /** Index of the value among the values of the part. */
  readonly at: number;
  /** Beginning of each line, before the identity. */
  readonly begin: string;
  /** Returns the text between the identity and the value. */
  readonly endOf: (item: Item) => string;
}

/** Part with its columns. */
interface Laid<Item, Name extends string> {
  readonly part: Part<Item, Name>;
  readonly columns: readonly Column<Item, Name>[];
  /** Index of the first value of the part in a slot's `kept`, or null if its values are not kept. */
  readonly keptFrom: number | null;
}

/** Options of rendering. */
interface Rendering {
  readonly overwrites: boolean;
  readonly pacer: Pacer;
}

export class BlockCache<Item, Name extends string> {
  readonly #source: Source<Item, Name>;
  readonly #parts: readonly Laid<Item, Name>[];
  /** Columns in the order of the gauges. */
  readonly #columns: readonly Column<Item, Name>[];
  readonly #keptValues: number;
  /** HELP and TYPE of each gauge. */
  readonly #heads: ReadonlyMap<Name, Piece>;
  /** Slots in the order of the source. */
  #slots: Slot<Item, Name>[] = [];
  /** Blocks in the order of sending. A layout puts items that change together into one block. */
  #blocks: Block<Item, Name>[] = [];
  /** Number of values that changed for this scrape, one for each item and column. */
  #changes = 0;
  /**
   * Number of unchanged values, less the price of each layout, that were rendered only because their block held a
   * changed one.
   */
  #needless = 0;
  /** Index of the next block to get a new layout. */
  #nextLayout = 0;
  #layoutCost: number = layoutCosts.first;

  constructor(source: Source<Item, Name>) {
    this.#source = source;
    let kept = 0;
    this.#parts = source.parts.map((part) => {
      const keptFrom = part.kept ? kept : null;
      if (part.kept) kept += part.series.length;
      return {
        part,
        columns: part.series.map((series, at) => columnOf(series, source.gauges[series.gauge], at)),
        keptFrom,
      };
    });
    this.#keptValues = kept;
    const names = Object.keys(source.gauges) as Name[];
    const columns = this.#parts.flatMap((laid) => laid.columns);
    this.#columns = names.flatMap((name) => columns.filter((column) => column.name === name));
    const headOf = (name: Name) => pieceOf(headText({ ...source.gauges[name], type: 'gauge' }, 'text'));
    this.#heads = new Map(names.map((name) => [name, headOf(name)]));
  }

  /**
   * Returns the pieces of all gauges in the current state of the source. `overwrites` is true if the pieces of earlier
   * calls are no longer needed. Yields the event loop; calls must not overlap.
   */
  async pieces(overwrites = false): Promise<readonly Piece[]> {
    const pacer = createPacer(sliceMs);
    this.#changes = 0;
    if (!(await this.#takeChanges(pacer))) await this.#regroup(pacer);
    await this.#arrange(pacer);
    for (const block of this.#blocks) {
      for (const laid of this.#parts) {
        if (!laid.columns.some((column) => block.stale.has(column))) continue;
        await this.#render(block, laid, { overwrites, pacer });
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

  /**
   * Compares the source with the slots and applies changed items. Returns false once an item was added, removed or
   * moved.
   */
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
    for (const laid of this.#parts) {
      const { part, columns } = laid;
      if (part.factsOf && areSame(part.factsOf(slot.item), part.factsOf(item))) continue;
      const { values, from } = valuesIn(slot, laid);
      const are = part.valuesOf(item);
      for (const column of columns)
        if (!Object.is(numberOf(values[from + column.at]), numberOf(are[column.at]))) this.#spoil(slot, column);
      keep(slot, laid, are);
    }
    slot.item = item;
  }

  #spoil(slot: Slot<Item, Name>, column: Column<Item, Name>): void {
    slot.block.stale.add(column);
    this.#changes += 1;
  }

  #spoilAll(slot: Slot<Item, Name>): void {
    for (const column of this.#columns) this.#spoil(slot, column);
  }

  /** Adds and removes items: remaining items keep their blocks, new ones fill the last block. */
  async #regroup(pacer: Pacer): Promise<void> {
    const { items, keyOf, identityOf } = this.#source;
    const known = new Map<string, Slot<Item, Name>>();
    for (const slot of this.#slots) {
      known.set(keyOf(slot.item), slot);
      if (pacer.due()) await pacer.turn();
    }
    const placed = new Map<string, Slot<Item, Name>>();
    for (const item of items()) {
      const identity = inOnePiece(labelText(identityOf(item)));
      const slot = known.get(keyOf(item)) ?? placed.get(keyOf(item)) ?? this.#newSlot(item, identity);
      if (slot.item !== item) this.#change(slot, item);
      if (slot.identity !== identity) this.#spoilAll(slot);
      slot.identity = identity;
      placed.set(keyOf(item), slot);
      known.delete(keyOf(item));
      if (pacer.due()) await pacer.turn();
    }
    const gone = new Set(known.values());
    for (const block of new Set([...gone].map((slot) => slot.block))) {
      if (pacer.due()) await pacer.turn();
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
    const kept = new Array<number>(this.#keptValues).fill(Number.NaN);
    const slot = { item, identity, block, kept };
    for (const laid of this.#parts) if (laid.part.kept) keep(slot, laid, laid.part.valuesOf(item));
    block.slots.push(slot);
    this.#spoilAll(slot);
    return slot;
  }

  /** Sorts the items of some blocks once the needless rendering would have paid for it. */
  async #arrange(pacer: Pacer): Promise<void> {
    for (const { stale, slots } of this.#blocks) this.#needless += stale.size * slots.length;
    this.#needless -= this.#changes;
    if (this.#nextLayout >= this.#blocks.length) this.#nextLayout = 0;
    const some = this.#blocks.slice(this.#nextLayout, this.#nextLayout + blocksALayout);
    const items = some.reduce((sum, { slots }) => sum + slots.length, 0);
    const price = this.#layoutCost * this.#columns.length * items;
    if (items === 0 || this.#needless < price) return;
    this.#needless -= price;
    const blocks = await this.#inOrder(some, pacer);
    this.#blocks.splice(this.#nextLayout, blocksALayout, ...blocks);
    this.#nextLayout += blocks.length;
    if (this.#nextLayout < this.#blocks.length) return;
    this.#layoutCost = Math.min(layoutCosts.most, 2 * this.#layoutCost);
  }

  /** Returns new blocks of the same items. Sorts the order numbers, which are far fewer than the items. */
  async #inOrder(blocks: readonly Block<Item, Name>[], pacer: Pacer): Promise<readonly Block<Item, Name>[]> {
    const byNumber = new Map<number, Slot<Item, Name>[]>();
    for (const slot of blocks.flatMap(({ slots }) => slots)) {
      const number = this.#source.orderOf(slot.item);
      const together = byNumber.get(number);
      if (together) together.push(slot);
      else byNumber.set(number, [slot]);
      if (pacer.due()) await pacer.turn();
    }
    const slots = [...byNumber].sort(([a], [b]) => a - b).flatMap(([, together]) => together);
    const ordered: Block<Item, Name>[] = [];
    for (let from = 0; from < slots.length; from += itemsPerBlock) {
      const block: Block<Item, Name> = {
        slots: slots.slice(from, from + itemsPerBlock),
        stale: new Set(this.#columns),
        pieces: new Map(),
      };
      for (const slot of block.slots) slot.block = block;
      ordered.push(block);
      if (pacer.due()) await pacer.turn();
    }
    return ordered;
  }

  /** Renders the stale columns of a part. */
  async #render(block: Block<Item, Name>, laid: Laid<Item, Name>, { overwrites, pacer }: Rendering): Promise<void> {
    const stale = laid.columns.filter((column) => block.stale.has(column));
    const rows = block.slots.map((slot) => ({ slot, ...valuesIn(slot, laid) }));
    for (const column of stale) {
      const text = linesOf(column, rows);
      if (text === '') block.pieces.delete(column);
      else block.pieces.set(column, pieceOf(text, overwrites ? block.pieces.get(column) : undefined));
      block.stale.delete(column);
      // Compression is most of the work, and each buffer may trigger some milliseconds of garbage collection in V8.
      if (pacer.due()) await pacer.turn();
    }
  }
}

interface Valued<Item, Name extends string> {
  readonly slot: Slot<Item, Name>;
  readonly values: Values;
  /** Index of the first value of the part. */
  readonly from: number;
}

/**
 * Returns the lines of a column. A plain loop over rows avoids `entries()`: with little polling V8 never compiles this
 * function, and each pair would cost.
 */
function linesOf<Item, Name extends string>(
  { at, begin, endOf }: Column<Item, Name>,
  rows: readonly Valued<Item, Name>[],
): string {
  let lines = '';
  for (const { slot, values, from } of rows) {
    const value = numberOf(values[from + at]);
    if (!Number.isNaN(value)) lines += `${begin}${slot.identity}${endOf(slot.item)}${numberText(value)}\n`;
  }
  return lines;
}

/** Returns the values that hold a slot's values of a part, and the index of the first one. */
function valuesIn<Item, Name extends string>(slot: Slot<Item, Name>, { part, keptFrom }: Laid<Item, Name>) {
  return keptFrom === null ? { values: part.valuesOf(slot.item), from: 0 } : { values: slot.kept, from: keptFrom };
}

/** Stores a slot's values of a part if the part's values are kept. */
function keep<Item, Name extends string>(slot: Slot<Item, Name>, { keptFrom }: Laid<Item, Name>, values: Values): void {
  if (keptFrom === null) return;
  for (const [at, value] of values.entries()) slot.kept[keptFrom + at] = numberOf(value);
}

function columnOf<Item, Name extends string>(
  { gauge, labels }: Series<Item, Name>,
  { name }: Gauge,
  at: number,
): Column<Item, Name> {
  const endWith = (own: Labels) => {
    const text = labelText(own);
    return text === '' ? '} ' : `,${text}} `;
  };
  const column = { name: gauge, at, begin: `${name}{` };
  if (typeof labels === 'function') return { ...column, endOf: (item) => endWith(labels(item)) };
  const end = endWith(labels);
  return { ...column, endOf: () => end };
}

/** Copies a text into one flat string. V8 would otherwise keep the strings that the text was joined from. */
const inOnePiece = (text: string) => Buffer.from(text).toString();

const numberOf = (value: number | null | undefined) => value ?? Number.NaN;

const areSame = (facts: readonly unknown[], others: readonly unknown[]) =>
  facts.length === others.length && facts.every((fact, index) => Object.is(fact, others[index]));
