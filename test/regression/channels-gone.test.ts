// A configuration file that was cut off took every channel away: nobody was notified of that, nor of what came after it.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon, type WrittenConfig } from '../scenario/moved-daemon.ts';
import { scrape } from '../support/scrape.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const begin = () => startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
/** What is left of a file after its first lines. */
const cutOff = (config: WrittenConfig) => Reflect.deleteProperty(config, 'alerts');
const recipe = {
  name: 'fix',
  type: 'recipe',
  base_url: 'http://127.0.0.1:9/v1',
  api_key: 'sk_live_0123456789abcdef0123456789abcdef',
  recipe: 'cleanup',
};

test('a reload that leaves no channel for people is refused and announced, as one that drops many mailboxes is', async () => {
  await using stage = await begin();
  stage.expectErrors('configuration refused');
  await stage.run(10 * minuteMs);
  const channels = stage.written().alerts.channels;
  const refused = await stage.reload(cutOff);
  const problem = `${stage.file} removes the channel hook, and no channel is left that can notify you. If you intend that, run \`warmwarden reload --force\`.`;
  expect(refused).toMatchObject({ result: 'invalid', messages: [problem, expect.stringContaining('stays in force')] });
  expect((await stage.reload((config) => Object.assign(config, { alerts: { channels: [recipe] } }))).messages[0]).toBe(
    problem,
  );
  await stage.run(2 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  expect((await scrape(stage.url())).value('config_last_reload_successful')).toBe(0);
  const another = [{ ...channels[0], name: 'another' }];
  const said = await stage.reload((config) => Object.assign(config, { alerts: { channels: another } }));
  expect(said.result).toBe('done');
});

test('with force, the last message through the channels says so, and what happened meanwhile is announced later', async () => {
  await using stage = await begin();
  await stage.run(10 * minuteMs);
  const { alerts } = stage.written();
  const dry = await stage.reload(cutOff, { force: true, dryRun: true });
  expect(dry.messages).toContain('no channel is left that can notify you');
  const said = await stage.reload(cutOff, { force: true });
  expect(said.result).toBe('done');
  const told = () => stage.receiver.alerts().filter(({ rule }) => rule === 'protection_off');
  expect(told().map(({ status, title }) => [status, title])).toEqual([
    ['firing', 'no channel is left that can notify you'],
  ]);
  expect(told()[0]?.sentences.join(' ')).toMatch(
    new RegExp(`^Reloaded by a test on .*: ${stage.file} no longer has the channel hook\\..*last message`),
  );
  const before = stage.receiver.alerts().length;
  await stage.until('the pause', () => stage.mailbox(amelia).action?.state === 'confirmed', 5 * hourMs);
  await stage.run(10 * minuteMs);
  await stage.restart();
  await stage.run(10 * minuteMs);
  expect([stage.receiver.alerts().length, stage.notified('guard_acted')]).toEqual([before, []]);
  await stage.reload((config) => Object.assign(config, { alerts }));
  await stage.run(5 * minuteMs);
  expect(stage.notified('guard_acted')).toEqual(['event']);
  expect(stage.notified('protection_off')).toEqual(['firing', 'resolved']);
  await stage.run(hourMs);
  expect(stage.notified('guard_acted')).toEqual(['event']);
});

test('what else the same reload takes away is in the last message', async () => {
  await using stage = await begin();
  await stage.run(10 * minuteMs);
  await stage.reload((config) => Object.assign(config, { alerts: {}, guard: { enforce: false } }), { force: true });
  const told = stage.receiver.alerts().filter(({ rule }) => rule === 'protection_off');
  expect(told.map(({ title }) => title).sort()).toEqual([
    expect.stringContaining('enforcement'),
    expect.stringContaining('no channel'),
  ]);
});

test('the last message does not wait for `for`', async () => {
  await using stage = await begin();
  await stage.run(10 * minuteMs);
  const rules = { protection_off: { for: '5m' } };
  const left = { alerts: { rules }, guard: { enforce: false } };
  await stage.reload((config) => Object.assign(config, left), { force: true });
  expect(stage.notified('protection_off')).toEqual(['firing', 'firing']);
});
