// A mass breach split over two replicas on one PostgreSQL is held as one, and a release on one of them frees what the other guards.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseBreaker } from '../../src/account/record/breakers.ts';
import { heldEntries } from '../../src/core/breaker.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { SharedState } from '../../src/operations/shared-state.ts';
import { accountScope } from '../../src/store/replicas/membership.ts';
import { Store } from '../../src/store/store.ts';
import { logTo, systemClock } from '../../src/world/world.ts';
import { arrivedMailbox, now } from '../store/records.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { answerOf, recordingOn, statsOfToday } from './recording.ts';

const api = 'https://api.example';
const accountsOfApi = ['a', 'b'];

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** A replica that guards one account, with four mailboxes on four domains. */
async function replicaOn(place: Awaited<ReturnType<TestPostgres['database']>>, account: string) {
  const clock = systemClock();
  const log = logTo(() => {}, { level: 'info', format: 'json' }, clock);
  const replica = { clock, log, name: account, version: '1' };
  // What each keeps beside the store is its own.
  const store = await Store.open({ ...place, path: `${place.path}.${account}` }, now, undefined, { replica });
  const nothing = async () => {};
  store.membership.follow({ taken: nothing, release: nothing, abandon: nothing, lost: nothing });
  await store.membership.want([accountScope(account)]);
  await until('its account to be its own', () => store.membership.holds(accountScope(account)));
  const mailboxes = ['m1', 'm2', 'm3', 'm4'].map((id) => arrivedMailbox(id, { account, email: `${id}@${id}.example` }));
  const stage = await recordingOn(store, { account, accountsOfApi, mailboxes, commitEveryMs: 0 });
  const { fleet, turns, world, recorder } = stage;
  const judgeAgain = async (those: Iterable<MailboxState>) => {
    for (const mailbox of those) if (mailbox.account === account) await recorder.judgedAgain(mailbox.id);
  };
  const rooms = { fleet, store, turns, world, onTransitions: () => {}, judgeAgain, isOwn: () => false };
  return {
    rooms,
    shared: new SharedState(rooms),
    /** All its mailboxes bounce, one after the other. */
    breach: async () => {
      for (const { id } of mailboxes) {
        await stage.answered(id, answerOf('warmup', now));
        await stage.answered(id, statsOfToday(200, 20));
        await stage.answered(id, statsOfToday(201, 21));
      }
    },
    acting: () => [...fleet.mailboxesOf(account)].filter(({ action }) => action !== null).map(({ id }) => id),
    [Symbol.asyncDispose]: async () => {
      await store.membership.stop();
      await stage[Symbol.asyncDispose]();
    },
  };
}

test('a mass breach that is split over two replicas is held as one, told as one, and released on both by one', async () => {
  const place = await postgres.database();
  await using first = await replicaOn(place, 'a');
  await using second = await replicaOn(place, 'b');
  await Promise.all([first.breach(), second.breach()]);
  const acting = () => first.acting().length + second.acting().length;
  const [stored] = await first.rooms.store.shared.breakers();
  const keys = stored?.state.entries.map(({ key }) => key) ?? [];
  expect(keys.toSorted()).toEqual(accountsOfApi.flatMap((account) => [1, 2, 3, 4].map((id) => `${account}/m${id}`)));
  // Four are not many; the fifth is one too many, whoever's it is.
  expect([acting(), stored && heldEntries(stored.state).length]).toEqual([4, 4]);
  const told = async () => {
    const transitions = await first.rooms.store.outbox.unnotifiedTransitions(100);
    const ofBreaker = transitions.filter(({ transition }) => transition.alert.rule === 'guard_held');
    return ofBreaker.map(({ transition }) => transition.kind);
  };
  // It began with one. Each further one is an emergency, which is news, whoever's it is.
  expect(await told()).toEqual(['firing', 'worsened', 'worsened', 'worsened']);

  for (const { shared } of [first, second]) await shared.look();
  const held = await releaseBreaker(first.rooms, { api, pageUrl: null, rules: defaultRuleSettings, windowMs: 0 }, null);
  expect(held).toHaveLength(4);
  for (const { shared } of [first, second]) await shared.look();
  expect(acting()).toBe(8);
  expect(await told()).toEqual(['firing', 'worsened', 'worsened', 'worsened', 'resolved']);
});
