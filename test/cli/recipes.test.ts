// `warmwarden recipes` on a store without a daemon, and beside one; `warmwarden token new`.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { arrivedMailbox, noAlerts, now } from '../store/records.ts';
import { commandLine } from '../support/command-line.ts';
import { workInEmptyFolder } from '../support/empty-folder.ts';
import { Stage } from '../support/guarded.ts';
import { Workplace } from '../support/process.ts';

const warmwarden = (...args: string[]) => commandLine(args);

test('without a daemon it asks the store, as a table, JSON or CSV, and says what is wrong with exit code 1', async () => {
  using workplace = new Workplace();
  const config = workplace.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_12345678' }],
    store: { url: 'sqlite:./w.db' },
  });
  const store = await Store.open(workplace.path('w.db'), now);
  const list = { account: 'acme', absent: [], left: [], leftAt: now, alerts: noAlerts, breaker: null };
  await store.recordList({ ...list, present: [arrivedMailbox('m1', { email: '\u001b[31mred@one.example' })] });
  await store.close();
  const listed = await warmwarden('recipes', 'list', '--config', config);
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  expect(listed.stdout).toMatch(/^pause-domain +Pause a domain +domain +pause$/m);
  expect(listed.stdout).toMatch(/^stale-data .* \[minutes\]/m);
  const run = ['recipes', 'run', 'stale-data', '--config', config];
  expect((await warmwarden(...run)).stdout).toContain('[U+001B][31mred@one.example');
  const json = JSON.parse((await warmwarden(...run, '--param', 'minutes=5', '--json')).stdout);
  expect(json).toMatchObject({ status: 'succeeded', parameters: { minutes: 5 }, row_count: 1 });
  expect((await warmwarden(...run, '--csv')).stdout).toMatch(/^account,mailbox_id,email,.*\r\nacme,m1,/);
  expect(await warmwarden(...run, '--param', 'minutes=soon')).toMatchObject({
    code: 2,
    stderr: 'The parameter minutes must be a whole number.\n',
  });
  const applied = await warmwarden('recipes', 'run', 'refresh-dns', '--apply', '--yes', '--config', config);
  expect([applied.code, applied.stderr]).toEqual([1, expect.stringContaining('needs a running daemon')]);
});

test('beside a daemon it acts through it, and the run is kept there', async () => {
  await using stage = await Stage.open();
  const daemon = stage.start();
  await daemon.onDuty();
  const { code, stderr } = await warmwarden('recipes', 'run', 'fleet-overview', '--config', stage.config);
  expect([code, stderr]).toEqual([0, 'No rows.\n']);
  await daemon.said('a run ended');
});

test('a dry run says how to carry it out, and speaks of --dry-run only where it was given', async () => {
  vi.stubEnv('WARMWARDEN_API_KEY', 'k');
  const rows = [{ email: 'a@acme.example', outcome: 'planned' }];
  const run = { id: 'r1', recipe: 'pause-domain', status: 'succeeded', columns: ['email', 'outcome'], rows };
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ ...run, row_count: 1, truncated: false })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said = async (...options: string[]) =>
    (await commandLine(['recipes', 'run', 'pause-domain', '--url', url, ...options])).stderr;
  expect(await said()).toBe('1 row. Nothing was done: this was a dry run. To carry out the actions, add --apply.\n');
  expect(await said('--dry-run')).toContain('add --apply and leave out --dry-run.');
  server.close();
  vi.unstubAllEnvs();
});

test('token new prints a token once, and the digest that lets it in', async () => {
  workInEmptyFolder();
  const made = await warmwarden('token', 'new', 'bot', '--role', 'operator', '--json');
  const { token, sha256, ...rest } = JSON.parse(made.stdout);
  expect(sha256).toBe(createHash('sha256').update(token).digest('hex'));
  expect(rest).toEqual({ name: 'bot', kind: 'token', role: 'operator', plan: null });
  const { stdout } = await warmwarden('token', 'new', 'bot', '--role', 'scraper');
  expect(stdout).toMatch(
    /^server:\n {2}auth:\n {4}tokens:\n {6}- \{name: "bot", sha256: "[0-9a-f]{64}", role: scraper\}$/m,
  );
});

test('token new makes keys of the recipe API, too', async () => {
  workInEmptyFolder();
  const made = await warmwarden('token', 'new', 'bot', '--recipe-key', '--plan', 'cloud', '--json');
  expect(JSON.parse(made.stdout)).toMatchObject({ name: 'bot', kind: 'recipe_key', plan: 'cloud', role: 'viewer' });
  const { stdout } = await warmwarden('token', 'new', 'bot', '--recipe-key');
  expect(stdout).toMatch(/^recipes:\n {2}api_keys:\n {4}- \{name: "bot", .*, role: viewer, plan: pro\}$/m);
  expect(await warmwarden('token', 'new', 'bot', '--plan', 'pro')).toMatchObject({ code: 2 });
  expect(await warmwarden('token', 'new', 'bot', '--recipe-key', '--role', 'scraper')).toMatchObject({ code: 2 });
});
