// What of one address changed since when: a digest and a number a piece, never the pieces themselves.
import { hash } from 'node:crypto';
import type { View } from '../page/parts/elements.ts';

/** What a reader lacks. */
export interface Patch {
  /** null: it is the same. */
  readonly title: string | null;
  readonly pieces: Readonly<Record<string, string>>;
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/** Why what a reader has can't be brought up to date. gone: nothing is at the address any more. failed: reading it failed. */
export type Trouble = 'gone' | 'failed';

interface Known {
  readonly digest: string;
  /** The number of the change that brought it. */
  readonly changedAt: number;
}

/** The text of a time is what the reader's script makes of it: only the moment counts. */
const timeText = /(<time\b[^>]*>)[^<]*/g;

export class LivePage {
  #pieces: ReadonlyMap<string, Known> = new Map();
  #lists: ReadonlyMap<string, Known> = new Map();
  #title: Known = { digest: '', changedAt: 0 };
  #isMoving = false;
  /** null: what was taken in last is of the last look. */
  trouble: Trouble | null = null;

  /** Whether it was to change soon, without a change of the fleet. */
  get isMoving(): boolean {
    return this.#isMoving;
  }

  /** Takes the view of this moment; what is new gets the number. Whether anything is. */
  update({ title, regions, isMoving = false }: View, number: number): boolean {
    this.#isMoving = isMoving;
    this.trouble = null;
    let changed = false;
    const next = (known: Known | undefined, digest: string): Known => {
      if (known?.digest === digest) return known;
      changed = true;
      return { digest, changedAt: number };
    };
    const pieces = new Map<string, Known>();
    for (const [id, markup] of regions.pieces) {
      pieces.set(id, next(this.#pieces.get(id), hash('sha1', markup.replace(timeText, '$1'), 'base64')));
    }
    const lists = new Map<string, Known>();
    for (const [id, items] of regions.lists) {
      lists.set(id, next(this.#lists.get(id), hash('sha1', items.join('\n'), 'base64')));
    }
    this.#title = next(this.#title, title);
    this.#pieces = pieces;
    this.#lists = lists;
    return changed;
  }

  /** What changed after that number; null: nothing. `view` is the one that was taken in last. */
  since({ title, regions }: View, number: number): Patch | null {
    const isNew = (known: Known | undefined) => known !== undefined && known.changedAt > number;
    const pieces = [...regions.pieces].filter(([id]) => isNew(this.#pieces.get(id)));
    const lists = [...regions.lists].filter(([id]) => isNew(this.#lists.get(id)));
    const hasTitle = isNew(this.#title);
    if (pieces.length === 0 && lists.length === 0 && !hasTitle) return null;
    return {
      title: hasTitle ? title : null,
      pieces: Object.fromEntries(pieces),
      lists: Object.fromEntries(lists),
    };
  }
}
