// What a list and a person change in a breaker, in the picture and in the store. `breaker apply`: test/operations/holds.test.ts.
import { expect, test } from 'vitest';
import { endHolds } from '../../src/account/record/breakers.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { type BreakerEntry, type BreakerState, closedBreaker } from '../../src/core/guard/breaker.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { noTally } from '../../src/core/records.ts';
import { hourMs } from '../../src/core/time.ts';
import type { Store } from '../../src/store/store.ts';
import { memory, noAlerts, now } from '../store/records.ts';
import { recording } from './recording.ts';

const api = 'https://api.example';
const settings = { api, rules: defaultRuleSettings, windowMs: 0 };

const entryOf = (account: string, id: string): BreakerEntry => ({
  ...{ key: `${account}/${id}`, account, email: `${id}@one.example`, domain: 'one.example' },
  ...{ at: now, held: true, firstSight: false, weight: 1 },
});
const holding = (...entries: readonly BreakerEntry[]): BreakerState => ({ ...closedBreaker, openSince: now, entries });

/** m2 is held, and a mailbox of another account. */
async function begin() {
  const stage = await recording(['m1', 'm2']);
  const { store, fleet, turns, world } = stage;
  const state = holding(entryOf('acme', 'm2'), entryOf('other', 'm9'));
  await store.recordBreaker({ breaker: { api, before: closedBreaker, state }, alerts: noAlerts });
  fleet.putBreaker(api, state);
  const rooms = { store, fleet, turns, world, onTransitions: () => {} };
  const both = async () => [fleet.breaker(api), (await store.loadPicture()).breakers[0]?.state];
  return { ...stage, rooms: { ...rooms, group: stage.group, tally: noTally }, both };
}

test('a mailbox leaves: what another account waits for stays held', async () => {
  await using stage = await begin();
  const list = async () => {
    const mailboxes = [stage.mailbox('m1')?.entry.answer ?? expect.fail()];
    await stage.recorder.listed({ at: stage.clock.now(), answer: { mailboxes, truncated: false } });
  };
  await list();
  await stage.clock.advance(2 * hourMs);
  await list();
  expect(stage.mailbox('m2')).toBeUndefined();
  const left = holding(entryOf('other', 'm9'));
  expect(await stage.both()).toEqual([left, left]);
});

test('a discard that cannot be recorded forgets no count and drops no hold', async () => {
  await using stage = await begin();
  const { fleet, store } = stage;
  const held = { ...(stage.mailbox('m2') ?? expect.fail()), memory };
  await store.recordMailbox(held);
  fleet.putMailbox(held);
  const full = () => Promise.reject(new Error('the disk is full'));
  const failing = { recordMailbox: (one: MailboxState) => store.recordMailbox(one), recordBreaker: full };
  const rooms = { ...stage.rooms, store: failing as unknown as Store };
  const before = await stage.both();
  await expect(endHolds(rooms, settings, { end: 'discard', agreed: null })).rejects.toThrow('full');
  expect([await stage.both(), stage.mailbox('m2')?.memory]).toEqual([before, memory]);
  await endHolds(stage.rooms, settings, { end: 'discard', agreed: null });
  const { mailboxes } = await store.loadPicture();
  expect(mailboxes.find(({ id }) => id === 'm2')?.memory).toEqual(stage.mailbox('m2')?.memory);
  expect(stage.mailbox('m2')?.memory).not.toEqual(memory);
});
