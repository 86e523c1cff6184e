// A process that forgets what others changed long ago, step by step: it says so after each, and goes on when it is told to.
import { once } from 'node:events';
import { Store } from '../../src/store/store.ts';
import { now } from './records.ts';

const dayMs = 86_400_000;
const retention = {
  ...{ decisionsMs: dayMs, deliveriesMs: dayMs, changesMs: dayMs },
  ...{ observationsMs: dayMs, runsMs: dayMs, departedMs: dayMs },
};
const store = await Store.open(process.argv[2] ?? '', now);
for (const duty of store.duties({ now, retention })) {
  if (duty.what !== 'old changes by others') continue;
  while (await duty.step()) {
    process.stdout.write('step\n');
    await once(process.stdin, 'data');
  }
}
