// A mailbox list that the store refuses each time, while it takes everything else: the account does not see new mailboxes.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { scenarioStart, scenarios } from '../../tools/simulator/scenarios.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi } from '../support/other-api.ts';

const poll = { mailboxes: '* * * * *', stats: '*/5 * * * *', warmup: '*/5 * * * *', mailbox: '*/10 * * * *' };

it('makes /readyz red after ten minutes, with the account and the reason, until it is recorded', async () => {
  await using api = await OtherApi.start();
  let now = () => scenarioStart;
  api.now = () => now();
  api.add('one@acme.example', { id: 'm1' });
  const accounts = [
    { name: 'acme', base_url: api.url, api_key: api.addKey(), requests_per_minute: 6_000, headroom: '0%' },
  ];
  const scenario = { ...scenarios.calm, fleet: [] };
  await using stage = await startMovedDaemon({ scenario, poll, file: { accounts }, expectErrors: [''] });
  now = () => stage.clock.now();
  await stage.run(20 * minuteMs);
  const ready = async () => (await fetch(`${stage.url()}/readyz`)).text();
  expect(await ready()).toBe('ready\n');
  const name = readdirSync(stage.folder, { recursive: true })
    .map(String)
    .find((file) => file.endsWith('.db'));
  using db = new DatabaseSync(join(stage.folder, name ?? ''));
  db.exec(`PRAGMA busy_timeout = 5000; CREATE TRIGGER refuse BEFORE INSERT ON mailboxes WHEN NEW.mailbox_id = 'm2'
    BEGIN SELECT RAISE(ABORT, 'this row is refused'); END`);
  api.add('two@acme.example', { id: 'm2' });
  await stage.run(8 * minuteMs);
  expect(await ready()).not.toContain('acme');
  await stage.run(10 * minuteMs);
  expect(await ready()).toMatch(
    /account acme has not been fully guarded since 10 March 08:5\d UTC: its mailbox list can't be recorded \(.*this row is refused/,
  );
  db.exec('DROP TRIGGER refuse');
  await stage.run(10 * minuteMs);
  expect([await ready(), stage.notified('store_failing')[0]]).toEqual(['ready\n', 'firing']);
  expect(stage.mailbox('two@acme.example').id).toBe('m2');
});
