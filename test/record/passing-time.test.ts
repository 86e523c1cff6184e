// What time alone does to alerts.
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { account } from '../web/example-fleet.ts';
import { recording } from './recording.ts';

test('a wait that passes in the look that ends its outage fires nothing', async () => {
  await using stage = await recording(['m1']);
  const { clock, fleet, recorder, store } = stage;
  const look = async (failingSince: number | null) => {
    fleet.putAccount(account('acme', { failingSince, lastSuccessAt: clock.now() }));
    await recorder.timePassed();
  };
  const began = clock.now();
  await clock.advance(2 * minuteMs + 50 * secondMs);
  await look(began);
  const alert = [...fleet.alerts()].find(({ object }) => object === 'api down');
  expect([alert?.status, alert?.firesAt]).toEqual(['pending', began + 3 * minuteMs]);
  await clock.advance(20 * secondMs);
  await look(null);
  expect([...fleet.alerts()].filter(({ object }) => object === 'api down')).toEqual([]);
  expect(await store.outbox.unnotifiedTransitions(10)).toEqual([]);
});
