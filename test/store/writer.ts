// A process that holds a store and writes one alert after the other; killed by its test.
import { Store } from '../../src/store/store.ts';
import { alertOf, now, transitionOf } from './records.ts';

const store = await Store.open(process.argv[2] ?? '', now);
for (let count = 0; ; count += 1) {
  const alert = alertOf(`m${count}`);
  await store.recordAlerts({ changed: [alert], dropped: [], transitions: [transitionOf(alert)] });
  // Said before the next one begins: a pipe that nobody reads for a while takes a few hundred lines, and what waits behind
  // them dies with us.
  await new Promise((said) => process.stdout.write(`committed ${count}\n`, said));
}
