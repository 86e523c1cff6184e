// Words and shapes that the document of the API does not show: a listing without names, a DNS word of its own, a mode in capitals, and a
// connection error that is none. The API is not the simulator.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { calmPoll, type Duty, goOnDuty } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi, type OtherMailbox, week } from '../support/other-api.ts';

async function apiWith(change: Partial<OtherMailbox>) {
  const api = await OtherApi.start();
  return Object.assign(api, { box: api.add('a@a.example', change) });
}

/** Everything is measured anew each hour. */
const poll = { ...calmPoll, mailbox: '0 * * * *', dns: '0 * * * *', blacklist: '0 * * * *' };
const firing = (duty: Duty) => duty.firing().map(({ rule }) => rule);

test('a DNS word that nobody knows is told after two measurements, in the word of the API', async () => {
  await using api = await apiWith({ dns: 'misaligned' });
  await using duty = await goOnDuty({ other: api, poll });
  await duty.until(() => duty.alert('dns_failing')?.status === 'firing', 3 * hourMs);
  const { severity, facts } = duty.alert('dns_failing') ?? {};
  expect([severity, facts?.title]).toEqual(['warning', 'a.example: SPF is "misaligned"']);
  expect(facts?.sentences.join(' ')).toContain('api.dns_words');
  expect(duty.mailbox('a@a.example')?.dns?.answer.records.spf).toMatchObject({ status: 'misaligned', pass: false });
  api.box.dns = 'temperror';
  await duty.run(3 * hourMs);
  expect(firing(duty)).toEqual(['dns_failing']);
  api.box.dns = 'pass';
  await duty.run(3 * hourMs);
  expect(firing(duty)).toEqual([]);
});

test('which DNS words pass, fail or are unclear stands in the configuration', async () => {
  await using api = await apiWith({ dns: 'Aligned' });
  const file = { api: { dns_words: { passing: ['pass', 'aligned'] } } };
  await using daemon = await startMovedDaemon({ other: api, poll, file });
  await daemon.run(2 * hourMs);
  expect(daemon.mailbox('a@a.example').dns?.answer.records.spf).toMatchObject({ status: 'Aligned', pass: true });
  await daemon.reload((config) => {
    config['api'] = { dns_words: { passing: ['pass'], failing: ['aligned'] } };
  });
  await daemon.run(2 * hourMs);
  const told = daemon.told('dns_failing');
  expect(told).toMatchObject([{ status: 'firing', severity: 'critical' }]);
});

test('a status word that nobody knows is named where it stops the guard, with the key that lists it', async () => {
  await using api = await apiWith({});
  await using duty = await goOnDuty({ other: api });
  await duty.until(() => duty.reason(api.box.email) === 'ok', 5 * minuteMs);
  api.box.status = 'snoozed';
  await duty.run(2 * hourMs);
  const advice = 'The status is "snoozed". Say in api.status_words';
  expect(duty.alert('guard_blind')?.facts.sentences.join(' ')).toContain(advice);
  api.box.days = week(40, 20);
  await duty.run(hourMs);
  expect(duty.alert('bounce_over_limit')?.facts.sentences.join(' ')).toContain(advice);
});
