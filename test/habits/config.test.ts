import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi } from '../support/other-api.ts';

const poll = { health: '0 * * * *', mailboxes: '* * * * *', stats: '*/5 * * * *', warmup: '*/5 * * * *' };

/** The routes of a file beside its channel. */
function routed(url: string, secret: string, routes: readonly object[]): object {
  return { channels: [{ name: 'hook', type: 'webhook', url, secret }], routes, group_wait: '0s' };
}

test('a mistyped exclude, override and route are an alert, which ends with the file', async () => {
  await using api = await OtherApi.start();
  for (const name of ['ann', 'bob']) api.add(`${name}@d3.example`);
  const account = {
    mailboxes: { exclude: ['*@d3.exmaple'] },
    overrides: [
      { match: 'anm@d3.example', guard: { enforce: false } },
      { match: '*@d3.example', tags: ['vip'] },
    ],
  };
  await using stage = await startMovedDaemon({ other: api, poll, account });
  await stage.run(10 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  const told = () => stage.told('config_wrong');
  expect(told()[0]).toMatchObject({
    severity: 'warning',
    title: 'agency: 2 patterns of the configuration match no mailbox',
    sentences: [
      'accounts[0].mailboxes.exclude[0] "*@d3.exmaple" matches no mailbox (did you mean *@d3.example?).',
      'accounts[0].overrides[0].match "anm@d3.example" matches no mailbox (did you mean ann@d3.example?).',
      expect.stringMatching(/^An exclude that matches nothing/),
      expect.stringMatching(/reload/),
    ],
  });
  expect(await stage.text('/')).toContain('*@d3.exmaple');
  await stage.run(60 * minuteMs);
  await stage.restart();
  await stage.run(10 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  const { hookUrl, secret } = stage.receiver;
  const routes = [
    { match: { mailbox: ['*@d3.example', 'bbo@d3.example'] }, channels: ['hook'] },
    { match: {}, channels: ['hook'] },
  ];
  await stage.reload((config) => {
    const [first] = config.accounts;
    config.accounts = [{ ...first, mailboxes: {}, overrides: [] }];
    config.alerts = routed(hookUrl, secret, routes) as typeof config.alerts;
  });
  await stage.run(10 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing', 'resolved', 'firing']);
  expect(told()[2]).toMatchObject({
    title: 'routes: 1 pattern of the configuration matches no mailbox',
    sentences: expect.arrayContaining([
      'alerts.routes[0].match.mailbox "bbo@d3.example" matches no mailbox (did you mean bob@d3.example?).',
    ]),
  });
});

test('while no list could be read no pattern is accused, and one that matches again ends the alert', async () => {
  await using api = await OtherApi.start();
  api.add('ann@d3.example');
  const account = { mailboxes: { exclude: ['*@nowhere.example'] } };
  let down = true;
  api.fault = ({ path }) => {
    if (path !== '/v1/mailboxes') return undefined;
    if (down) return { kind: 'answer', status: 503, body: '{"error": "maintenance"}' };
    return undefined;
  };
  await using stage = await startMovedDaemon({ other: api, poll, account, expectErrors: ['API'] });
  await stage.run(15 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual([]);
  down = false;
  await stage.run(20 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing']);
  api.add('bob@nowhere.example');
  await stage.run(10 * minuteMs);
  expect(stage.notified('config_wrong')).toEqual(['firing', 'resolved']);
});
