// A hundred pages that came back in the same moment, as after a proxy's restart, were accepted and answered in one work of 52 ms.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { serve } from '../web/running-server.ts';

const requests = 60;

test('requests that arrive in the same moment are answered one a turn of the event loop', async () => {
  let [turn, isOver] = [0, false];
  const next = () => {
    turn += 1;
    if (!isOver) setImmediate(next);
  };
  const turns: number[] = [];
  const ready = () => {
    turns.push(turn);
    return { ready: true, reasons: [] };
  };
  await using server = await serve(new Fleet(), { ready });
  const sockets = Array.from({ length: requests }, () => connect(server.port, '127.0.0.1'));
  const askAll = (path: string) => {
    const answers = sockets.map((socket) => once(socket, 'data'));
    for (const socket of sockets) socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return Promise.all(answers);
  };
  next();
  try {
    // Connections are accepted one a turn: once each has had an answer, what they ask arrives in the same moment.
    await askAll('/healthz');
    const answers = await askAll('/readyz');
    expect(answers.every(([bytes]) => String(bytes).startsWith('HTTP/1.1 200'))).toBe(true);
    expect([turns.length, new Set(turns).size]).toEqual([requests, requests]);
  } finally {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  }
});
