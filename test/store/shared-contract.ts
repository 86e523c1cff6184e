// What every store promises of write stops, runs, retention and circuit breakers: the second part of contract.ts.
import { describe, expect, test } from 'vitest';
import { admit, applyHeld, type BreakerState, closedBreaker, withdraw } from '../../src/core/guard/breaker.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import type { Run } from '../../src/core/recipe.ts';
import { dayMs, minuteMs } from '../../src/core/time.ts';
import { everything, scopeKey, type WritesOff } from '../../src/core/write-scope.ts';
import type { Store } from '../../src/store/store.ts';
import { type Opened, provenOn } from './contract.ts';
import {
  actionOf,
  alertOf,
  answers,
  arrivedMailbox,
  decided,
  decisionsOf,
  emptyAnswer,
  emptyList,
  intentOf,
  memory,
  noAlerts,
  now,
  transitionOf,
  verdictOf,
} from './records.ts';

const off = (scope: WritesOff['scope'], until: number | null = null): WritesOff => ({
  ...{ scope, until, since: now, by: 'ann', reason: 'moving' },
});

const runOf = (id: string): Run => ({
  ...{ id, recipe: 'x', status: 'running', parameters: {}, apply: false, by: 'ann', createdAt: now, startedAt: now },
  ...{ endedAt: null, columns: [], rowCount: 0, truncated: false, error: null },
});

export function describeSharing(name: string, open: () => Promise<Opened>): void {
  describe(`${name}, continued`, () => {
    const it = provenOn(open);

    it('the letter NUL becomes the replacement character, on every database', async ({ store }) => {
      await store.recordList({ ...emptyList, present: [arrivedMailbox('m\0 1')] });
      expect((await store.loadPicture()).mailboxes.map(({ id }) => id)).toEqual(['m\uFFFD 1']);
    });

    test.each([
      ['everything', off(everything)],
      ['the account', off({ kind: 'account', account: 'acme' })],
      ['the mailbox', off({ kind: 'mailbox', account: 'acme', mailboxId: 'm1', email: 'm1@one.example' })],
    ])('an intent is not recorded while writes are off for %s, and the stop comes back', async (_name, stop) => {
      await using opened = await open();
      const { store } = opened;
      await store.recordWrites({ off: [stop], on: [], alerts: noAlerts });
      expect(await store.openIntent(intentOf('m1'))).toEqual(stop);
      expect((await store.loadPicture()).actions).toEqual([]);
      await store.recordWrites({ off: [], on: [scopeKey(stop.scope)], alerts: noAlerts });
      expect(await store.openIntent(intentOf('m1'))).toBeNull();
      expect((await store.loadPicture()).actions).toEqual([intentOf('m1')]);
    });

    it('rows of runs are read piece by piece, and deleted with their run', async (opened) => {
      const { runs } = opened.store;
      const chunk = (firstRow: number) => ({ firstRow, count: 2, rows: '[[1],[2]]' });
      for (const id of ['r1', 'r2']) expect(await runs.write(runOf(id), [chunk(0), chunk(2)])).toBe('written');
      expect((await runs.newest('x', 1)).map(({ id }) => id)).toEqual(['r2']);
      await runs.write({ ...runOf('r0'), by: 'schedule', createdAt: now - 9 });
      expect((await runs.newest('x', 1, { by: 'schedule' })).map(({ id }) => id)).toEqual(['r0']);
      expect((await runs.chunks('r1', 3, 9)).map(({ firstRow }) => firstRow)).toEqual([2]);
      expect(await runs.pruneOne(now + 9)).toBe(false);
      await runs.write({ ...runOf('r1'), status: 'succeeded', endedAt: now });
      expect(await runs.pruneOne(now)).toBe(false);
      expect([await runs.pruneOne(now + 9), await runs.pruneOne(now + 9)]).toEqual([true, false]);
      expect([await runs.read('r1'), await runs.chunks('r1', 0, 9)]).toEqual([null, []]);
      expect(await runs.read('r2')).not.toBe(null);
    });

    it('what is past its retention goes step by step, and what is needed stays', async ({ store, reopen }) => {
      const [stays, leaves] = [arrivedMailbox('m1', { ...answers, memory }), arrivedMailbox('m2', { ...answers })];
      await store.recordList({ ...emptyList, present: [stays, leaves] });
      await store.recordList({ ...emptyList, left: [leaves] });
      for (const at of [now, now + dayMs])
        await store.recordAnswer({
          ...emptyAnswer,
          ...{ mailbox: { ...stays, verdict: { at, answer: verdictOf() } }, remembers: false },
          decisions: decided(verdictOf(), { at }),
        });
      await store.recordActions([actionOf('m1', { state: 'confirmed' })]);
      const delivery = { id: 'd', channel: 'ops', group: 'g', payload: '{}', title: 'd', alerts: [] };
      await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [delivery], now });
      await store.outbox.settleDelivery('d', { kind: 'sent', at: now, detail: null });
      const asked = { now: now + 3 * dayMs, retention: { historyMs: dayMs, messagesMs: dayMs } };
      for (const duty of store.duties(asked)) while (await duty.step());
      const next = await reopen();
      expect((await next.loadPicture()).mailboxes.map(({ id }) => id)).toEqual(['m1']);
      expect(await next.departed('acme', [leaves])).toEqual([]);
      expect((await decisionsOf(next, 'acme', 'm1', 9)).map(({ since }) => since)).toEqual([now + dayMs]);
      expect(await next.outbox.recentDeliveries(9)).toEqual([]);
    });

    it('each mailbox is read back with what is its own, whatever its id and whoever left beside it', async ({
      store,
      reopen,
    }) => {
      const ids = ['b', 'A', 'a', 'B', 'é', 'Z', '10', '9', 'a-b', 'ab', 'a b', 'ä', '_', ''];
      const present = ids.map((id, index) => arrivedMailbox(id, { memory, firstSeenAt: now + index }));
      await store.recordList({ ...emptyList, present });
      await store.recordList({ ...emptyList, left: present.filter((_, index) => index % 3 === 0) });
      const { mailboxes } = await (await reopen()).loadPicture();
      const byAge = mailboxes.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt);
      expect(byAge).toEqual(present.filter((_, index) => index % 3 !== 0));
    });
  });
}

const api = 'https://api.example';

/** The breaker after one more judgement of a mailbox that wants an action. */
export function afterJudging(state: BreakerState, id: string, at = now): BreakerState {
  const domain = `${id}.example`;
  const about = { key: `acme/${id}`, account: 'acme', email: `${id}@${domain}`, domain, weight: 2 };
  const given = { policy: defaultPolicy.breaker, running: () => 20, now: at };
  return admit(state, { ...about, firstSight: false, statsAt: at }, given).state;
}

/** A record that moves the breaker, and the state after it. */
export function moveOf(before: BreakerState, move: (state: BreakerState) => BreakerState) {
  const after = move(before);
  return { record: { alerts: noAlerts, breaker: { api, before, state: after } }, after };
}

const stored = async (store: Store) => (await store.loadPicture()).breakers.find((one) => one.api === api)?.state;
/** A number that JSON does not know fails when the last part of a record is written. */
const unwritable = { ...noAlerts, transitions: [{ ...transitionOf(alertOf('m1')), at: 1n as unknown as number }] };

export function describeBreakers(name: string, open: () => Promise<Opened>): void {
  describe(`${name}, circuit breakers`, () => {
    const it = provenOn(open);

    it('each judgement, withdrawal and application is read back as it was decided, entry by entry in their order', async (opened) => {
      let { store } = opened;
      let [state, at, seed] = [closedBreaker, now, 7];
      const upTo = (most: number) => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % most;
      };
      for (let step = 0; step < 150; step += 1) {
        at += upTo(9) * minuteMs;
        const [id, kind] = [`m${upTo(12)}`, upTo(20)];
        const { record, after } = moveOf(state, (before) => {
          if (kind === 0) return applyHeld(before);
          return kind < 4 ? withdraw(before, `acme/${id}`) : afterJudging(before, id, at);
        });
        if (after === state) continue;
        await store.recordBreaker(record);
        expect(await stored(store)).toEqual(after);
        // A later process goes on from what it reads.
        if (step % 10 === 0) store = await opened.reopen();
        state = step % 10 === 0 || step % 3 === 0 ? ((await stored(store)) ?? closedBreaker) : after;
      }
      expect(state.entries.length).toBeGreaterThan(2);
    });

    it('many entries come and go in one event', async ({ store }) => {
      const many = moveOf(closedBreaker, (before) => {
        const ids = Array.from({ length: 250 }, (_, index) => `m${index}`);
        return ids.reduce((state, id) => afterJudging(state, id), before);
      });
      await store.recordBreaker(many.record);
      expect(await stored(store)).toEqual(many.after);
      const applied = moveOf(many.after, applyHeld);
      await store.recordBreaker(applied.record);
      expect(await stored(store)).toEqual(applied.after);
      expect(applied.after.approved.length).toBeGreaterThan(200);
    });

    it('a move that could not be written leaves the stored state, and the next one goes on from it', async ({
      store,
    }) => {
      const first = moveOf(closedBreaker, (state) => afterJudging(state, 'm1'));
      await store.recordBreaker(first.record);
      const lost = moveOf(first.after, (state) => afterJudging(state, 'm2'));
      await expect(store.recordBreaker({ ...lost.record, alerts: unwritable })).rejects.toThrow();
      expect(await stored(store)).toEqual(first.after);
      const next = moveOf(first.after, (state) => afterJudging(state, 'm3'));
      await store.recordBreaker(next.record);
      expect(await stored(store)).toEqual(next.after);
    });
  });
}
