// Faults and incidents put in by a scenario file and by the admin route: whom they meet, when, and how often.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { newFolder } from '../support/new-folder.ts';
import { ann, bob, hourMs, scenarioOf, serve } from './served.ts';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));

test('a rule meets its route, method, mailbox, time and number only', async () => {
  const rule = {
    fault: 'missing',
    route: 'stats',
    mailbox: 'ann@*',
    from: hourMs,
    until: 3 * hourMs,
    times: 2,
  } as const;
  await using served = await serve({ scenario: { ...scenarioOf([ann, bob]), faults: [rule] } });
  const statusOf = async (path: string, email: string) =>
    (await served.ask(`${path}?mailbox_id=${served.idOf(email)}`)).status;
  expect(await statusOf('/v1/stats', ann.email)).toBe(200);
  await served.clock.advance(hourMs);
  expect(await statusOf('/v1/warmup', ann.email)).toBe(200);
  expect(await statusOf('/v1/stats', bob.email)).toBe(200);
  expect([await statusOf('/v1/stats', ann.email), await statusOf('/v1/stats', ann.email)]).toEqual([404, 404]);
  expect(await statusOf('/v1/stats', ann.email)).toBe(200);
});

test('the admin route adds, lists and takes away, and says what is wrong with a rule', async () => {
  await using served = await serve();
  const add = (body: object) => served.ask('/admin/faults', { body });
  expect((await add({ fault: 'bad-gateway', method: 'GET', from: '0s', until: '90m' })).status).toBe(201);
  expect((await served.ask('/admin/faults')).body.faults).toEqual([
    { fault: 'bad-gateway', method: 'GET', from: 0, until: 5_400_000, met: 0 },
  ]);
  expect((await add({ fault: 'no-such' })).body).toEqual({ error: 'there is no fault "no-such"' });
  expect((await add({ fault: 'late', rout: 'stats' })).body.error).toMatch(/rout/);
  expect((await add({ fault: 'late', from: '2 hours' })).body.error).toMatch(/a duration such as/);
  expect((await served.ask('/admin/faults', { method: 'DELETE' })).status).toBe(200);
  expect((await served.ask('/v1/mailboxes')).status).toBe(200);
  expect((await served.ask('/admin/nothing')).status).toBe(404);
});

test('H6, H7, H8, H9: pretended, applied but failed, late and lost writes do what their names say', async () => {
  await using served = await serve();
  const state = async () => (await served.warmup(ann.email)).status;
  const act = async (fault: string, action: string) => {
    await served.ask('/admin/faults', { body: { fault, method: 'POST', times: 1 } });
    const status = await served.act(ann.email, action).then(
      (reply) => reply.status,
      () => 'lost',
    );
    return [status, await state()];
  };
  expect(await act('pretend', 'pause')).toEqual([200, 'active']);
  expect(await act('applied-but-500', 'pause')).toEqual([500, 'paused']);
  expect(await act('late', 'resume')).toEqual([200, 'paused']);
  await served.clock.advance(5_000);
  expect(await state()).toBe('active');
  expect(await act('applied-but-lost', 'pause')).toEqual(['lost', 'paused']);
  expect(await act('reset', 'resume')).toEqual(['lost', 'paused']);
});

test('S10, S11: doubled, unordered, missing and frozen days', async () => {
  await using served = await serve();
  const plain = await served.stats(ann.email, 5);
  const under = async (fault: string) => {
    await served.ask('/admin/faults', { method: 'DELETE' });
    await served.ask('/admin/faults', { body: { fault, route: 'stats' } });
    return served.stats(ann.email, 5);
  };
  expect(await under('days-doubled')).toEqual([...plain, plain[0]]);
  expect(await under('days-unordered')).toEqual(plain.toReversed());
  expect(await under('days-missing')).toEqual([plain[0]]);
  const frozen = await under('frozen');
  await served.clock.advance(72 * hourMs);
  expect(await served.stats(ann.email, 5)).toEqual(frozen);
});

test('S9: a mailbox that is connected again has another id, and no history', async () => {
  await using served = await serve();
  const before = served.idOf(ann.email);
  const rows = (await served.stats(ann.email)).length;
  await served.ask('/admin/incidents', { body: { kind: 'reconnect', mailbox: ann.email, from: 0 } });
  expect(served.idOf(ann.email)).not.toBe(before);
  expect((await served.stats(ann.email)).length).toBeLessThan(rows);
  expect((await served.ask(`/v1/stats?mailbox_id=${before}`)).status).toBe(404);
  expect((await served.ask('/v1/mailboxes')).body.mailboxes).toHaveLength(2);
});

test('a scenario file that is wrong is one sentence on the command line', () => {
  const file = join(newFolder(), 'bad.yaml');
  writeFileSync(file, 'incidents: [{kind: flood, mailbox: "*", from: 1h}]\n');
  const { status, stderr } = spawnSync(process.execPath, [bin, 'simulator', '--port', '0', '--file', file], {
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(/--file.*incidents\.0/s);
});
