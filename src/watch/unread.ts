// Which answers of which mailboxes are still to come: a part of a first sweep, counted.

export class Unread {
  readonly #routes = new Map<string, Set<string>>();
  #polls = 0;

  /** Mailboxes of which something is still to come. */
  get mailboxes(): number {
    return this.#routes.size;
  }

  get polls(): number {
    return this.#polls;
  }

  add(mailboxId: string, route: string): void {
    const routes = this.#routes.get(mailboxId) ?? new Set();
    if (!routes.has(route)) this.#polls += 1;
    this.#routes.set(mailboxId, routes.add(route));
  }

  /** It came, or failed. False when it was not waited for. */
  delete(mailboxId: string, route: string): boolean {
    const routes = this.#routes.get(mailboxId);
    if (!routes?.delete(route)) return false;
    this.#polls -= 1;
    if (routes.size === 0) this.#routes.delete(mailboxId);
    return true;
  }

  leave(mailboxId: string): void {
    this.#polls -= this.#routes.get(mailboxId)?.size ?? 0;
    this.#routes.delete(mailboxId);
  }
}
