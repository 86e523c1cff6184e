// The store is deleted while Warmwarden runs, and the next process begins with a new, empty one: what was lost is said, and the
// write stop, which a person set, does not end with it. The commands that docs/operating.md gives for a restore.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { WriteScope, WritesOff } from '../../src/core/write-scope.ts';
import { backUp } from '../../src/store/file/backup.ts';
import { Store } from '../../src/store/store.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { alertOf, now } from '../store/records.ts';
import { newFolder } from '../support/new-folder.ts';

const poll = { health: '0 * * * *', mailboxes: '*/10 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const expectErrors = ['The store is failing.', 'composing messages failed'];

const remove = (path: string) => {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
};

test('a write stop outlives its store: nothing is changed, and the message of the end says what is not known any more', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia), poll, expectErrors });
  await stage.run(minuteMs);
  await stage.writes(true);
  const path = stage.storePath;
  remove(path);
  await stage.run(minuteMs);
  expect(stage.notified('store_failing')).toEqual(['firing']);
  expect(JSON.stringify(stage.told('store_failing'))).toContain('was deleted or replaced while Warmwarden was running');
  await stage.restart();
  await stage.run(4 * hourMs);
  expect([stage.mailbox(amelia).verdict?.answer.wanted, stage.posts]).toEqual(['recovery', []]);
  expect(stage.fleet().writesOff(stage.clock.now())).toMatchObject([
    { scope: { kind: 'everything' }, by: 'a test', reason: 'to see it (restored: the store that had it was lost)' },
  ]);
  expect(stage.notified('store_failing')).toEqual(['firing', 'resolved']);
  const ended = stage.told('store_failing').at(-1);
  expect(ended?.sentences.join(' ')).toContain(
    'does not act where a write stop is in force. Warmwarden no longer knows its earlier actions and silences. It restored the write stop that was in force.',
  );
  await stage.writes(false);
  await stage.run(hourMs);
  expect(stage.posts).toMatchObject([{ email: amelia, change: 'recovery' }]);
  await stage.restart();
  expect(stage.fleet().writesOff(stage.clock.now())).toEqual([]);
});

test('an action whose end is lost is found done, not sent again, and announced again under another id', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  await stage.run(minuteMs);
  await stage.until('the intent', () => stage.mailbox(amelia).action?.state === 'open', 4 * hourMs);
  const earlier = join(stage.folder, 'earlier.db');
  await backUp(stage.storePath, earlier);
  const notified = () =>
    stage.receiver.notified.filter((message) =>
      stage.receiver.verified(message).some(({ rule }) => rule === 'guard_acted'),
    );
  await stage.until('the message', () => notified().length === 1, hourMs);
  await stage.restart((config) => {
    config['store'] = { url: `sqlite:${earlier}` };
  });
  await stage.run(10 * minuteMs);
  expect(stage.mailbox(amelia).action?.state).toBe('confirmed');
  expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
  const told = notified();
  expect(new Set(told.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  const fingerprints = told
    .flatMap((message) => stage.receiver.verified(message))
    .map(({ fingerprint }) => fingerprint);
  expect(fingerprints).toEqual([fingerprints[0], fingerprints[0]]);
});

describe('a start beside the note of a store that failed', () => {
  const everywhere: WriteScope = { kind: 'everything' };
  const stopOf = (scope: WriteScope, changes: Partial<WritesOff> = {}): WritesOff => ({
    ...{ scope, since: now, until: null, by: 'ann', reason: 'a look first' },
    ...changes,
  });
  const outage = { alert: alertOf('m1', { firingAt: now }), notified: ['ops'] };

  /** A store that failed while these stops were in force, and what the next process has after `meanwhile`. */
  async function next(stops: readonly WritesOff[], meanwhile: (path: string) => void, at = now) {
    const path = join(newFolder(), 'warmwarden.db');
    const failing = await Store.open(path, now);
    const first = { news: failing.news, warnings: failing.warnings };
    await failing.keepOutage(outage);
    failing.keepStops(stops);
    await failing.close();
    meanwhile(path);
    const store = await Store.open(path, at);
    onTestFinished(() => store.close());
    const writesOff = async () => (await store.loadPicture()).writesOff;
    return { path, store, first, writesOff };
  }

  test('says that it created a store, and what was lost; without a note it only says so', async () => {
    const { path, store, first } = await next([], remove);
    expect(first).toEqual({ news: [`Created a new, empty store: ${path}.`], warnings: [] });
    expect(store.news).toEqual([]);
    expect(store.warnings).toEqual([
      `Created a new, empty store: ${path}. The store that was there before was deleted, replaced or moved away. Warmwarden no longer knows its earlier actions and silences. No write stop is in force.`,
    ]);
    expect(await store.outage()).toEqual({ ...outage, loss: { everything: true, stops: 0 } });
  });

  test('puts the stops that were in force and have not expired in force again, once', async () => {
    const bob: WriteScope = { kind: 'mailbox', account: 'acme', mailboxId: 'm1', email: 'bob@one.example' };
    const stops = [
      stopOf(bob, { until: now + hourMs }),
      stopOf(everywhere, { until: now + 1 }),
      stopOf({ kind: 'account', account: 'acme' }),
    ];
    const { path, store, writesOff } = await next(stops, remove, now + 2);
    const reason = 'a look first (restored: the store that had it was lost)';
    const expected = [
      { scope: bob, until: now + hourMs, reason },
      { scope: { kind: 'account' }, by: 'ann', since: now, until: null, reason },
    ];
    expect(await writesOff()).toMatchObject(expected);
    expect(store.warnings.join()).toContain('It restored the 2 write stops that were in force.');
    await store.recordWrites({
      off: [],
      on: [JSON.stringify(['account', 'acme'])],
      alerts: { changed: [], dropped: [], transitions: [] },
    });
    await store.close();
    const again = await Store.open(path, now + 3);
    expect([(await again.loadPicture()).writesOff, again.warnings, again.news]).toMatchObject([
      [{ scope: bob }],
      [],
      [],
    ]);
    await again.close();
  });

  test('puts a stop in force again that a backup from before it lacks', async () => {
    const { store, writesOff } = await next([stopOf(everywhere)], () => {});
    expect(await writesOff()).toMatchObject([{ scope: everywhere }]);
    expect(store.warnings.join()).toContain('lacked a write stop');
  });
});

const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const [, restore = ''] = page.split('## Backup and restore\n');
const lines = restore.split('\n').filter((line) => line.startsWith('cd /var/lib/warmwarden && '));

const beside = ['warmwarden.db.failing', 'warmwarden.db.lock', 'warmwarden.db.sock', 'warmwarden.db.aside-wal'];

test.each([[['warmwarden.db']], [['warmwarden.db', 'warmwarden.db-shm', 'warmwarden.db-wal']]])(
  'of a store with %j they move all of that and nothing else',
  (database) => {
    const folder = newFolder();
    for (const name of [...database, ...beside]) writeFileSync(join(folder, name), name);
    expect(lines).toHaveLength(1);
    for (const line of lines)
      execFileSync('sh', ['-euc', line.replace('/var/lib/warmwarden', folder)], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    const aside = readdirSync(folder).filter((name) => name.startsWith('damaged-'));
    expect(readdirSync(join(folder, ...aside)).sort()).toEqual(database);
    expect(readdirSync(folder).sort()).toEqual([...beside, ...aside].sort());
  },
);
