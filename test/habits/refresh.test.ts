// A person asks for fresh data soon after the last fresh measurement: the wish is kept, and its time is said.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi } from '../support/other-api.ts';
import { rarely } from '../support/watching.ts';

const poll = { ...rarely, mailboxes: '*/5 * * * *', dns: '*/20 * * * *' };

test('a refresh within an hour of the alert: a fresh DNS check is asked for when that is allowed, and the answer says when', async () => {
  await using api = await OtherApi.start();
  const mailbox = api.add('oliver@northbeam.example');
  await using stage = await startMovedDaemon({ other: api, poll });
  const fresh = () => api.log.filter(({ path, query }) => path === '/v1/dns' && query.get('refresh') === 'true');
  await stage.run(10 * minuteMs);
  mailbox.dns = 'fail';
  await stage.until('the alert', () => stage.notified('dns_failing').length === 1, 3 * hourMs);
  const looked = fresh();
  const last = looked.at(-1)?.at ?? 0;
  mailbox.dns = 'pass';
  const outcome = await stage.command('refresh', { mailbox: mailbox.email });
  expect(outcome.result).toBe('done');
  const time = new Date(last + hourMs).toISOString().slice(11, 16);
  expect(outcome.messages.at(-1)).toMatch(
    new RegExp(`^The last fresh check of its DNS is less than an hour old: .* at 10 March ${time} UTC\\.$`),
  );
  await stage.run(minuteMs);
  // The rest is read at once; DNS as the API has it.
  expect([fresh().length, api.log.filter(({ path, at }) => path === '/v1/dns' && at > last).length > 0]).toEqual([
    looked.length,
    true,
  ]);
  await stage.run(last + hourMs + minuteMs - stage.clock.now());
  expect(fresh().length).toBe(looked.length + 1);
  expect(fresh().at(-1)?.at).toBeGreaterThanOrEqual(last + hourMs);
});
