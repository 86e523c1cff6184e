// A start whose address is in use leaves nothing behind, and says so in one sentence.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startServer } from '../support/loopback.ts';
import { runDaemon, Workplace } from '../support/process.ts';

test('a start on an address in use creates no store, and prints one sentence', async () => {
  using workplace = new Workplace();
  await using other = await startServer();
  const listen = `127.0.0.1:${other.port}`;
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
  const config = workplace.configure({ accounts, server: { listen }, store: { url: 'sqlite:./w.db' } });
  await using daemon = runDaemon(config, { INVOCATION_ID: 'supervised' });
  expect([await daemon.ended, daemon.stdout]).toEqual([{ code: 1, signal: null }, '']);
  expect(daemon.stderr).toBe(
    `warmwarden: ${listen} is in use by another process. Stop that process or set another server.listen\n`,
  );
  expect(readdirSync(workplace.folder)).toEqual(['config.yaml']);
});
