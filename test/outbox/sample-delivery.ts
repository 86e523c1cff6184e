// A delivery that waits for its first attempt, or as a test wants it.
import { type Delivery, pendingDelivery } from '../../src/core/delivery.ts';
import { start } from '../alerts/samples.ts';

export function sampleDelivery(change: { readonly [Field in keyof Delivery]?: Delivery[Field] } = {}): Delivery {
  const fresh = { id: 'msg_1', channel: 'hook', group: 'g', payload: '{}', title: 't', alerts: [] };
  return { ...pendingDelivery(fresh, start, 1), ...change } as Delivery;
}
