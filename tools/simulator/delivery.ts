// How an answer leaves the simulator: as it should, or as a fault of the wire would have it.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { systemClock } from '../../src/world/world.ts';
import type { Behaviour } from './fault.ts';

/** An answer ready to be sent. */
export interface Parcel {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly text: string;
}

const hugeBytes = 64 * 1024 * 1024;
const chunk = Buffer.alloc(1024 * 1024, ' ');
const dripMs = 200;

/** Connections that a forgetful server has answered on once. */
const answered = new WeakSet<Socket>();

/** Sends it; with a behaviour of the wire, so. */
export function deliver(response: ServerResponse, parcel: Parcel, behaviour: Behaviour | null): void {
  switch (behaviour?.do) {
    case 'cut':
      response.socket?.resetAndDestroy();
      break;
    case 'forget':
      forget(response, parcel);
      break;
    case 'stall':
      stall(response, parcel, behaviour.at);
      break;
    case 'cut-body':
      cutBody(response, parcel, behaviour.gzip);
      break;
    case 'encode':
      encode(response, parcel, behaviour.as);
      break;
    case 'huge':
      huge(response, behaviour.status, behaviour.gzip);
      break;
    default:
      send(response, parcel, Buffer.from(parcel.text));
  }
}

function send(response: ServerResponse, { status, headers }: Parcel, body: Buffer, more: object = {}): void {
  response.writeHead(status, { ...headers, 'content-length': body.length, ...more });
  response.end(body);
}

function forget(response: ServerResponse, parcel: Parcel): void {
  const { socket } = response;
  if (socket && answered.has(socket)) socket.resetAndDestroy();
  else send(response, parcel, Buffer.from(parcel.text));
  if (socket) answered.add(socket);
}

function stall(response: ServerResponse, { status, headers, text }: Parcel, at: 'head' | 'body' | 'drip'): void {
  if (at === 'head') return;
  response.writeHead(status, headers);
  response.write(text.slice(0, 1));
  if (at === 'body') return;
  void drip(response);
}

/** In real time: the caller's deadlines are about sockets, too. */
async function drip(response: ServerResponse): Promise<void> {
  const clock = systemClock();
  while (!response.destroyed) {
    response.write(' ');
    await clock.sleep(dripMs);
  }
}

function cutBody(response: ServerResponse, { status, headers, text }: Parcel, gzip: boolean): void {
  const body = gzip ? gzipSync(text) : Buffer.from(text);
  const encoding = gzip ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(status, { ...headers, 'content-length': body.length, ...encoding });
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => response.socket?.destroy());
}

function encode(response: ServerResponse, parcel: Parcel, as: 'gzip' | 'br' | 'plain_as_gzip'): void {
  const plain = Buffer.from(parcel.text);
  const body = as === 'gzip' ? gzipSync(plain) : as === 'br' ? brotliCompressSync(plain) : plain;
  send(response, parcel, body, { 'content-encoding': as === 'br' ? 'br' : 'gzip' });
}

function huge(response: ServerResponse, status: number, gzip: boolean): void {
  if (gzip) {
    const body = gzipSync(Buffer.alloc(hugeBytes, ' '));
    response.writeHead(status, { 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
    return;
  }
  response.writeHead(status, { 'content-length': hugeBytes });
  let left = hugeBytes / chunk.length;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
}
