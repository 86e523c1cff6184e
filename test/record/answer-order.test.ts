// Of two answers about one thing the one that was asked for later counts, however they come; on a real store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Fleet } from '../../src/fleet/fleet.ts';
import type { WarmupAnswer } from '../../src/model/answers.ts';
import { defaultPolicy } from '../../src/model/policy.ts';
import { defaultRuleSettings } from '../../src/model/rule-settings.ts';
import { mailboxRoutes } from '../../src/poll/poll.ts';
import { AnswerOrder } from '../../src/record/answer-order.ts';
import type { Observation } from '../../src/record/observe.ts';
import { Recorder } from '../../src/record/recorder.ts';
import { Turns } from '../../src/record/turns.ts';
import { Store } from '../../src/store/store.ts';
import { movedClock, worldOn } from '../../src/world.ts';
import { arrivedMailbox, now } from '../store/records.ts';

const root = mkdtempSync(join(tmpdir(), 'warmwarden-order-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const id = 'm1';

/** A recorder with one mailbox that nothing was read of. */
async function recording() {
  const world = worldOn(movedClock(now), { level: 'silent', format: 'json' });
  const store = await Store.open(join(mkdtempSync(join(root, 'one-')), 'warmwarden.db'), now);
  const fleet = new Fleet();
  fleet.putMailbox(arrivedMailbox(id));
  const tally = { decision: () => {}, action: () => {}, notification: () => {}, request: () => {} };
  const rooms = { world, store, fleet, tally, turns: new Turns(world.clock), onTransitions: () => {} };
  const recorder = new Recorder(rooms, {
    account: 'acme',
    policyFor: () => defaultPolicy,
    selects: () => true,
    expects: () => [],
    words: { paused: ['paused'], running: ['active'], notRunning: ['finished'] },
    pageUrl: null,
    rules: () => defaultRuleSettings,
    api: 'https://api.example',
    accountsOfApi: () => ['acme'],
    ended: () => false,
    writable: () => true,
    staleBefore: () => Number.NEGATIVE_INFINITY,
    staleMeasurement: () => ({ olderThanMs: Number.POSITIVE_INFINITY, unreadSince: Number.NEGATIVE_INFINITY }),
    isFirstLook: () => false,
    seenAgain: () => true,
  });
  return {
    recorder,
    store,
    fleet,
    mailbox: () => fleet.mailbox('acme', id),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const config = {
  targetDailyLimit: 40,
  replyRate: null,
  threadRate: null,
  weekdaysOnly: null,
  sendWindowStart: null,
  sendWindowEnd: null,
};
const shown = { status: 'active', dailyLimit: 40, warmupDay: 12, healthScore: 98.5 };
const warmup = (mode: string): WarmupAnswer => ({ ...shown, mode, config, recentBounces: [] });
const record = { status: 'pass', pass: true, record: 'v' };
const checked = { domain: 'one.example', checkedAt: null };

/** An answer of each route; `at` is when it came. */
function answerOf(route: (typeof mailboxRoutes)[number], at: number): Observation {
  switch (route) {
    case 'stats':
      return { route, observed: { at, answer: { rows: [] } } };
    case 'warmup':
      return { route, observed: { at, answer: warmup('balanced') } };
    case 'mailbox':
      return { route, observed: { at, answer: { ...shown, connection: 'connected', connectionError: null } } };
    case 'dns':
      return { route, observed: { at, answer: { ...checked, records: { spf: record, dkim: record, dmarc: record } } } };
    case 'blacklist':
      return {
        route,
        observed: { at, answer: { ...checked, ip: null, listed: false, lists: [], found: 0, checked: 9 } },
      };
  }
}

describe('whichever comes last', () => {
  test.each(mailboxRoutes)('the %s that was asked for later stays', async (route) => {
    await using daemon = await recording();
    const { recorder } = daemon;
    const [first, second] = [recorder.asking(), recorder.asking()];
    await recorder.observed(id, answerOf(route, now + 1), second);
    const after = await recorder.observed(id, answerOf(route, now + 2), first);
    const key = route === 'mailbox' ? 'detail' : route;
    expect([daemon.mailbox()?.[key]?.at, after]).toEqual([now + 1, daemon.mailbox()]);
    await recorder.observed(id, answerOf(route, now + 3), recorder.asking());
    expect(daemon.mailbox()?.[key]?.at).toBe(now + 3);
  });
});

test('what could not be recorded does not count as read, nor as the newer one', async () => {
  await using daemon = await recording();
  const { recorder, store } = daemon;
  const write = store.recordTick.bind(store);
  store.recordTick = () => Promise.reject(new Error('the disk is full'));
  const [first, second] = [recorder.asking(), recorder.asking()];
  await expect(recorder.observed(id, answerOf('warmup', now), second)).rejects.toThrow('the disk is full');
  expect(recorder.hasRead(id, 'warmup')).toBe(false);
  store.recordTick = write;
  await recorder.observed(id, answerOf('warmup', now + 1), first);
  expect(daemon.mailbox()?.warmup?.at).toBe(now + 1);
});

describe('beside a write', () => {
  test('a warm-up answer that was asked for before it is outdated, one of another kind is not', () => {
    const order = new AnswerOrder();
    const before = order.asking();
    order.wrote(id);
    expect(order.freshnessOf('warmup', id, before)).toBe('outdated');
    expect(order.freshnessOf('stats', id, before)).toBe('fresh');
    expect(order.freshnessOf('warmup', 'm2', before)).toBe('fresh');
    expect(order.freshnessOf('warmup', id, order.asking())).toBe('fresh');
  });

  test('one that was overtaken besides need not be asked for again', () => {
    const order = new AnswerOrder();
    const before = order.asking();
    order.wrote(id);
    order.taken('warmup', id, order.asking());
    expect(order.freshnessOf('warmup', id, before)).toBe('superseded');
  });

  test('a mailbox that left and came back begins anew', () => {
    const order = new AnswerOrder();
    order.taken('stats', id, order.asking());
    order.forget(id, mailboxRoutes);
    expect(order.hasTaken('stats', id)).toBe(false);
  });
});
