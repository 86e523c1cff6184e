// What a replica reads of accounts that another one guards: everything once, then only what was written since, and the picture is
// the same as if it had read everything.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { showAnew, showWritten } from '../../src/daemon/reload/shown.ts';
import type { Seen } from '../../src/store/moves.ts';
import { accountScope } from '../../src/store/replicas/membership.ts';
import { Store } from '../../src/store/store.ts';
import { logTo, systemClock } from '../../src/world/world.ts';
import { TestPostgres } from '../support/postgres.ts';
import { alertOf, answers, arrivedMailbox, intentOf, memory, noAlerts, verdictOf } from './records.ts';

const clock = systemClock();
const now = clock.now();
const log = logTo(() => {}, { level: 'info', format: 'json' }, clock);
const follower = { taken: async () => {}, release: async () => {}, abandon: async () => {}, lost: async () => {} };
const account = { name: 'acme', baseUrl: 'http://127.0.0.1:9' };

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test('only the mailboxes that were written since are read again, whatever was written of them', async () => {
  const place = await postgres.database();
  const join = (name: string) =>
    Store.open({ ...place, path: `${place.path}-${name}` }, now, undefined, {
      replica: { clock, log, name, version: '1.0.0' },
    });
  const [owner, other] = [await join('owner'), await join('other')];
  owner.membership.follow(follower);
  await owner.membership.want([accountScope(account.name)]);
  const list = { account: account.name, absent: [], left: [], leftAt: now, alerts: noAlerts, breaker: null };
  const mailboxes = Array.from({ length: 250 }, (_, index) => arrivedMailbox(`m${index}`));
  await owner.recordList({ ...list, present: mailboxes });

  const fleet = new Fleet();
  let seen: Seen | null = null;
  /** One look; the mailboxes that were read. */
  const look = async () => {
    const { mailboxes: read, whole, written, mark } = await other.elsewhere.read([account.name], seen);
    const picture = { ...(await other.loadPicture([])), mailboxes: read };
    if (whole.length > 0) showAnew(fleet, picture, [account]);
    else showWritten(fleet, picture, written, [account]);
    seen = { accounts: [account.name], mark };
    return read.map(({ id }) => id).toSorted();
  };
  /** Shown as one who reads all of it would. */
  const expectSame = async () => {
    const all = new Fleet();
    showAnew(all, await other.loadPicture([account.name]), [account]);
    const byId = (one: Fleet) => [...one.mailboxes()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(fleet)).toEqual(byId(all));
    expect([...fleet.alerts()]).toEqual([...all.alerts()]);
    expect(fleet.recentActions()).toEqual(all.recentActions());
  };
  expect(await look()).toHaveLength(250);
  expect(await look()).toEqual([]);

  const verdict = { at: now + 6, answer: verdictOf() };
  const judged = (id: string): MailboxState => arrivedMailbox(id, { ...answers, memory, verdict });
  const decision = { verdict: verdict.answer, unchanged: false, judged: 1, days: [] };
  const tick = { remembers: true, answered: 'stats', changes: [], decision, actions: [], breaker: null } as const;
  await owner.recordTick({ ...tick, mailbox: judged('m7'), alerts: { ...noAlerts, changed: [alertOf('m7')] } });
  await owner.openIntent({ ...intentOf('m8'), plannedAt: now });
  await owner.recordList({ ...list, present: [], left: mailboxes.filter(({ id }) => id === 'm9') });
  await owner.recordCalm([{ mailbox: judged('m10'), answered: ['stats'], decision: null }]);
  expect(await look()).toEqual(['m10', 'm7', 'm8']);
  await expectSame();
  expect(fleet.mailboxCount()).toBe(249);
  await owner.recordAlerts({ ...noAlerts, dropped: [alertOf('m7').fingerprint] });
  expect(await look()).toEqual([]);
  await expectSame();

  // What was under way at a look, and is committed after it.
  const { host, port, user, database } = place;
  const slow = new pg.Client({ host, port, user, database, options: '-c search_path=warmwarden' });
  await slow.connect();
  await slow.query("BEGIN; UPDATE mailboxes SET missing_lists = 1 WHERE mailbox_id = 'm12'");
  await owner.recordCalm([{ mailbox: judged('m13'), answered: ['stats'], decision: null }]);
  expect(await look()).toEqual(['m13']);
  await slow.query('COMMIT');
  await slow.end();
  expect(await look()).toContain('m12');
  await expectSame();

  // After a failover that lost transactions the mark is ahead of the server.
  seen = { accounts: [account.name], mark: '4000000' };
  expect(await look()).toHaveLength(249);
  // An account that was not seen before is read as a whole.
  seen = { accounts: ['beta'], mark: (await other.elsewhere.read([], null)).mark };
  expect(await look()).toHaveLength(249);
  for (const store of [owner, other]) {
    await store.membership.stop();
    await store.close();
  }
});
