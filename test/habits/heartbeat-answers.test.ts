// A dead man's switch that does not take the ping protects nobody: people hear of it, and doctor and a test show it.
import { expect, test } from 'vitest';
import { shapes } from '../../src/cli/shapes/shapes.ts';
import { minuteMs } from '../../src/core/time.ts';
import { start } from '../alerts/samples.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { hookTo, rigWith } from '../outbox/rig.ts';
import { commandLine } from '../support/command-line.ts';
import { Workplace } from '../support/process.ts';
import { account } from '../web/example-fleet.ts';

test.each([
  ['404 is told within two minutes', 404, 2, true],
  ['503 may pass: not yet after ten minutes', 503, 10, false],
  ['503 is told after a quarter of an hour', 503, 18, true],
] as const)('a heartbeat that answers %s', async (_what, code, minutes, told) => {
  await using hook = await startReceiver(() => start);
  await using switchOf = await startReceiver(() => start);
  switchOf.answer = status(code);
  await using rig = rigWith(hookTo(hook.url), { heartbeat: { url: switchOf.url, intervalMs: minuteMs / 2 } });
  for (let minute = 0; minute < minutes; minute += 1) {
    rig.fleet.putAccount(account('acme', { lastSuccessAt: rig.clock.now() }));
    await rig.clock.advance(minuteMs);
  }
  await rig.clock.advance(minuteMs / 2);
  const alerts = () => hook.received.flatMap(({ body }) => JSON.parse(body).data.alerts as Record<string, unknown>[]);
  const failing = { rule: 'channel_failing', status: 'firing', object: 'the heartbeat' };
  const sentences = expect.arrayContaining([`The receiver answered ${code}.`]);
  expect(alerts()).toMatchObject(told ? [{ ...failing, sentences }] : []);
  expect(JSON.stringify(alerts())).not.toMatch(/T0P-SECRET|127\.0\.0\.1/);
  if (!told) return;
  switchOf.answer = status(200);
  for (let minute = 0; minute < 7; minute += 1) {
    rig.fleet.putAccount(account('acme', { lastSuccessAt: rig.clock.now() }));
    await rig.clock.advance(minuteMs);
  }
  expect(alerts().map((one) => one['status'])).toEqual(['firing', 'resolved']);
});

test('doctor and `channels test heartbeat` ping it', async () => {
  await using switchOf = await startReceiver(() => start);
  using place = new Workplace();
  const config = place.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_0123456789abcdef' }],
    alerts: { heartbeat: { url: switchOf.url } },
  });
  const ask = async (...args: readonly string[]) => {
    const { stdout, stderr, code } = await commandLine([...args, '--config', config]);
    expect(stdout + stderr).not.toContain('T0P-SECRET');
    return { stdout, stderr, code };
  };
  const doctor = async () => {
    const { checks } = shapes.doctor.parse(JSON.parse((await ask('doctor', '--json')).stdout));
    return checks
      .filter(({ message }) => message.includes('heartbeat') && !message.includes('holds secrets'))
      .map(({ result, message }) => [result, message]);
  };
  const tryIt = () => ask('channels', 'test', 'heartbeat');
  expect(await doctor()).toEqual([['ok', 'The heartbeat was pinged: the receiver answered 200.']]);
  expect((await tryIt()).stdout).toMatch(/^The test of the heartbeat succeeded after [\d.]+ m?s: HTTP 200\.\n/);
  switchOf.answer = status(404, {}, 'not found');
  expect(await doctor()).toEqual([['problem', 'The heartbeat does not get through: the receiver answered 404.']]);
  expect(await tryIt()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/: HTTP 404\..*\nThe receiver answered 404\.\n/s),
  });
  expect(switchOf.received).toHaveLength(4);
});
