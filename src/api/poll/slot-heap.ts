// A binary heap of small whole numbers, ordered by a number each: twelve bytes a member, whatever is done with it.

const growth = 1.2;

/** Two bytes hold the slots of every account but the largest. */
type Indexes = Uint16Array | Uint32Array;

function indexes(capacity: number): Indexes {
  return capacity < 0xff_ff ? new Uint16Array(capacity) : new Uint32Array(capacity);
}

/** Members are slots: whole numbers from 0, given out densely. Equal keys go by slot. Every change costs O(log n). */
export class SlotHeap {
  /** By slot. */
  #keys = new Float64Array(0);
  /** By slot: one more than its place in the heap; 0 when it is not in. */
  #places: Indexes = indexes(0);
  #heap: Indexes = indexes(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The slot with the smallest key; null when there is none. */
  first(): number | null {
    return this.#size === 0 ? null : (this.#heap[0] ?? null);
  }

  /** The key of a member; null for a slot that is none. */
  keyOf(slot: number): number | null {
    return (this.#places[slot] ?? 0) === 0 ? null : (this.#keys[slot] ?? null);
  }

  /** Puts a slot in, or moves it. */
  set(slot: number, key: number): void {
    this.#reserve(slot + 1);
    this.#keys[slot] = key;
    let place = (this.#places[slot] ?? 0) - 1;
    if (place < 0) {
      place = this.#size;
      this.#size += 1;
      this.#put(place, slot);
    }
    this.#settle(place);
  }

  /** Takes a slot out; nothing happens when it is not in. */
  delete(slot: number): void {
    const place = (this.#places[slot] ?? 0) - 1;
    if (place < 0) return;
    this.#places[slot] = 0;
    this.#size -= 1;
    const last = this.#heap[this.#size] ?? 0;
    if (place === this.#size) return;
    this.#put(place, last);
    this.#settle(place);
  }

  /** How many keys are smaller. Looks at all of them. */
  countBelow(key: number): number {
    let count = 0;
    for (let place = 0; place < this.#size; place += 1) {
      if ((this.#keys[this.#heap[place] ?? 0] ?? 0) < key) count += 1;
    }
    return count;
  }

  #settle(start: number): void {
    let place = start;
    while (place > 0 && this.#isBefore(place, (place - 1) >> 1)) {
      this.#swap(place, (place - 1) >> 1);
      place = (place - 1) >> 1;
    }
    for (;;) {
      const left = 2 * place + 1;
      if (left >= this.#size) return;
      const right = left + 1;
      const child = right < this.#size && this.#isBefore(right, left) ? right : left;
      if (!this.#isBefore(child, place)) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a] ?? 0, this.#heap[b] ?? 0];
    const difference = (this.#keys[one] ?? 0) - (this.#keys[other] ?? 0);
    return difference < 0 || (difference === 0 && one < other);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a] ?? 0, this.#heap[b] ?? 0];
    this.#put(a, other);
    this.#put(b, one);
  }

  #put(place: number, slot: number): void {
    this.#heap[place] = slot;
    this.#places[slot] = place + 1;
  }

  #reserve(slots: number): void {
    if (slots <= this.#keys.length) return;
    const capacity = Math.max(slots, Math.ceil(this.#keys.length * growth), 8);
    const [keys, places, heap] = [new Float64Array(capacity), indexes(capacity), indexes(capacity)];
    keys.set(this.#keys);
    places.set(this.#places);
    heap.set(this.#heap);
    [this.#keys, this.#places, this.#heap] = [keys, places, heap];
  }
}
