// The socket beside the store: how many connections it takes, and whom. What it answers is tested with the commands that ask it.
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askDaemon, askFor } from '../../src/cli/daemon.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { Operate } from '../../src/core/operator-command.ts';
import { socketPathOf, startCommandSocket } from '../../src/operations/socket.ts';
import { newFolder } from '../support/new-folder.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { serve } from '../web/running-server.ts';

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

test('the owner of the process needs no token, and acts under the name in the request; the address asks for one', async () => {
  const path = join(newFolder(), 'w.db');
  const asked: unknown[] = [];
  const operate: Operate = async (_name, body) => {
    asked.push(body);
    return { result: 'done', messages: ['noted'] };
  };
  const tokens = [{ name: 'anna', role: 'viewer' as const, sha256: sha256('secret') }];
  await using server = await serve(new Fleet(), { auth: () => ({ tokens }), operate: () => operate });
  const socket = await startCommandSocket(path, server.answer);
  onTestFinished(() => socket.close());
  const request = { by: 'ann', mailbox: 'm' };
  expect(await askDaemon(path, 'refresh', request)).toEqual({ result: 'done', messages: ['noted'] });
  expect(await askFor(path, 'fleet')).toMatchObject({ mailboxes: [] });
  for (const token of ['secret', null])
    await expect(askDaemon({ url: server.url, token }, 'refresh', request)).rejects.toThrow(/operator|401/);
  expect(asked).toEqual([request]);
});
