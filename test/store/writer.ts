// A process that holds a store and writes one alert after the other; killed by its test.
import { Store } from '../../src/store/store.ts';
import { alertOf, now, transitionOf } from './records.ts';

const store = await Store.open(process.argv[2] ?? '', now);
for (let count = 0; ; count += 1) {
  const alert = alertOf(`m${count}`);
  await store.recordAlerts({ changed: [alert], dropped: [], transitions: [transitionOf(alert)] });
  process.stdout.write(`committed ${count}\n`);
}
