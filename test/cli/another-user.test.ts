// Whoever may not open the folder of the store is told so: neither that there is no store, nor that no daemon runs.
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askDaemon } from '../../src/cli/daemon.ts';
import { examineDaemon, seeDaemon } from '../../src/cli/doctor/network.ts';
import { examineStore } from '../../src/cli/doctor/store.ts';
import { switchInStore } from '../../src/cli/writes.ts';
import { socketPathOf } from '../../src/operations/socket.ts';
import { Ledger } from '../../src/store/ledger.ts';
import { newFolder } from '../support/new-folder.ts';

const nobody = 65_534;

/** Runs it as a user to whom the folder is closed, which root is to nobody. */
async function asAnotherUser<Value>(folder: string, run: () => Promise<Value>): Promise<Value> {
  const isRoot = process.getuid?.() === 0;
  chmodSync(folder, isRoot ? 0o700 : 0);
  if (isRoot) process.seteuid?.(nobody);
  try {
    return await run();
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(folder, 0o700);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

test('a closed folder is neither a missing store nor a daemon that does not run', async () => {
  const folder = newFolder();
  const path = join(folder, 'warmwarden.db');
  const config = join(newFolder(), 'config.yaml');
  chmodSync(join(config, '..'), 0o755);
  writeFileSync(config, `accounts: []\nstore: {url: "sqlite:${path}"}\n`);
  writeFileSync(path, '');
  const daemon = createServer();
  await new Promise<void>((resolve) => daemon.listen(socketPathOf(path), resolve));
  const off = { on: false, reason: 'a trial', by: 'somebody', accounts: [], dryRun: false } as never;
  // Loads what a command needs only where no daemon answers: this checkout may be closed to the other user, too.
  await askDaemon(`${path}.absent`, 'writes', off).catch(messageOf);
  const said = await asAnotherUser(folder, async () => [
    await askDaemon(path, 'writes', off).catch(messageOf),
    await Promise.resolve()
      .then(() => Ledger.open(path))
      .catch(messageOf),
    await examineStore({ ok: true, store: path, accountNames: [] }).catch(messageOf),
    (await switchInStore(config, off)).messages[0],
    examineDaemon(await seeDaemon(path))[0]?.message,
  ]);
  daemon.close();
  const closed = `This user may not open the folder of the store ${path}`;
  const socket = `This user may not use the socket ${socketPathOf(path)}`;
  const remedy = 'run the command as the user that runs Warmwarden, or as root.';
  expect(said).toEqual([
    `${socket}: ${remedy}`,
    ...[closed, closed, closed].map((one) => `${one}: ${remedy}`),
    `${socket}: ${remedy}`,
  ]);
});
