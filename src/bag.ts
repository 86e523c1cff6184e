// Things that come and go with each request, in no order. A Set that grows and shrinks takes new memory each time, which lives long
// enough to count among the old objects.

/** Each thing is put in once. To take one out costs a look at the others. */
export class Bag<Thing> implements Iterable<Thing> {
  readonly #things: Thing[] = [];

  get size(): number {
    return this.#things.length;
  }

  add(thing: Thing): void {
    this.#things.push(thing);
  }

  /** Nothing happens when it is not in. */
  delete(thing: Thing): void {
    const at = this.#things.indexOf(thing);
    if (at === -1) return;
    const last = this.#things.pop() as Thing;
    if (at < this.#things.length) this.#things[at] = last;
  }

  clear(): void {
    this.#things.length = 0;
  }

  /** Not while things come and go. */
  [Symbol.iterator](): Iterator<Thing> {
    return this.#things.values();
  }
}
