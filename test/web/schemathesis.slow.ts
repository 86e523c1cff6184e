// The running daemon, asked by Schemathesis what its OpenAPI document allows, and what it does not: nothing fails, and every
// answer is one that the document describes. Operations are carried out on a simulated fleet.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { startSimulator } from '../../tools/simulator/simulator.ts';
import { sha256 } from '../support/sha256.ts';
import { silentWorld } from '../support/silent-world.ts';
import { until } from '../support/until.ts';

/** The command; `npm run proofs` installs it. With CI set, it must be there. */
const schemathesis = process.env['WARMWARDEN_SCHEMATHESIS'] ?? '';
/** How long it asks: `npm run proofs` takes ten minutes. */
const asked = process.env['WARMWARDEN_SCHEMATHESIS_SECONDS'];
const seconds = asked ?? '60';
const timeout = (Number(seconds) + 300) * 1_000;
/** A short look asks the same each time: only a long one may find something new. */
const seed = asked === undefined ? ['--seed', '18'] : [];

const token = 'ww_operator-of-this-test';

async function startGuarding(folder: string) {
  const world = silentWorld();
  const keys = [{ key: demoKey, permissions: ['read', 'write'], plan: 'enterprise' }] as const;
  const simulator = await startSimulator({ world, scenario: 'calm', keys });
  const file = join(folder, 'config.yaml');
  const account = { name: 'acme', base_url: simulator.url, api_key: demoKey, requests_per_minute: 6_000 };
  const config = {
    accounts: [account],
    store: { url: 'sqlite:./warmwarden.db' },
    server: { listen: '127.0.0.1:0', auth: { tokens: [{ name: 'anna', sha256: sha256(token), role: 'operator' }] } },
    recipes: { api_keys: [{ name: 'anna', sha256: sha256(token), plan: 'agency', role: 'operator' }] },
  };
  writeFileSync(file, JSON.stringify(config));
  const load = () => loadConfig(file, {});
  const started = load();
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  const daemon = await startDaemon({ file, started, load }, world);
  await until('all are judged', () => {
    const all = [...daemon.fleet.mailboxes()];
    return all.length > 0 && all.every(({ verdict }) => verdict !== null);
  });
  const stop = async () => {
    await daemon.stop();
    await simulator.close();
  };
  return { url: daemon.url, [Symbol.asyncDispose]: stop };
}

test.skipIf(schemathesis === '' && !process.env['CI'])('Schemathesis finds nothing', { timeout }, async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'warmwarden-schemathesis-'));
  await using daemon = await startGuarding(folder.path);
  const asking = spawn(
    schemathesis,
    [
      ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
      ...['run', `${daemon.url}/openapi.json`, '--header', `Authorization: Bearer ${token}`],
      ...['--phases', 'examples,coverage,fuzzing', '--max-time', seconds, ...seed],
      ...['--workers', '1', '--continue-on-failure', '--warnings', 'off', '--no-color'],
    ],
    { cwd: folder.path, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [said, complained, [code]] = await Promise.all([
    text(asking.stdout),
    text(asking.stderr),
    once(asking, 'exit'),
  ]);
  expect(code, `${said}${complained}`).toBe(0);
  // It asked, and what it asked was carried out.
  expect(said).toMatch(/Tested: \d{2}/);
  const history = await fetch(`${daemon.url}/api/history?by=anna&limit=1000`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { entries } = (await history.json()) as { entries: { operation: string; result: string }[] };
  const done = entries.filter(({ result }) => result === 'done').map(({ operation }) => operation);
  expect(done).toContain('writes');
});
