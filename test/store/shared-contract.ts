// What every store promises of emergency stops, runs, retention, and writes that wait for others: the second part of contract.ts.

import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/core/recipe.ts';
import { dayMs } from '../../src/core/time.ts';
import { everything, scopeKey, type WritesOff } from '../../src/core/write-scope.ts';
import { decisionsOf } from '../support/decisions-of.ts';
import type { Opened } from './contract.ts';
import {
  actionOf,
  answers,
  arrivedMailbox,
  decided,
  emptyList,
  emptyTick,
  intentOf,
  memory,
  noAlerts,
  now,
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
    test('the letter NUL becomes the replacement character, on every database', async () => {
      await using opened = await open();
      const { store } = opened;
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

    test('rows of runs are read piece by piece, and deleted with their run', async () => {
      await using opened = await open();
      const { runs } = opened.store;
      const chunk = (firstRow: number) => ({ firstRow, count: 2, rows: '[[1],[2]]' });
      for (const id of ['r1', 'r2']) expect(await runs.write(runOf(id), [chunk(0), chunk(2)])).toBe('written');
      expect((await runs.newest('x', 1)).map(({ id }) => id)).toEqual(['r2']);
      expect((await runs.chunks('r1', 3, 9)).map(({ firstRow }) => firstRow)).toEqual([2]);
      expect(await runs.pruneOne(now + 9)).toBe(false);
      await runs.write({ ...runOf('r1'), status: 'succeeded', endedAt: now });
      expect(await runs.pruneOne(now)).toBe(false);
      expect([await runs.pruneOne(now + 9), await runs.pruneOne(now + 9)]).toEqual([true, false]);
      expect([await runs.read('r1'), await runs.chunks('r1', 0, 9)]).toEqual([null, []]);
      expect(await runs.read('r2')).not.toBe(null);
    });

    test('what is past its retention goes step by step, and what is needed stays', async () => {
      await using opened = await open();
      const { store } = opened;
      const [stays, leaves] = [arrivedMailbox('m1', { ...answers, memory }), arrivedMailbox('m2', { ...answers })];
      await store.recordList({ ...emptyList, present: [stays, leaves] });
      await store.recordList({ ...emptyList, left: [leaves] });
      for (const at of [now, now + dayMs])
        await store.recordTick({
          ...emptyTick,
          ...{ mailbox: { ...stays, verdict: { at, answer: verdictOf() } }, remembers: false },
          decisions: decided(verdictOf(), { at }),
        });
      await store.recordActions([actionOf('m1', { state: 'confirmed' })]);
      const delivery = { id: 'd', channel: 'ops', group: 'g', payload: '{}', title: 'd', alerts: [] };
      await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [delivery], now });
      await store.outbox.settleDelivery('d', { kind: 'sent', at: now, detail: null });
      const retention = { decisionsMs: dayMs, deliveriesMs: dayMs, changesMs: dayMs };
      const others = { observationsMs: dayMs, runsMs: dayMs, departedMs: dayMs };
      const asked = { now: now + 3 * dayMs, retention: { ...retention, ...others } };
      for (const duty of store.duties(asked)) while (await duty.step());
      const next = await opened.reopen();
      expect((await next.loadPicture()).mailboxes.map(({ id }) => id)).toEqual(['m1']);
      expect(await next.departed('acme', [leaves])).toEqual([]);
      expect((await decisionsOf(next, 'acme', 'm1', 9)).map(({ since }) => since)).toEqual([now + dayMs]);
      expect(await next.outbox.recentDeliveries(9)).toEqual([]);
    });

    test('each mailbox is read back with what is its own, whatever its id and whoever left beside it', async () => {
      await using opened = await open();
      const { store } = opened;
      const ids = ['b', 'A', 'a', 'B', 'é', 'Z', '10', '9', 'a-b', 'ab', 'a b', 'ä', '_', ''];
      const present = ids.map((id, index) => arrivedMailbox(id, { memory, firstSeenAt: now + index }));
      await store.recordList({ ...emptyList, present });
      await store.recordList({ ...emptyList, left: present.filter((_, index) => index % 3 === 0) });
      const { mailboxes } = await (await opened.reopen()).loadPicture();
      const byAge = mailboxes.toSorted((a, b) => a.firstSeenAt - b.firstSeenAt);
      expect(byAge).toEqual(present.filter((_, index) => index % 3 !== 0));
    });
  });
}
