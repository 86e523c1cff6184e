// The other end of apart.ts, inside the thread.
import { parentPort } from 'node:worker_threads';
import type { FromThread, ToThread } from './apart.ts';

/** Carries orders out, for as long as the thread lives. What is thrown ends the thread, and the order with it. */
export function serveOrders<Order, Piece>(carryOut: (order: Order, body: Uint8Array) => Iterator<Piece>): void {
  let pieces: Iterator<Piece> | null = null;
  const say = (message: FromThread<Piece>) => parentPort?.postMessage(message);
  parentPort?.on('message', (message: ToThread<Order>) => {
    if (message !== 'next') pieces = carryOut(message.order, message.body);
    const next = pieces?.next();
    say(next === undefined || next.done ? 'done' : { piece: next.value });
  });
}
