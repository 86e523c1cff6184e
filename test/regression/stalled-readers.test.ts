// Whoever read nothing of an answer held its memory and its file for ever: with enough of them the daemon could neither be
// reached nor reach the API. docs/faults.md O7.
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { until } from '../support/until.ts';
import { ask, serve } from '../web/running-server.ts';

const stallMs = 200;
const oneConnection = { connections: 1, stallMs };

/** Asks for more than the kernel keeps for a connection, and reads nothing. */
function stall(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const question = 'GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: identity\r\n\r\n';
  return new Promise((resolve) => void socket.write(question.repeat(500), () => resolve()));
}

const isAnswered = (url: string) =>
  ask(`${url}/api/deliveries`, { connection: 'close' }).then(
    ({ status }) => status === 200,
    () => false,
  );

test('a client that reads nothing of an answer is disconnected, which makes room for others', async () => {
  await using server = await serve(new Fleet(), { connectionLimits: oneConnection });
  await stall(server.port);
  expect(await isAnswered(server.url)).toBe(false);
  await until('room for another connection', () => isAnswered(server.url));
});
