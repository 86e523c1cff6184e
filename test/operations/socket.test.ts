// The socket beside the store: how many connections it takes. What it answers is tested with the commands that ask it.
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { socketPathOf, startCommandSocket } from '../../src/operations/socket.ts';
import { newFolder } from '../support/new-folder.ts';
import { until } from '../support/until.ts';

test('more than 200 connections are closed at once, until others have ended', async () => {
  const path = join(newFolder(), 'w.db');
  const socket = await startCommandSocket(path, () => new Response(null, { status: 404 }));
  onTestFinished(() => socket.close());
  const open = () => connect(socketPathOf(path)).on('error', () => {});
  const asked = (one: ReturnType<typeof open>) =>
    new Promise<boolean>((resolve) => {
      one.once('close', () => resolve(false)).once('data', () => resolve(true));
      one.write('GET /v1/ HTTP/1.1\r\nHost: daemon\r\n\r\n');
    });
  const first = Array.from({ length: 200 }, open);
  expect(await Promise.all(first.map(asked))).toEqual(first.map(() => true));
  expect(await asked(open())).toBe(false);
  for (const one of first) one.destroy();
  await until('room for another connection', () => asked(open()));
});
