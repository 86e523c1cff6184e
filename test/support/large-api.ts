// A server in a thread of its own that answers with large bodies, so that sending them is no work of the thread under test.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

export interface LargeApiOptions {
  /** The body, as a beginning, a middle that is repeated (# in it becomes the number of the repetition), and an end. */
  readonly body: readonly [beginning: string, middle: string, end: string];
  readonly repeated: number;
  readonly gzip?: boolean;
  /** The last byte of every answer is held back until so many have been begun. Default: 1. */
  readonly together?: number;
}

/** Paths with `small` are answered with `{"status": "ok"}`. */
export async function startLargeApi(options: LargeApiOptions) {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  const [port] = await once(worker, 'message');
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void (await worker.terminate()) };
}

function middleOf(middle: string, repeated: number): Buffer {
  if (!middle.includes('#')) return Buffer.alloc(Buffer.byteLength(middle) * repeated, middle);
  return Buffer.from(Array.from({ length: repeated }, (_, index) => middle.replaceAll('#', String(index))).join(''));
}

function serve({ body: [beginning, middle, end], repeated, gzip = false, together = 1 }: LargeApiOptions): void {
  const plain = Buffer.concat([Buffer.from(beginning), middleOf(middle, repeated), Buffer.from(end)]);
  const body = gzip ? gzipSync(plain) : plain;
  const headers = { 'content-type': 'application/json', ...(gzip ? { 'content-encoding': 'gzip' } : {}) };
  const waiting: ServerResponse[] = [];
  let begun = 0;
  const server = createServer((request, response) => {
    response.on('error', () => {});
    if (request.url?.includes('small')) return void response.end('{"status": "ok"}');
    response.writeHead(200, headers);
    response.write(body.subarray(0, -1), () => {});
    waiting.push(response);
    begun += 1;
    if (begun >= together) for (const one of waiting.splice(0)) one.end(body.subarray(-1));
  });
  server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
}

if (!isMainThread && workerData !== null && typeof workerData === 'object' && 'repeated' in workerData) {
  serve(workerData as LargeApiOptions);
}
