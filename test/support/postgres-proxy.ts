// A proxy before PostgreSQL that cuts the connection around a COMMIT: before it arrives, or after it took place and before
// the reply comes back. It can cut everything, and let nobody in for a while.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { listen, portOf } from './loopback.ts';

/** COMMIT as a simple query. */
const commit = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');

/** How a transaction of the store begins; a heartbeat may take less. */
const storesWrite = "statement_timeout = '15s'";

/** How a process asks what became of a COMMIT. */
const question = 'SELECT version FROM fence ';

export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: PostgresPlace;
  #isOpen = true;
  /** Raised when connections that are there go dumb: all of them, or those on which the store writes. */
  readonly #era = { all: 0, writes: 0 };
  #next: 'before' | 'after' | null = null;
  /** Questions about a COMMIT that wait; null: they pass. */
  #asked: (() => void)[] | null = null;
  /** How many were cut. */
  cuts = 0;
  /** How often something was sent on a connection on which nothing passes. */
  swallowed = 0;

  private constructor(target: PostgresPlace) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async before(target: PostgresPlace): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target);
    await listen(proxy.#server);
    return proxy;
  }

  get place(): PostgresPlace {
    return { ...this.#target, host: '127.0.0.1', port: portOf(this.#server) };
  }

  /** Whoever connects from now on reaches that server, as after a failover behind one address. */
  lead(target: PostgresPlace): void {
    this.#target = target;
  }

  /** Cuts the next connection that commits. */
  cutNext(when: 'before' | 'after'): void {
    this.#next = when;
  }

  /** From now on nobody learns what became of a COMMIT. */
  holdQuestions(): void {
    this.#asked = [];
  }

  /** How many would like to know. */
  get questions(): number {
    return this.#asked?.length ?? 0;
  }

  answerQuestions(): void {
    const asked = this.#asked ?? [];
    this.#asked = null;
    for (const pass of asked) pass();
  }

  /** Cuts all that is there. */
  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** From now on nothing passes on these of the connections that are there, and nobody is told. New ones pass. */
  silence(which: 'all' | 'writes'): void {
    this.#era[which] += 1;
  }

  /** Cuts all that is there, and lets nobody in. */
  close(): void {
    this.#isOpen = false;
    this.cutAll();
  }

  /** Lets them in again. */
  open(): void {
    this.#isOpen = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutAll();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    if (!this.#isOpen) return void client.destroy();
    const { host, port } = this.#target;
    const server = connect(port, host);
    const ends = [client, server];
    let deaf = false;
    const { all, writes } = this.#era;
    let doesWrite = false;
    const isDumb = () => all < this.#era.all || (doesWrite && writes < this.#era.writes);
    for (const end of ends) {
      this.#sockets.add(end);
      end.on('error', () => {});
      end.on('close', () => {
        this.#sockets.delete(end);
        for (const other of ends) other.destroy();
      });
    }
    client.on('data', (chunk) => {
      doesWrite ||= chunk.includes(storesWrite);
      if (isDumb()) {
        this.swallowed += 1;
        return;
      }
      const cut = chunk.includes(commit) ? this.#next : null;
      if (cut !== null) {
        this.#next = null;
        this.cuts += 1;
      }
      if (cut === 'before') return void client.destroy();
      deaf ||= cut === 'after';
      if (this.#asked && chunk.includes(question)) this.#asked.push(() => server.write(chunk));
      else server.write(chunk);
    });
    server.on('data', (chunk) => {
      if (isDumb()) return;
      if (deaf) client.destroy();
      else client.write(chunk);
    });
  }
}
