// The API of the benchmarks, in a process of its own: what it answered to each asker, and what happens to its fleet.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Route } from '../../../src/core/answers.ts';
import type { FleetShape, Incident } from './bodies.ts';

const script = fileURLToPath(new URL('./api-server.ts', import.meta.url));

/** Tells what an asker was answered; an incident happens to the asker's fleet first. */
export interface ApiOrder {
  readonly asker: string;
  readonly incident?: Incident;
}

/** What an asker was answered so far. */
export interface Answered {
  readonly polls: Readonly<Partial<Record<Route, number>>>;
  /** Questions about mailboxes that were never asked. */
  readonly unread: number;
}

export const total = (counts: Readonly<Partial<Record<Route, number>>>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** One API, which serves until it is disposed of. */
export class BenchApi implements AsyncDisposable {
  readonly shape: FleetShape;
  readonly #child: ChildProcess;
  readonly #port: number;
  /** Orders are answered in the order in which they were given. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(shape: FleetShape, child: ChildProcess, port: number) {
    this.shape = shape;
    this.#child = child;
    this.#port = port;
  }

  static async start(shape: FleetShape): Promise<BenchApi> {
    const child = fork(script, [JSON.stringify(shape)]);
    const [port] = (await once(child, 'message')) as [number];
    return new BenchApi(shape, child, port);
  }

  /** The address for an asker, to which /v1/... is added. */
  url(asker: string): string {
    return `http://127.0.0.1:${this.#port}/${asker}`;
  }

  notified(asker: string, incident?: Incident): Promise<Answered> {
    const answer = this.#last.then(async () => {
      const message = once(this.#child, 'message');
      this.#child.send({ asker, ...(incident && { incident }) } satisfies ApiOrder);
      return (await message)[0] as Answered;
    });
    this.#last = answer;
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.disconnect();
    await once(this.#child, 'exit');
  }
}

/** The key of an account. */
export const keyOf = (account: number) => `sk_live_bench_${account}`;
