// A delivery that waits for its first attempt.
import { type Delivery, pendingDelivery } from '../../src/model/delivery.ts';
import { start } from '../alert/samples.ts';

export function sampleDelivery(change: Partial<Delivery> = {}): Delivery {
  const fresh = { id: 'msg_1', channel: 'hook', group: 'g', payload: '{}', title: 't', alerts: [] };
  return { ...pendingDelivery(fresh, start, 1), ...change };
}
