// A port of loopback that nobody listens on, for programs that want to be told one.
import { createServer } from 'node:http';
import { close, listen, portOf } from './loopback.ts';

export async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server);
  const port = portOf(server);
  await close(server);
  return port;
}
