// Work on large bodies in a thread of its own, one order after the other. What comes of it is taken over in pieces, with
// a turn of the event loop between two: to take a whole answer over would hold the loop as long as to read it.

import { Worker } from 'node:worker_threads';
import { errorText } from '../../core/nearest.ts';

/** What the thread sends: a piece, after which it waits to be asked for the next; or that there is none any more. */
export type FromThread<Piece> = { readonly piece: Piece } | 'done';
/** What it is sent: an order with the body that it is about; or that the next piece may come. */
export type ToThread<Order> = { readonly order: Order; readonly body: Uint8Array } | 'next';

/** A thread that runs out of memory takes the process with it: what may be read (body.ts) needs far less than this. */
const maxHeapMb = 1_024;
/** For one order, real time: others wait for their turn. */
const orderMs = 10_000;
/** So long a thread waits for its next order, real time: to begin one takes longer than to read most bodies. */
const idleMs = 10_000;

export class Apart<Order, Piece> {
  readonly #file: URL;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  /** Not carried out yet. */
  #orders = 0;
  /** Ever taken. */
  #served = 0;

  /** `file`: a module that calls `serveOrders` (apart-thread.ts). A thread that waits keeps no process alive. */
  constructor(file: URL) {
    this.#file = file;
  }

  /** The body is handed over: nobody else may use it from now on. Resolves with why it failed; null when all came. */
  async carryOut(order: Order, body: Buffer, take: (piece: Piece) => void): Promise<string | null> {
    this.#orders += 1;
    this.#served += 1;
    // A thread that can't be started (the system has no more of them, say) fails this order, and none after it.
    const done = this.#last.then(() => this.#next(order, body, take)).catch((error: unknown) => errorText(error));
    this.#last = done;
    const failure = await done;
    this.#orders -= 1;
    if (this.#orders === 0) this.#idle();
    return failure;
  }

  #next(order: Order, body: Buffer, take: (piece: Piece) => void): Promise<string | null> {
    this.#worker ??= new Worker(this.#file, { env: {}, resourceLimits: { maxOldGenerationSizeMb: maxHeapMb } });
    const worker = this.#worker;
    worker.ref();
    const send = (message: ToThread<Order>, handedOver: ArrayBuffer[] = []) => worker.postMessage(message, handedOver);
    return new Promise((resolve) => {
      const settle = (failure: string | null) => {
        late.removeEventListener('abort', tooLate);
        worker.off('message', hear).off('error', fail).off('exit', leave);
        resolve(failure);
      };
      const hear = (said: FromThread<Piece>) => {
        if (said === 'done') return settle(null);
        take(said.piece);
        send('next');
      };
      const fail = (error: Error) => {
        this.#end();
        settle(error.message);
      };
      const leave = () => fail(new Error('the thread that read it ended'));
      const tooLate = () => fail(new Error(`reading it took more than ${orderMs / 1_000} s`));
      const late = AbortSignal.timeout(orderMs);
      late.addEventListener('abort', tooLate);
      worker.on('message', hear).on('error', fail).on('exit', leave);
      const isWhole = body.length === body.buffer.byteLength;
      const own = isWhole ? new Uint8Array(body.buffer) : new Uint8Array(body);
      send({ order, body: own }, [own.buffer as ArrayBuffer]);
    });
  }

  #idle(): void {
    this.#worker?.unref();
    const served = this.#served;
    AbortSignal.timeout(idleMs).addEventListener('abort', () => {
      if (this.#orders === 0 && this.#served === served) this.#end();
    });
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }
}

/** A module beside the caller, by its name without an ending: in the sources as in dist. */
export function threadFile(name: string, besides: string): URL {
  return new URL(`./${name}${besides.endsWith('.ts') ? '.ts' : '.js'}`, besides);
}
