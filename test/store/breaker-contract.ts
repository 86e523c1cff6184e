// What every store promises of circuit breakers, whose entries are a row each: the third part of contract.ts.
import { describe, expect, test } from 'vitest';
import { admit, type BreakerState, closedBreaker, release, withdraw } from '../../src/core/guard/breaker.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { minuteMs } from '../../src/core/time.ts';
import type { Store } from '../../src/store/store.ts';
import type { Opened } from './contract.ts';
import { alertOf, noAlerts, now, transitionOf } from './records.ts';

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
    test('each judgement, withdrawal and release is read back as it was decided, entry by entry in their order', async () => {
      await using opened = await open();
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
          if (kind === 0) return release(before);
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

    test('many entries come and go in one event', async () => {
      await using opened = await open();
      const { store } = opened;
      const many = moveOf(closedBreaker, (before) => {
        const ids = Array.from({ length: 250 }, (_, index) => `m${index}`);
        return ids.reduce((state, id) => afterJudging(state, id), before);
      });
      await store.recordBreaker(many.record);
      expect(await stored(store)).toEqual(many.after);
      const released = moveOf(many.after, release);
      await store.recordBreaker(released.record);
      expect(await stored(store)).toEqual(released.after);
      expect(released.after.released.length).toBeGreaterThan(200);
    });

    test('a move that could not be written leaves the stored state, and the next one goes on from it', async () => {
      await using opened = await open();
      const { store } = opened;
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
