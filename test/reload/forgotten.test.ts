// An account that leaves the configuration while nobody is on duty: what was told of it ends, once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endForgotten } from '../../src/daemon/open.ts';
import { Store } from '../../src/store/store.ts';
import { sampleAlert, start } from '../alerts/samples.ts';

test('its alerts end with the reason, those of the others and of Warmwarden itself go on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-forgotten-'));
  const store = await Store.open(join(folder, 'w.db'), start);
  const alerts = ['acme', 'gone', ''].map((account) => sampleAlert(1, { account }));
  await store.recordAlerts({ changed: alerts, dropped: [], transitions: [] });
  const about = { names: ['acme'], now: start + 1 };
  for (let process = 0; process < 2; process += 1) await endForgotten(store, await store.loadPicture(), about);
  expect((await store.loadPicture()).alerts.map(({ account }) => account).sort()).toEqual(['', 'acme']);
  const notified = (await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition);
  expect(notified).toMatchObject([{ kind: 'resolved', at: start + 1, alert: { account: 'gone' } }]);
  expect(notified[0]?.alert.facts.sentences[0]).toContain('no longer in the configuration');
  await store.close();
  rmSync(folder, { recursive: true });
});
