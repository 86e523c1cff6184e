// The end of a fixture that has several parts.
type Part = AsyncDisposable | Disposable;

/** Disposes the parts in this order. */
export const ending = (...parts: readonly Part[]): AsyncDisposable => ({
  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of parts) {
      if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]();
      else part[Symbol.dispose]();
    }
  },
});
