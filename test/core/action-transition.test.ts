// Every pair of an action's state and an event: what it leads to, or that nothing does.
import { describe, expect, test } from 'vitest';
import { type Action, type ActionEvent, type ActionState, actionAfter } from '../../src/core/action.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { sampleAction, start } from '../alerts/samples.ts';
import type { ActionChange } from '../support/action-with.ts';

const at = start + minuteMs;
const before = { mode: 'slow', status: 'active', run: 'running' } as const;
const by = { name: 'anna', reason: '' };

const events: Readonly<Record<ActionEvent['kind'], ActionEvent>> = {
  opened: { kind: 'opened', before, at },
  confirmed: { kind: 'confirmed', detail: 'why', at },
  refused: { kind: 'refused', detail: 'why', at },
  unconfirmed: { kind: 'unconfirmed', detail: 'why', at },
  unseen: { kind: 'unseen', detail: 'why', at },
  throttled: { kind: 'throttled', detail: 'why', at },
  not_sent: { kind: 'not_sent', detail: 'why', at },
  dropped: { kind: 'dropped', detail: 'why', at },
};

/** What each event leads to out of each state after a first try; what is not named leads nowhere. */
const leadsTo: Readonly<Record<ActionState, Partial<Record<ActionEvent['kind'], ActionState>>>> = {
  planned: { opened: 'open', dropped: 'dropped' },
  open: {
    confirmed: 'confirmed',
    refused: 'refused',
    unconfirmed: 'unconfirmed',
    unseen: 'unconfirmed',
    throttled: 'planned',
    not_sent: 'planned',
  },
  confirmed: {},
  refused: { opened: 'open', dropped: 'dropped' },
  unconfirmed: { opened: 'open', dropped: 'dropped', confirmed: 'confirmed' },
  dropped: { confirmed: 'confirmed' },
};

const states = Object.keys(leadsTo) as ActionState[];
const kinds = Object.keys(events) as ActionEvent['kind'][];
const pairs = states.flatMap((state) => kinds.map((kind) => [state, kind, leadsTo[state][kind]] as const));

describe('an action that is', () => {
  test.each(pairs.filter(([, , next]) => next !== undefined))(
    '%s, once %s, is %s, of the same decision',
    (state, kind, next) => {
      const action = sampleAction({ state });
      const { id, account, mailboxId, email, kind: change, targetMode, verdict, plannedAt, causes } = action;
      const decided = { id, account, mailboxId, email, kind: change, by: null, targetMode, verdict, plannedAt, causes };
      expect(actionAfter(action, events[kind])).toMatchObject({ ...decided, state: next });
    },
  );

  test.each(pairs.filter(([, , next]) => next === undefined))('%s can not be %s', (state, kind) => {
    const action = sampleAction({ state });
    expect(() => actionAfter(action, events[kind])).toThrow(`nothing leads from ${state} by ${kind}`);
  });

  test('dropped before anything was sent is never confirmed', () => {
    const dropped = actionAfter(sampleAction({ state: 'planned' }), events.dropped);
    expect(() => actionAfter(dropped, events.confirmed)).toThrow('nothing leads from dropped by confirmed');
  });
});

describe('the fields that go with the state', () => {
  const outcome = (event: ActionEvent, change: ActionChange): Action => actionAfter(sampleAction(change), event);
  const failedBefore = { state: 'open', attempts: 3, settledAt: start + 1, detail: 'earlier' } as const;

  test('an intent counts the try, has no other due, and keeps what was seen right before it', () => {
    const waiting = { state: 'unconfirmed', attempts: 2, nextTryAt: at, detail: 'earlier' } as const;
    const open = { state: 'open', attempts: 3, openedAt: at, nextTryAt: null, before, detail: 'earlier' };
    expect(outcome(events.opened, waiting)).toMatchObject({ ...open, settledAt: start + 400 });
  });

  test.each(['confirmed', 'dropped'] as const)('%s: it is settled, and nothing is due', (kind) => {
    const waiting = { state: 'unconfirmed', nextTryAt: at + minuteMs } as const;
    expect(outcome(events[kind], waiting)).toMatchObject({
      state: kind,
      settledAt: at,
      nextTryAt: null,
      detail: 'why',
    });
  });

  test.each([
    ['refused', 1, hourMs],
    ['refused', 7, hourMs],
    ['unconfirmed', 1, minuteMs],
    ['unconfirmed', 4, hourMs],
    ['unconfirmed', 5, null],
    ['unseen', 1, 0],
    ['unseen', 2, 5 * minuteMs],
    ['unseen', 5, null],
  ] as const)('%s at try %i: the next one is due after %j ms', (kind, attempts, wait) => {
    const nextTryAt = wait === null ? null : at + wait;
    const failed = { attempts, openedAt: start, settledAt: at, nextTryAt, detail: 'why' };
    expect(outcome(events[kind], { state: 'open', attempts })).toMatchObject(failed);
  });

  test.each(['refused', 'unconfirmed', 'unseen'] as const)("%s: a person's change is not sent again", (kind) => {
    expect(outcome(events[kind], { state: 'open', by })).toMatchObject({ settledAt: at, nextTryAt: null });
  });

  test.each([
    ['throttled', at + minuteMs],
    ['not_sent', at],
  ] as const)('%s: the try does not count, and is due again after a minute, or at once', (kind, nextTryAt) => {
    for (const who of [null, by]) {
      const first = { state: 'planned', attempts: 0, openedAt: start, settledAt: null, nextTryAt, detail: 'why' };
      expect(outcome(events[kind], { state: 'open', by: who })).toMatchObject(first);
    }
    const later = { state: 'unconfirmed', attempts: 2, settledAt: start + 1, nextTryAt, detail: 'why' };
    expect(outcome(events[kind], failedBefore)).toMatchObject(later);
  });
});
