// A delivery that waits for its first attempt.
import type { Delivery } from '../../src/model/delivery.ts';
import { start } from '../alert/samples.ts';

export function sampleDelivery(change: Partial<Delivery> = {}): Delivery {
  return {
    id: 'msg_1',
    channel: 'hook',
    group: 'g',
    sequence: 1,
    payload: '{}',
    title: 't',
    state: 'pending',
    attempts: 0,
    createdAt: start,
    nextAttemptAt: start,
    settledAt: null,
    detail: null,
    alerts: [],
    begunAt: null,
    receipt: null,
    ...change,
  };
}
