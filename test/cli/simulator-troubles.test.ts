// `warmwarden simulator` and the commands below it, as a newcomer types them: banner, configuration, troubles, mistakes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { agencyFleet } from '../../tools/simulator/agency-fleet.ts';
import { banner, type Running } from '../../tools/simulator/banner.ts';
import { receivedMessage } from '../../tools/simulator/inbox.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { scenarioStart, scenarios } from '../../tools/simulator/scenarios.ts';
import { ann, serve } from '../simulator/served.ts';
import { commandLine } from '../support/command-line.ts';
import { folderOfFile } from '../support/new-folder.ts';

const running: Running = {
  url: 'http://127.0.0.1:7030',
  keys: [{ key: demoKey, plan: 'pro', permissions: ['read', 'write'], mailboxes: ['*'] }],
  scenario: scenarios.calm,
  seed: 1,
  speed: 1,
  now: scenarioStart,
  startChosen: false,
  behindProxy: false,
  habits: null,
  mailboxes: agencyFleet.map(({ email }) => email),
};

const folder = folderOfFile();

test.each([12, 500])('the banner of %i mailboxes prints a configuration that is valid as it stands', (count) => {
  const mailboxes = Array.from({ length: count }, (_, index) => `m${index}@one.example`);
  const [, block = ''] = /\n(accounts:\n.*?)\n\n/s.exec(banner({ ...running, mailboxes })) ?? [];
  const file = join(folder, `${count}.yaml`);
  writeFileSync(file, `${block}\n`, { mode: 0o600 });
  const loaded = loadConfig(file, {});
  expect(loaded.ok ? loaded.config.accounts.map(({ baseUrl }) => baseUrl) : loaded.problems).toEqual([running.url]);
});

test('a trouble is told with its counts, and when a daemon can see it', async () => {
  await using served = await serve();
  const { code, stdout, stderr } = await commandLine(['simulator', 'breach', ann.email, '--url', served.simulator.url]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^ann@one\.example sent 160 emails in the last 7 days, and 3 of them bounced \(1\.88%\)\./);
  expect(stdout).toContain('A daemon sees it when it next reads the statistics of this mailbox.');
});

test('a trouble without a simulator says how to start one', async () => {
  const { code, stderr } = await commandLine(['simulator', 'breach', ann.email, '--url', 'http://127.0.0.1:9']);
  const said = /^No simulator answers at http:\/\/127\.0\.0\.1:9\. Start one with `.* simulator`, or name /;
  expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
});

test('an alert that reaches the simulator is printed line by line, and no control character with it', () => {
  const section = { type: 'section', text: { text: '3 bounces &amp; more\n<http://127.0.0.1:7025/|the page>' } };
  const body = JSON.stringify({ text: 'Warning: a@b.example\u001b[2J', attachments: [{ blocks: [section] }] });
  expect(receivedMessage(body, scenarioStart)).toBe(
    [
      '',
      '08:30:00 UTC  alert: Warning: a@b.example [2J',
      '              3 bounces & more',
      '              the page (http://127.0.0.1:7025/)',
      '',
    ].join('\n'),
  );
  expect(receivedMessage('x'.repeat(5_000), scenarioStart)).toMatch(/alert: x{2999}…\n/);
});
