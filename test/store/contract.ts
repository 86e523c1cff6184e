// What every store promises, as one suite: run it on each kind of store there is.

import { describe, expect, test } from 'vitest';
import { actionAfter } from '../../src/core/action.ts';
import type { Alert } from '../../src/core/alert.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import type { BudgetLedger, NotificationLogChanges } from '../../src/core/records.ts';
import type { StorePlace } from '../../src/core/store-failure.ts';
import { Store } from '../../src/store/store.ts';
import {
  actionOf,
  alertOf,
  answers,
  arrivedMailbox,
  decided,
  decisionsOf,
  emptyAnswer,
  emptyList,
  memory,
  noAlerts,
  now,
  transitionOf,
  verdictOf,
} from './records.ts';

/** One store, and the next one on the same disk. */
export interface Opened extends AsyncDisposable {
  readonly store: Store;
  /** Closes, and opens what is there. */
  reopen(): Promise<Store>;
}

/** Opens a store in a new place each time. */
export const openerOf = (newPlace: () => StorePlace | Promise<StorePlace>) => async (): Promise<Opened> => {
  const place = await newPlace();
  let store = await Store.open(place, now);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await Store.open(place, now);
      return store;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
};

type Proof = (opened: Opened) => Promise<void>;

/** Makes tests of which each has a store of its own. */
export const provenOn = (open: () => Promise<Opened>) => (name: string, proof: Proof) =>
  test(name, async () => {
    await using opened = await open();
    await proof(opened);
  });

const delivery = (id: string, channel = 'ops') => ({
  id,
  channel,
  group: 'g',
  payload: `{"id":"${id}"}`,
  title: id,
  alerts: [`alert of ${id}`],
});

/** A record of new deliveries. */
const made = (...deliveries: readonly ReturnType<typeof delivery>[]) => ({ transitionIds: [], deliveries, now });

async function known(store: Store, ...mailboxes: readonly MailboxState[]): Promise<void> {
  await store.recordList({ ...emptyList, present: mailboxes });
}

export function describeStore(name: string, open: () => Promise<Opened>): void {
  describe(name, () => {
    const it = provenOn(open);

    it('the picture after a reopen is what was put, field by field', async (opened) => {
      const action = actionOf('m1', { state: 'unconfirmed', attempts: 2, openedAt: now + 7, nextTryAt: now + 60_000 });
      const verdict = { at: now + 6, answer: verdictOf() };
      const mailbox = arrivedMailbox('m1', { ...answers, memory, verdict, action });
      const other = arrivedMailbox('m2', { account: 'beta', missingLists: 1 });
      const alert = alertOf('m1');
      await known(opened.store, mailbox, other);
      await opened.store.recordAnswer({ ...emptyAnswer, mailbox, answered: ['warmup', 'mailbox', 'dns', 'blacklist'] });
      await opened.store.recordAnswer({
        ...{ ...emptyAnswer, mailbox },
        decisions: decided(verdict.answer, { at: verdict.at, days: [['2026-03-10', 12, 1]] }),
        actions: [action],
        alerts: { ...noAlerts, changed: [alert] },
        breaker: { api: 'https://api.example', state: closedBreaker, before: closedBreaker },
      });
      const store = await opened.reopen();
      const picture = await store.loadPicture();
      expect(picture.mailboxes.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([mailbox, other]);
      expect([picture.alerts, picture.actions]).toEqual([[alert], [action]]);
      expect(picture.breakers).toEqual([{ api: 'https://api.example', state: closedBreaker }]);
    });

    it('an answer is recorded as a whole or not at all', async (opened) => {
      const before = arrivedMailbox('m1');
      await known(opened.store, before);
      const after = arrivedMailbox('m1', { ...answers, memory, verdict: { at: now, answer: verdictOf() } });
      // A number that JSON does not know fails when the last part, the transition, is written.
      const broken = { ...transitionOf(alertOf('m1')), at: 1n as unknown as number };
      const record = {
        ...{ ...emptyAnswer, mailbox: after, decisions: decided(verdictOf()) },
        actions: [actionOf('m1')],
        alerts: { ...noAlerts, changed: [alertOf('m1')], transitions: [broken] },
      };
      await expect(opened.store.recordAnswer(record)).rejects.toThrow();
      const none = { alerts: [], actions: [], breakers: [], incidents: [], writesOff: [], silences: [] };
      const nothing = { mailboxes: [before], ...none };
      expect(await opened.store.loadPicture()).toEqual(nothing);
      expect(await decisionsOf(opened.store, 'acme', 'm1', 10)).toEqual([]);
      const store = await opened.reopen();
      expect(await store.loadPicture()).toEqual(nothing);
      const sound = { ...record, alerts: { ...record.alerts, transitions: [transitionOf(alertOf('m1'))] } };
      await store.recordAnswer(sound);
      expect((await store.loadPicture()).actions).toHaveLength(1);
    });

    it('the same verdict again makes its span longer, another one begins a new span', async (opened) => {
      const judged = async (at: number, reason: 'ok' | 'no_data', unchanged: boolean) => {
        const verdict = verdictOf({ reason, dataAgeMs: at - now });
        const mailbox = arrivedMailbox('m1', { verdict: { at, answer: verdict } });
        await opened.store.recordAnswer({ ...emptyAnswer, mailbox, decisions: decided(verdict, { at, unchanged }) });
      };
      await judged(now, 'ok', true);
      await judged(now + 10, 'ok', true);
      await judged(now + 20, 'no_data', false);
      await judged(now + 30, 'no_data', true);
      await judged(now + 40, 'ok', false);
      const beside = arrivedMailbox('m2', { verdict: { at: now, answer: verdictOf() } });
      const decisions = decided(verdictOf(), { unchanged: true });
      await opened.store.recordAnswer({ ...emptyAnswer, mailbox: beside, decisions });
      const store = await opened.reopen();
      const spans = await decisionsOf(store, 'acme', 'm1', 10);
      expect(
        spans.map(({ since, until, count, verdict }) => [since - now, until - now, count, verdict.reason]),
      ).toEqual([
        [40, 40, 1, 'ok'],
        [20, 30, 2, 'no_data'],
        [0, 10, 2, 'ok'],
      ]);
      expect(spans[1]?.verdict.dataAgeMs).toBe(30);
      expect((await decisionsOf(store, 'acme', 'm2', 10)).map(({ count }) => count)).toEqual([1]);
    });

    it('a span keeps the counts and days that it began with, and the newest', async (opened) => {
      const days = (sent: number) =>
        [
          ['2026-03-08', null, 0],
          ['2026-03-10', sent, 1],
          ['2026-03-10', sent - 1, 1],
        ] as const;
      for (const [at, sent] of [
        [0, 160],
        [10, 161],
        [20, 170],
      ] as const) {
        const verdict = verdictOf({ sent, dataAgeMs: at, wanted: 'hold', warnings: [] });
        const mailbox = arrivedMailbox('m1', { verdict: { at: now + at, answer: verdict } });
        const decisions = decided(verdict, { at: now + at, unchanged: at > 0, days: days(sent) });
        await opened.store.recordAnswer({ ...emptyAnswer, mailbox, decisions });
      }
      const store = await opened.reopen();
      expect(await decisionsOf(store, 'acme', 'm1', 10)).toEqual([
        {
          ...{ since: now, until: now + 20, count: 3 },
          ...{ firstSent: 160, firstDays: days(160), days: days(170) },
          verdict: verdictOf({ sent: 170, dataAgeMs: 20, wanted: 'hold', warnings: [] }),
        },
      ]);
    });

    it('an intent that was opened is there after a reopen, and so is its outcome', async (opened) => {
      const mailbox = arrivedMailbox('m1');
      await known(opened.store, mailbox);
      const intent = actionOf('m1', { state: 'open', attempts: 1, openedAt: now + 5 });
      await opened.store.recordActions([intent]);
      let store = await opened.reopen();
      expect((await store.loadPicture()).mailboxes[0]?.action).toEqual(intent);
      const action = actionAfter(intent, { kind: 'confirmed', detail: 'read back', at: now + 9 });
      const notified = transitionOf(alertOf('m1'), 'event');
      await store.settleIntent({
        actions: [action],
        mailbox: { ...mailbox, memory, action },
        changes: [],
        alerts: { ...noAlerts, transitions: [notified] },
      });
      store = await opened.reopen();
      const picture = await store.loadPicture();
      expect([picture.mailboxes[0]?.memory, picture.mailboxes[0]?.action, picture.actions]).toEqual([
        memory,
        action,
        [action],
      ]);
      expect((await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition)).toEqual([notified]);
    });

    it('the audit log is narrowed to a person, and actions to those of the guard', async ({ store }) => {
      const begin = { reason: 'r', account: 'acme', mailboxes: [], at: now };
      for (const [by, name] of [
        ['ann', 'pause'],
        ['bob', 'pause'],
        ['ann', 'undo'],
      ] as const)
        await store.audit.beginCommand({ ...begin, by, name, command: name });
      const person = { name: 'ann', reason: 'emergency' };
      await store.recordActions([actionOf('m1', { id: 'a1' }), actionOf('m3', { id: 'a3', by: person })]);
      const all = { since: 0, mailbox: null, limit: 9 };
      const commands = async (by: string | null) =>
        (await store.audit.commands({ ...all, by })).map((one) => `${one.by} ${one.name}`);
      expect(await commands('ann')).toEqual(['ann undo', 'ann pause']);
      expect(await commands(null)).toHaveLength(3);
      expect((await store.audit.guardActions(all)).map(({ id }) => id)).toEqual(['a1']);
    });

    it('a list records who is new, absent and gone; who has left is not loaded any more', async (opened) => {
      const [stays, absent, leaves] = ['m1', 'm2', 'm3'].map((id) => arrivedMailbox(id));
      if (!stays || !absent || !leaves) throw new Error('three mailboxes');
      await known(opened.store, stays, absent, leaves);
      const moved = arrivedMailbox('m1', {
        entry: { at: now + 9, answer: { ...stays.entry.answer, status: 'paused' } },
      });
      const missing = { ...absent, missingLists: 1 };
      const alerts = { ...noAlerts, changed: [alertOf('m3', { status: 'resolved', resolvedAt: now + 9 })] };
      await opened.store.recordAlerts({ ...noAlerts, changed: [alertOf('m3')] });
      await opened.store.recordList({
        ...emptyList,
        present: [moved],
        absent: [missing],
        left: [leaves],
        leftAt: now + 9,
        alerts,
      });
      const picture = await (await opened.reopen()).loadPicture();
      expect(picture.mailboxes.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([moved, missing]);
      expect(picture.alerts).toEqual([]);
    });

    it('of those who left only the ones that are asked for are read, by id or by address', async (opened) => {
      const left = ['m1', 'm2', 'm3', 'm4'].map((id) => arrivedMailbox(id, { memory }));
      await known(opened.store, ...left, arrivedMailbox('here'));
      await opened.store.recordList({ ...emptyList, left });
      const store = await opened.reopen();
      const asked = [
        { id: 'm2', email: 'new@one.example' },
        { id: 'x', email: 'M4@One.Example' },
        { id: 'here', email: '' },
      ];
      expect(await store.departed('acme', asked)).toEqual([left[1], left[3]]);
      expect([await store.departed('beta', asked), await store.departed('acme', [])]).toEqual([[], []]);
    });

    it('accounts may swap their names: mailboxes, history and write stops go with them', async ({ store, reopen }) => {
      const named = (name: string, api: string) => ({ name, api, digest: `digest of ${api}` });
      await store.recordAccounts({
        accounts: [named('acme', 'https://one.example'), named('beta', 'https://two.example')],
        moves: [],
        alerts: noAlerts,
      });
      const settled = { openedAt: now, settledAt: now, nextTryAt: null };
      const action = actionOf('m1', { state: 'confirmed', attempts: 1, ...settled });
      const verdict = { at: now, answer: verdictOf() };
      const mine = arrivedMailbox('m1', { ...answers, memory, verdict, action });
      await known(store, mine);
      await store.recordAnswer({ ...emptyAnswer, mailbox: mine, decisions: decided(verdictOf()), actions: [action] });
      await store.recordList({ ...emptyList, account: 'beta', present: [arrivedMailbox('m1', { account: 'beta' })] });
      const off = { since: now, until: null, by: 'a person', reason: 'a look first' };
      const stops = [
        { ...off, scope: { kind: 'account', account: 'acme' } as const },
        { ...off, scope: { kind: 'mailbox', account: 'beta', mailboxId: 'm1', email: 'm1@one.example' } as const },
      ];
      await store.recordWrites({ off: stops, on: [], alerts: noAlerts });
      const spent = (limit: number) => ({ at: now, limit }) as BudgetLedger;
      await store.saveLedgers([
        { account: 'acme', budget: spent(60) },
        { account: 'beta', budget: spent(300) },
      ]);
      await store.recordAccounts({
        accounts: [named('acme', 'https://two.example'), named('beta', 'https://one.example')],
        moves: [
          { from: 'acme', to: 'beta', ids: null },
          { from: 'beta', to: 'acme', ids: null },
        ],
        alerts: noAlerts,
      });
      const after = await reopen();
      const { mailboxes, writesOff } = await after.loadPicture();
      expect(mailboxes).toHaveLength(2);
      const [acme, beta] = mailboxes;
      expect((await after.ledgers()).map(({ account, budget }) => `${account} ${budget.limit}`).toSorted()).toEqual([
        'acme 300',
        'beta 60',
      ]);
      expect([acme?.account, acme?.memory, acme?.action]).toEqual(['acme', null, null]);
      expect([beta?.account, beta?.memory, beta?.action]).toEqual(['beta', memory, { ...action, account: 'beta' }]);
      expect([
        (await decisionsOf(after, 'beta', 'm1', 9)).length,
        (await decisionsOf(after, 'acme', 'm1', 9)).length,
      ]).toEqual([1, 0]);
      expect(writesOff.map(({ scope }) => scope)).toEqual(
        expect.arrayContaining([
          { kind: 'account', account: 'beta' },
          { kind: 'mailbox', account: 'acme', mailboxId: 'm1', email: 'm1@one.example' },
        ]),
      );
      expect((await after.knownAccounts()).map(({ name, api }) => [name, api])).toEqual([
        ['acme', 'https://two.example'],
        ['beta', 'https://one.example'],
      ]);
    });

    it('an account that gets the name of one that is gone has nothing of its mailboxes', async ({ store, reopen }) => {
      const named = (name: string, api: string) => ({ name, api, digest: `digest of ${api}` });
      const [gone, stays] = [named('acme', 'https://one.example'), named('beta', 'https://two.example')];
      await store.recordAccounts({ accounts: [gone, stays], moves: [], alerts: noAlerts });
      const theirs = ['m1', 'm2'].map((id) => arrivedMailbox(id, { ...answers, memory }));
      await known(store, ...theirs);
      for (const mailbox of theirs) {
        const actions = [actionOf(mailbox.id, { id: `action of ${mailbox.id}`, state: 'confirmed' })];
        await store.recordAnswer({ ...emptyAnswer, mailbox, decisions: decided(verdictOf()), actions });
      }
      const own = arrivedMailbox('m1', { account: 'beta' });
      await store.recordList({ ...emptyList, account: 'beta', present: [own] });
      const moves = [{ from: 'beta', to: 'acme', ids: null }];
      await store.recordAccounts({ accounts: [named('acme', stays.api)], moves, alerts: noAlerts });
      const after = await reopen();
      const { mailboxes, actions } = await after.loadPicture();
      expect([mailboxes, actions]).toEqual([[{ ...own, account: 'acme' }], []]);
      for (const id of ['m1', 'm2']) expect(await decisionsOf(after, 'acme', id, 9)).toEqual([]);
    });

    it('a mailbox that another account of the API left behind is found by its id, and moved with the list', async ({
      store,
      reopen,
    }) => {
      const api = 'https://one.example';
      const named = (name: string, of = api) => ({ name, api: of, digest: name });
      const accounts = [named('acme'), named('beta'), named('elsewhere', 'https://two.example')];
      await store.recordAccounts({ accounts, moves: [], alerts: noAlerts });
      await known(store, arrivedMailbox('m1', { memory }), arrivedMailbox('m2', { memory }));
      await store.recordList({
        ...emptyList,
        account: 'elsewhere',
        present: [arrivedMailbox('m3', { account: 'elsewhere' })],
      });
      const asked = ['m1', 'm2', 'm3'].map((id) => ({ id, email: `${id}@one.example` }));
      const found = async (guarded: readonly string[]) =>
        (await store.departed('beta', asked, { api, guarded })).map(({ account, id }) => `${account}/${id}`).sort();
      // What a configured account has not lost is its own.
      expect([await found(['acme', 'beta']), await found(['beta'])]).toEqual([[], ['acme/m1', 'acme/m2']]);
      // The same id with another address is another mailbox, behind the same address of the API.
      const others = asked.map(({ id }) => ({ id, email: 'other@two.example' }));
      expect(await store.departed('beta', others, { api, guarded: ['beta'] })).toEqual([]);
      const present = [arrivedMailbox('m1', { account: 'beta', memory })];
      const off = { since: now, until: null, by: 'a person', reason: 'a look first' };
      const stop = { ...off, scope: { kind: 'account', account: 'acme' } as const };
      await store.recordWrites({ off: [stop], on: [], alerts: noAlerts });
      // A command about the mailbox under both accounts.
      const names = ['acme', 'beta'].map((account) => ({ account, id: 'm1', email: 'm1@one.example' }));
      const command = { name: 'breaker-apply', command: 'breaker apply', account: null } as const;
      await store.audit.beginCommand({ ...command, at: now, by: 'ann', reason: 'a look', mailboxes: names });
      await store.recordList({
        ...emptyList,
        account: 'beta',
        moves: [{ from: 'acme', to: 'beta', ids: ['m1'] }],
        present,
      });
      const { mailboxes, writesOff } = await (await reopen()).loadPicture();
      const email = mailboxes.find(({ id }) => id === 'm1')?.email;
      expect(writesOff.map(({ scope }) => scope)).toEqual([
        { kind: 'account', account: 'acme' },
        { kind: 'mailbox', account: 'beta', mailboxId: 'm1', email },
      ]);
      expect(mailboxes.map(({ account, id }) => `${account}/${id}`)).toEqual(['acme/m2', 'beta/m1', 'elsewhere/m3']);
    });

    it('of alerts that many changes move, the later state counts, and what is dropped or ends goes', async ({
      store,
    }) => {
      const ids = Array.from({ length: 1_600 }, (_, index) => `m${index}`);
      const alerts = ids.map((id) => alertOf(id));
      const ended = alerts.map((alert) => ({ ...alert, status: 'resolved' as const }));
      await store.recordAlerts({ ...noAlerts, changed: alerts });
      expect((await store.loadPicture()).alerts).toHaveLength(1_600);
      const dropped = ids.slice(800).map((id) => alertOf(id).fingerprint);
      const again = { ...alertOf('m0'), seen: 7 };
      await store.recordAlerts({ changed: [...ended.slice(0, 800), again], dropped, transitions: [] });
      expect((await store.loadPicture()).alerts).toEqual([again]);
    });

    it('transitions wait in their order until deliveries are made of them, all at once', async (opened) => {
      const transitions = ['m1', 'm2', 'm3'].map((id) => transitionOf(alertOf(id)));
      await opened.store.recordAlerts({ ...noAlerts, transitions });
      const first = await opened.store.outbox.unnotifiedTransitions(2);
      expect(first.map(({ transition }) => transition.alert.mailboxId)).toEqual(['m1', 'm2']);
      const transitionIds = first.map(({ id }) => id);
      await opened.store.outbox.recordDeliveries({ transitionIds, deliveries: [delivery('d1')], now });
      // The same id twice: neither the mark nor the message is kept.
      const [last] = await opened.store.outbox.unnotifiedTransitions(10);
      const again = { transitionIds: [last?.id ?? 0], deliveries: [delivery('d2'), delivery('d1')], now };
      await expect(opened.store.outbox.recordDeliveries(again)).rejects.toThrow();
      const store = await opened.reopen();
      expect(
        (await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition.alert.mailboxId),
      ).toEqual(['m3']);
      expect((await store.outbox.pendingDeliveries('ops', 10)).map(({ id }) => id)).toEqual(['d1']);
    });

    it('what people know, when each group was told, and silences are there after a reopen', async (opened) => {
      const announcement = { fingerprint: 'f1', at: now, severity: 'warning', channels: ['ops'] } as const;
      const record = (notificationLog: NotificationLogChanges, at: number) =>
        opened.store.outbox.recordDeliveries({ ...made(), notificationLog, now: at });
      const many = Array.from({ length: 1_200 }, (_, number) => ({ ...announcement, fingerprint: `many${number}` }));
      await record({ announced: [announcement, ...many], ended: [], groups: ['a|r', 'b|r'] }, now);
      const louder = { ...announcement, severity: 'critical', channels: ['ops', 'hook'] } as const;
      // What one look says twice counts as it was said last.
      const twice = { announced: [announcement, louder], groups: ['a|r', 'a|r'] };
      await record({ ...twice, ended: many.map(({ fingerprint }) => fingerprint) }, now + 5);
      const silence = { id: 's1', match: { rule: ['dns_*'] }, by: 'ann', reason: 'moving', from: now, until: now + 9 };
      await opened.store.recordSilence(silence);
      await opened.store.recordSilence({ ...silence, until: now + 3 });
      const waiting = (about: string, channel = 'ops') => ({
        ...{
          channel,
          about,
          isKnown: true,
          since: now,
          to: [channel],
          transitions: [transitionOf(alertOf('m1'))],
          incident: null,
          members: [],
        },
      });
      const kept = [waiting('f1'), waiting('f2'), waiting('f1', 'hook')];
      await opened.store.outbox.recordDeliveries({ ...made(), muted: { kept, dropped: [] } });
      const muted = { kept: [{ ...waiting('f2'), isKnown: false }], dropped: [waiting('f1')] };
      // The same id twice: what waited still waits.
      const failing = { ...made(delivery('d1'), delivery('d1')), muted: { kept: [], dropped: kept } };
      await expect(opened.store.outbox.recordDeliveries(failing)).rejects.toThrow();
      await opened.store.outbox.recordDeliveries({ ...made(), muted });
      const store = await opened.reopen();
      const { announcements, groups, muted: left } = await store.outbox.loadNotificationLog();
      expect(left.toSorted((a, b) => a.channel.localeCompare(b.channel))).toEqual([
        waiting('f1', 'hook'),
        { ...waiting('f2'), isKnown: false },
      ]);
      expect(announcements).toEqual([louder]);
      expect([...groups].sort((a, b) => a.at - b.at)).toEqual([
        { group: 'b|r', at: now },
        { group: 'a|r', at: now + 5 },
      ]);
      expect((await store.loadPicture()).silences).toEqual([{ ...silence, until: now + 3 }]);
    });

    it('an acknowledgement changes nothing else of an alert, and none that ended or fires anew', async (opened) => {
      const alert = { ...alertOf('m1'), status: 'firing', firingAt: now } as const;
      await opened.store.recordAlerts({ ...noAlerts, changed: [alert] });
      const acknowledged = { by: 'ann', reason: 'on it', at: now + 1 };
      const acknowledge = (one: Alert) => opened.store.acknowledge(one, acknowledged);
      expect(await acknowledge({ ...alert, firingAt: now - 1 })).toBe(false);
      expect(await acknowledge({ ...alert, fingerprint: 'other' })).toBe(false);
      expect(await acknowledge({ ...alert, severity: 'info' })).toBe(true);
      const store = await opened.reopen();
      expect((await store.loadPicture()).alerts).toEqual([{ ...alert, acknowledged }]);
    });

    it('a channel sends in its own order, whatever its neighbour does', async (opened) => {
      await opened.store.outbox.recordDeliveries(
        made(delivery('a'), delivery('x', 'hook'), delivery('b'), delivery('c')),
      );
      const store = await opened.reopen();
      await store.outbox.recordDeliveries({ ...made(delivery('y', 'hook'), delivery('d')), now: now + 5 });
      const of = async (channel: string, limit = 10) =>
        (await store.outbox.pendingDeliveries(channel, limit)).map(({ id, sequence }) => `${id}${sequence}`);
      expect([await of('ops'), await of('hook'), await of('ops', 2), await of('none')]).toEqual([
        ['a1', 'b2', 'c3', 'd4'],
        ['x1', 'y2'],
        ['a1', 'b2'],
        [],
      ]);
    });

    it('a delivery keeps its place and its bytes over retries, until it was sent or is given up', async (opened) => {
      await opened.store.outbox.recordDeliveries(made(delivery('a'), delivery('b'), delivery('c')));
      const retry = { kind: 'failed', at: now + 1, nextAttemptAt: now + 900, detail: 'HTTP 503' } as const;
      await opened.store.outbox.settleDelivery('a', retry);
      const store = await opened.reopen();
      const [a] = await store.outbox.pendingDeliveries('ops', 1);
      expect(a).toMatchObject({ ...delivery('a'), sequence: 1, attempts: 1, nextAttemptAt: now + 900 });
      await store.outbox.settleDelivery('a', { kind: 'sent', at: now + 2, detail: null });
      await store.outbox.settleDelivery('b', { kind: 'undelivered', at: now + 3, detail: 'HTTP 410' });
      const late = { kind: 'failed', at: now + 4, nextAttemptAt: now + 900, detail: 'late' } as const;
      await expect(store.outbox.settleDelivery('a', late)).rejects.toThrow('nothing leads from sent by failed');
      expect((await store.outbox.pendingDeliveries('ops', 10)).map(({ id }) => id)).toEqual(['c']);
      const recent = await store.outbox.recentDeliveries(10);
      expect(recent.map(({ id, state, detail }) => [id, state, detail])).toEqual([
        ['c', 'pending', null],
        ['b', 'undelivered', 'HTTP 410'],
        ['a', 'sent', null],
      ]);
    });

    it('the state of the outbox counts what is pending, channel by channel, and since when', async ({ store }) => {
      await store.outbox.recordDeliveries(made(delivery('a'), delivery('x', 'hook')));
      await store.outbox.recordDeliveries({ ...made(delivery('b')), now: now + 50 });
      const byName = async () =>
        (await store.outbox.outboxState(now)).toSorted((a, b) => a.channel.localeCompare(b.channel));
      expect(await byName()).toEqual([
        { channel: 'hook', pending: 1, oldestPendingAt: now, undelivered: 0 },
        { channel: 'ops', pending: 2, oldestPendingAt: now, undelivered: 0 },
      ]);
      await store.outbox.settleDelivery('a', { kind: 'sent', at: now, detail: null });
      await store.outbox.settleDelivery('x', { kind: 'undelivered', at: now, detail: null });
      expect(await byName()).toEqual([
        { channel: 'hook', pending: 0, oldestPendingAt: null, undelivered: 1 },
        { channel: 'ops', pending: 1, oldestPendingAt: now + 50, undelivered: 0 },
      ]);
      expect((await store.outbox.outboxState(now + 1)).map(({ channel }) => channel)).toEqual(['ops']);
    });

    it('what was begun, and what its receiver works on, is known after a restart', async (opened) => {
      await opened.store.outbox.recordDeliveries(made(delivery('a'), delivery('b')));
      await opened.store.outbox.beginDelivery('a', now + 1);
      await opened.store.outbox.beginDelivery('b', now + 1);
      const works = { kind: 'accepted', at: now + 2, nextAttemptAt: now + 7, detail: 'run r1 goes on' } as const;
      await opened.store.outbox.settleDelivery('b', { ...works, receipt: 'r1' });
      const store = await opened.reopen();
      const found = await store.outbox.pendingDeliveries('ops', 10);
      expect(found.map(({ begunAt, receipt, attempts }) => [begunAt, receipt, attempts])).toEqual([
        [now + 1, null, 0],
        [null, 'r1', 0],
      ]);
      await store.outbox.settleDelivery('b', { kind: 'sent', at: now + 7, detail: null });
      const [, ended] = await store.outbox.recentDeliveries(2);
      expect([ended?.id, ended?.receipt, ended?.attempts]).toEqual(['a', null, 0]);
    });

    it('what was given up is sent again under its id, by channel or by delivery, and nothing else is', async ({
      store,
    }) => {
      await store.outbox.recordDeliveries(made(delivery('a'), delivery('b'), delivery('c'), delivery('x', 'hook')));
      for (const id of ['a', 'b', 'x'])
        await store.outbox.settleDelivery(id, { kind: 'undelivered', at: now, detail: 'HTTP 400' });
      await store.outbox.settleDelivery('c', { kind: 'sent', at: now, detail: null });
      expect(await store.outbox.undelivered({ channel: null, delivery: 'b' })).toEqual([{ id: 'b', channel: 'ops' }]);
      expect(await store.outbox.resendDeliveries(['b'], now + 5)).toEqual([{ channel: 'ops', count: 1 }]);
      const [again] = await store.outbox.pendingDeliveries('ops', 10);
      expect(again).toMatchObject({ ...delivery('b'), state: 'pending', attempts: 0, nextAttemptAt: now + 5 });
      const dead = await store.outbox.undelivered({ channel: 'hook', delivery: null });
      expect(dead).toEqual([{ id: 'x', channel: 'hook' }]);
      expect(await store.outbox.resendDeliveries(['x', 'c'], now)).toEqual([{ channel: 'hook', count: 1 }]);
      expect(await store.outbox.resendDeliveries(['x'], now)).toEqual([]);
      expect((await store.outbox.pendingDeliveries('ops', 10)).map(({ id }) => id)).toEqual(['b']);
    });

    it('a digest is due from the moment when the last one was recorded, with what was given up since', async (opened) => {
      expect(await opened.store.outbox.digestedUntil()).toBeNull();
      await opened.store.outbox.recordDigest({ deliveries: [], until: now });
      await opened.store.outbox.recordDeliveries(made(delivery('a'), delivery('b')));
      await opened.store.outbox.settleDelivery('a', { kind: 'undelivered', at: now - 1, detail: null });
      await opened.store.outbox.settleDelivery('b', { kind: 'undelivered', at: now + 1, detail: null });
      const store = await opened.reopen();
      expect(await store.outbox.digestedUntil()).toBe(now);
      expect((await store.outbox.digestFacts(now)).undelivered.map(({ id }) => id)).toEqual(['b']);
      await store.outbox.recordDigest({ deliveries: [{ ...delivery('c'), group: 'digest' }], until: now + 9 });
      expect(await store.outbox.digestedUntil()).toBe(now + 9);
      expect((await store.outbox.pendingDeliveries('ops', 9)).map(({ id }) => id)).toEqual(['c']);
      await store.proveWritable(now);
    });

    it('the secret of the sessions is random, and there after a reopen', async (opened) => {
      const made = await opened.store.sessionKey();
      expect(made).toMatch(/^[\w-]{43}$/);
      const store = await opened.reopen();
      expect(await store.sessionKey()).toBe(made);
    });

    it('more transitions than a statement takes are told at once', async (opened) => {
      const transitions = Array.from({ length: 1_234 }, () => transitionOf(alertOf('m1')));
      await opened.store.recordAlerts({ ...noAlerts, transitions });
      const transitionIds = (await opened.store.outbox.unnotifiedTransitions(5_000)).map(({ id }) => id);
      expect(transitionIds).toHaveLength(1_234);
      await opened.store.outbox.recordDeliveries({ transitionIds, deliveries: [], now });
      expect(await opened.store.outbox.unnotifiedTransitions(10)).toEqual([]);
    });
  });
}
