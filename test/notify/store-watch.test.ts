// A store that can't be written: said at once without it, shown, and its end told with its beginning when it works again.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/model/time.ts';
import { startReceiver } from './receiver.ts';
import { hookTo, rigWith } from './rig.ts';

test('is told once to each channel while it lasts, stands on the page, and its end is told and recorded', async () => {
  await using receiver = await startReceiver(() => 0);
  receiver.answer = (response) => response.writeHead(204).end();
  await using rig = rigWith(hookTo(receiver.url));
  await rig.clock.advance(minuteMs);
  expect(receiver.received).toEqual([]);
  rig.store.broken = new Error('database or disk is full');
  await rig.clock.advance(2 * hourMs);
  const bodies = () => receiver.received.map(({ body }) => JSON.parse(body));
  expect(bodies()).toMatchObject([{ type: 'alerts.firing', data: { rule: 'store_failing', severity: 'critical' } }]);
  expect(receiver.received[0]?.body).toContain('Database or disk is full.');
  expect([...rig.fleet.alerts()]).toMatchObject([{ rule: 'store_failing', status: 'firing' }]);
  rig.store.broken = null;
  await rig.clock.advance(2 * minuteMs);
  expect([...rig.fleet.alerts()]).toEqual([]);
  expect(bodies().slice(1)).toMatchObject([{ type: 'alerts.resolved', data: { rule: 'store_failing', total: 1 } }]);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent']);
  await rig.clock.advance(30 * secondMs);
  expect(bodies()).toHaveLength(2);
});
