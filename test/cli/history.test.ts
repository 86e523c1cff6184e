// `warmwarden history`: the audit log of a daemon; `warmwarden writes` where no daemon answers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { auditing } from '../../src/operations/audit.ts';
import { Store } from '../../src/store/store.ts';
import { roomsOf } from '../operations/rooms.ts';
import { actionOf, arrivedMailbox, emptyList, now } from '../store/records.ts';
import { commandLine } from '../support/command-line.ts';
import { newFolder } from '../support/new-folder.ts';
import { silentWorld } from '../support/silent-world.ts';
import { serve } from '../web/running-server.ts';

const bob = arrivedMailbox('m1', { account: 'acme', email: 'bob@acme.example' });
let path: string;
let config: string;

beforeEach(async () => {
  const folder = newFolder();
  path = join(folder, 'w.db');
  config = join(folder, 'config.yaml');
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
  writeFileSync(config, JSON.stringify({ accounts, store: { url: 'sqlite:./w.db' } }));
  const store = await Store.open(path, now);
  await store.recordList({ ...emptyList, present: [bob] });
  const world = silentWorld();
  const audited = auditing(roomsOf(new Fleet(), store, world));
  const done = async () => ({ result: 'done' as const, messages: ['Done.'] });
  const about = { name: 'pause', account: 'acme', mailboxes: [{ account: 'acme', id: 'm1', email: bob.email }] };
  await audited({ by: 'ann', reason: 'bad\u001b[31m list' }, { ...about, command: `pause ${bob.email}` }, done);
  await audited({ by: 'zoe', reason: '' }, { name: 'reload', command: 'reload', account: null, mailboxes: [] }, done);
  await store.close();
});

const run = (...argv: readonly string[]) => commandLine([...argv, '--config', config]);

/** What a store says now, opened for a moment. */
async function inStore<Value>(look: (store: Store) => Promise<Value>): Promise<Value> {
  const store = await Store.open(path, now);
  return look(store).finally(() => store.close());
}

/** What `history` says of a daemon that has the store. */
async function history(argv: readonly string[]) {
  return inStore(async (store) => {
    const fleet = new Fleet();
    fleet.putMailbox(bob);
    await using server = await serve(fleet, { history: store.audit });
    return await commandLine(['history', ...argv, '--url', server.url]);
  });
}

describe('history', () => {
  test('shows who did what when and why', async () => {
    const { code, stdout, stderr } = await history([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^\d+ \w+ \d\d:\d\d UTC {2}zoe {2}reload {2}done\n {2}Done\.\n\d+ \w+ \d\d:\d\d UTC {2}ann {2}pause bob@acme\.example {2}done\n {2}Reason: bad\[U\+001B\]\[31m list\n {2}Done\.\n$/,
    );
  });

  test('of one mailbox, as JSON', async () => {
    const { code, stdout } = await history(['--mailbox', 'acme/bob@acme.example', '--since', '1h', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { entries: [{ by: 'ann', operation: 'pause', mailboxes: ['bob@acme.example'], result: 'done' }], more: false },
    ]);
    expect(await history(['--mailbox', 'nobody@x.example'])).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^No guarded mailbox is called nobody@x\.example\. .*status --all.*mailboxes\.include/,
      ),
    });
  });

  test('of one person, or what Warmwarden did by itself', async () => {
    const found = async (...argv: readonly string[]) => {
      const { entries } = JSON.parse((await history([...argv, '--json'])).stdout);
      return entries.map(({ by, operation }: { by: string; operation: string }) => `${by} ${operation}`);
    };
    await inStore((store) => store.recordActions([actionOf('m1', { plannedAt: Date.now() })]));
    expect(await found('--by', 'ann')).toEqual(['ann pause']);
    expect(await found('--by', 'Warmwarden')).toEqual(['Warmwarden recovery']);
    expect((await history(['--guard'])).stdout).toContain('\n  Decision: bounce rate over limit\n');
    expect((await history(['--by', 'nobody'])).stdout).toMatch(/^No entry matches\./);
  });

  test('shows as many entries as are asked for, and says that there are older ones', async () => {
    const { stdout } = await history(['--limit', '1']);
    expect(stdout).toMatch(
      /^.* {2}zoe {2}reload {2}done\n {2}Done\.\nThere are older entries: --limit shows more of them\.\n$/,
    );
    expect((await history(['--limit', '0'])).code).toBe(2);
  });
});

describe('writes without a daemon', () => {
  test('are switched in the store, with who and why, and told by the next start', async () => {
    const off = await run('writes', 'off', '--mailbox', bob.email, '--for', '2h', '--reason', 'moving', '--yes');
    expect(off).toMatchObject({ code: 0, stderr: '' });
    expect(off.stdout).toMatch(
      /^Writes are off for mailbox bob@acme\.example \(account acme\) until .*`\.\nNo daemon is running on this store: /,
    );
    const { writesOff, unsaid, newest } = await inStore(async (store) => ({
      writesOff: (await store.loadPicture()).writesOff,
      unsaid: (await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition.alert.rule),
      newest: (await store.audit.commands({ since: 0, mailbox: null, limit: 1 }))[0],
    }));
    expect(writesOff).toMatchObject([{ scope: { kind: 'mailbox', mailboxId: 'm1' }, reason: 'moving' }]);
    expect(unsaid.slice(-2)).toEqual(['protection_off', 'operator_acted']);
    expect(newest).toMatchObject({ name: 'writes', end: 'done', reason: 'moving' });
    expect((await run('writes', 'on', '--mailbox', 'm1', '--yes')).stdout).toMatch(/^Writes are on for mailbox bob@/);
    expect(await inStore(async (store) => (await store.loadPicture()).writesOff)).toEqual([]);
  });

  test('where a daemon holds the store and does not answer, nothing is changed and that is said', async () => {
    const store = await Store.open(path, now);
    const { code, stderr } = await run('writes', 'off', '--reason', 'x', '--yes');
    await store.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^Nothing was changed\. process \d+ on .* holds the store .*, but does not answer at .*\.sock\./,
    );
  });
});
