// Every pair of a delivery's state and an event: what it leads to, or that nothing does.
import { describe, expect, test } from 'vitest';
import { type DeliveryEvent, type DeliveryState, deliveryAfter, publicState } from '../../src/core/delivery.ts';
import { minuteMs } from '../../src/core/time.ts';
import { start } from '../alerts/samples.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';

const at = start + minuteMs;
const nextAttemptAt = at + minuteMs;

const events: Readonly<Record<DeliveryEvent['kind'], DeliveryEvent>> = {
  begun: { kind: 'begun', at },
  accepted: { kind: 'accepted', receipt: 'r2', nextAttemptAt, detail: 'why', at },
  failed: { kind: 'failed', nextAttemptAt, detail: 'why', at },
  sent: { kind: 'sent', detail: 'why', at },
  undelivered: { kind: 'undelivered', detail: 'why', at },
  resent: { kind: 'resent', at },
};

/** What each event leads to out of each state; what is not named leads nowhere. */
const leadsTo: Readonly<Record<DeliveryState, Partial<Record<DeliveryEvent['kind'], DeliveryState>>>> = {
  pending: {
    begun: 'begun',
    accepted: 'accepted',
    failed: 'pending',
    sent: 'sent',
    undelivered: 'undelivered',
  },
  begun: { accepted: 'accepted', failed: 'pending', sent: 'sent', undelivered: 'undelivered' },
  accepted: { accepted: 'accepted', failed: 'accepted', sent: 'sent', undelivered: 'undelivered' },
  sent: {},
  undelivered: { resent: 'pending' },
};

/** Each state after two attempts. */
const inState = {
  pending: sampleDelivery({ attempts: 2 }),
  begun: sampleDelivery({ state: 'begun', begunAt: start, attempts: 2 }),
  accepted: sampleDelivery({ state: 'accepted', receipt: 'r1', attempts: 2 }),
  sent: sampleDelivery({ state: 'sent', settledAt: start, receipt: 'r1', attempts: 2 }),
  undelivered: sampleDelivery({
    state: 'undelivered',
    settledAt: start,
    receipt: 'r1',
    attempts: 2,
    detail: 'earlier',
  }),
} as const satisfies Record<DeliveryState, unknown>;

const states = Object.keys(leadsTo) as DeliveryState[];
const kinds = Object.keys(events) as DeliveryEvent['kind'][];
const pairs = states.flatMap((state) => kinds.map((kind) => [state, kind, leadsTo[state][kind]] as const));

describe('a delivery that is', () => {
  test.each(pairs.filter(([, , next]) => next !== undefined))('%s, once %s, is %s', (state, kind, next) => {
    const { id, channel, group, sequence, payload, title, alerts, createdAt } = inState[state];
    const same = { id, channel, group, sequence, payload, title, alerts, createdAt };
    expect(deliveryAfter(inState[state], events[kind])).toMatchObject({ ...same, state: next });
  });

  test.each(pairs.filter(([, , next]) => next === undefined))('%s can not be %s', (state, kind) => {
    expect(() => deliveryAfter(inState[state], events[kind])).toThrow(`nothing leads from ${state} by ${kind}`);
  });
});

test('what the store and people know of it: pending, sent or undelivered', () => {
  const known = ['pending', 'pending', 'pending', 'sent', 'undelivered'];
  expect(states.map((state) => publicState(inState[state]))).toEqual(known);
});

describe('the fields that go with the state', () => {
  test('what is begun keeps the moment, and is no attempt before its outcome is known', () => {
    expect(deliveryAfter(inState.pending, events.begun)).toEqual({ ...inState.pending, state: 'begun', begunAt: at });
  });

  test.each(['pending', 'begun', 'accepted'] as const)('%s: an accepted one is no failed attempt', (state) => {
    const accepted = { attempts: 2, begunAt: null, receipt: 'r2', nextAttemptAt, settledAt: null, detail: 'why' };
    expect(deliveryAfter(inState[state], events.accepted)).toMatchObject(accepted);
  });

  test.each(['pending', 'begun', 'accepted'] as const)('%s: a failure is counted, and tried again', (state) => {
    const receipt = state === 'accepted' ? 'r1' : null;
    const failed = { attempts: 3, begunAt: null, receipt, nextAttemptAt, settledAt: null, detail: 'why' };
    expect(deliveryAfter(inState[state], events.failed)).toMatchObject(failed);
  });

  test.each(['sent', 'undelivered'] as const)('%s: it is settled', (kind) => {
    const settled = { attempts: 3, settledAt: at, nextAttemptAt: at, begunAt: null, detail: 'why' };
    expect(deliveryAfter(inState.begun, events[kind])).toMatchObject({ ...settled, receipt: null });
    expect(deliveryAfter(inState.accepted, events[kind])).toMatchObject({ ...settled, receipt: 'r1' });
  });

  test('what is sent once more starts over, and still says why it was given up', () => {
    const anew = { attempts: 0, nextAttemptAt: at, settledAt: null, begunAt: null, receipt: null, detail: 'earlier' };
    expect(deliveryAfter(inState.undelivered, events.resent)).toEqual({
      ...inState.undelivered,
      state: 'pending',
      ...anew,
    });
  });
});
