// The gauges of many items, kept as compressed blocks of items: a scrape renders only blocks in which an item changed, and of
// them only the series whose values are no longer the same.
import { createPacer, type Pacer } from '../../world/world.ts';
import { type Piece, pieceOf } from './piece.ts';
import { type FamilyHead, headText, type Labels, labelText, numberText } from './text.ts';

/** Its help holds no quotes, so that it reads the same in both formats. */
export type Gauge = Pick<FamilyHead, 'name' | 'help'>;

/** A sample that each item may have. */
export interface Series<Item, Name extends string> {
  readonly gauge: Name;
  /** In addition to those of identityOf. As with identityOf, what a function returns changes only when items come or go. */
  readonly labels: Labels | ((item: Item) => Labels);
}

/** One for each series of a part. Null, undefined and NaN: no sample. */
export type Values = readonly (number | null | undefined)[];

/** Series that are made of the same facts about an item. Several parts may have series of one gauge. */
export interface Part<Item, Name extends string> {
  readonly series: readonly Series<Item, Name>[];
  /** Equal facts give equal values. Absent where the values are as quick to make as the facts. */
  readonly factsOf?: (item: Item) => readonly unknown[];
  readonly valuesOf: (item: Item) => Values;
  /** The values take long to make: they are kept, and made again only when their item changed. */
  readonly kept?: true;
}

/** Where items come from. They are immutable: one that changed is another object. */
export interface Source<Item, Name extends string> {
  readonly gauges: Readonly<Record<Name, Gauge>>;
  /** Always in the same order. */
  readonly items: () => Iterable<Item>;
  readonly keyOf: (item: Item) => string;
  /** A whole number. Items that have similar ones are likely to change between the same two scrapes. */
  readonly orderOf: (item: Item) => number;
  /** The labels that all samples of an item begin with, at least one; they change only when items come or go. */
  readonly identityOf: (item: Item) => Labels;
  readonly parts: readonly Part<Item, Name>[];
}

interface Slot<Item, Name extends string> {
  item: Item;
  identity: string;
  block: Block<Item, Name>;
  /** The values of the parts that are kept, one part after the other; NaN: no sample. */
  readonly kept: number[];
}

interface Block<Item, Name extends string> {
  slots: Slot<Item, Name>[];
  /** To be rendered again. */
  stale: Set<Column<Item, Name>>;
  /** None where no item has a sample. */
  readonly pieces: Map<Column<Item, Name>, Piece>;
}

/** With smaller blocks, fewer unchanged items are rendered, but the fixed cost of each compression weighs more. */
const itemsPerBlock = 256;
/** So many blocks get a new layout for one scrape: each of them is rendered as a whole. */
const blocksALayout = 64;
/** It has to save as much as that takes, and the next one of these blocks twice as much, because it may not help. */
const layoutCosts = { first: 1, most: 8 } as const;
/** The loop belongs to others after so much work. */
const sliceMs = 2;

/** A series. */
interface Column<Item, Name extends string> {
  readonly name: Name;
  /** Where its value stands among the values of its part. */
  readonly at: number;
  /** What its lines begin with, before the identity. */
  readonly begin: string;
  /** What follows the identity, up to the value. */
  readonly endOf: (item: Item) => string;
}

/** A part and its columns. */
interface Laid<Item, Name extends string> {
  readonly part: Part<Item, Name>;
  readonly columns: readonly Column<Item, Name>[];
  /** Where its values begin in a slot's `kept`; null: they are not kept. */
  readonly keptFrom: number | null;
}

/** How blocks are rendered. */
interface Rendering {
  readonly overwrites: boolean;
  readonly pacer: Pacer;
}

export class BlockCache<Item, Name extends string> {
  readonly #source: Source<Item, Name>;
  readonly #parts: readonly Laid<Item, Name>[];
  /** In the order of the gauges. */
  readonly #columns: readonly Column<Item, Name>[];
  readonly #keptValues: number;
  /** HELP and TYPE of each gauge. */
  readonly #heads: ReadonlyMap<Name, Piece>;
  /** In the source's order. */
  #slots: Slot<Item, Name>[] = [];
  /** In the order of sending: items that change together stand together. */
  #blocks: Block<Item, Name>[] = [];
  /** Columns of items that changed for this scrape. */
  #changes = 0;
  /** Columns of items rendered since the last layout only because they stand beside one that changed. */
  #needless = 0;
  /** The next block to get a new layout. */
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
   * The pieces of all gauges as the source has them now. `overwrites`: nobody needs the ones from before any more. Yields the event
   * loop; not to be called while it runs.
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

  /** Items came or went: those that stay keep their blocks, newcomers fill the last one. */
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

  /** Puts the items of some blocks in order, once what was rendered beside changes would have paid for that. */
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

  /** New blocks of the same items. Their numbers are sorted, which are far fewer than they. */
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
      // Compressing is most of the work, and each buffer may make V8 collect garbage for some milliseconds.
      if (pacer.due()) await pacer.turn();
    }
  }
}

interface Valued<Item, Name extends string> {
  readonly slot: Slot<Item, Name>;
  readonly values: Values;
  /** Where those of the part begin. */
  readonly from: number;
}

/** The lines of a column. Rows in the inner loop: where little is polled, V8 never compiles this, and pays for each pair of `entries()`. */
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

/** A slot's values of a part, and where they begin. */
function valuesIn<Item, Name extends string>(slot: Slot<Item, Name>, { part, keptFrom }: Laid<Item, Name>) {
  return keptFrom === null ? { values: part.valuesOf(slot.item), from: 0 } : { values: slot.kept, from: keptFrom };
}

/** Keeps a slot's values of a part whose values are kept. */
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

/** The same text in one piece: V8 would keep the parts that it was joined from for as long as the text. */
const inOnePiece = (text: string) => Buffer.from(text).toString();

const numberOf = (value: number | null | undefined) => value ?? Number.NaN;

const areSame = (facts: readonly unknown[], others: readonly unknown[]) =>
  facts.length === others.length && facts.every((fact, index) => Object.is(fact, others[index]));
