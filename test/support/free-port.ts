// A port of loopback that nobody listens on, for programs that want to be told one.
import { startServer } from './loopback.ts';

export async function freePort(): Promise<number> {
  await using server = await startServer();
  return server.port;
}
