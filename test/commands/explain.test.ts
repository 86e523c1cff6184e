// `warmwarden explain` reads the ledger of a store that a daemon has written, or is writing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hourMs } from '../../src/model/time.ts';
import { scenarioStart } from '../../src/simulator/scenarios.ts';
import { amelia, goOnDuty, oliver, stormOf } from '../watch/duty.ts';

const root = join(import.meta.dirname, '../..');
let duty: Awaited<ReturnType<typeof goOnDuty>>;
let config: string;

beforeAll(async () => {
  duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  await duty.until(() => duty.action()?.state === 'confirmed');
  await duty.run(2 * hourMs);
  config = join(mkdtempSync(join(tmpdir(), 'warmwarden-explain-')), 'config.yaml');
  const account = '{name: agency, base_url: "http://127.0.0.1:1", api_key: sk_live_x}';
  writeFileSync(config, `accounts: [${account}]\nstore: {url: "sqlite:${join(duty.image(), 'warmwarden.db')}"}\n`);
});
afterAll(() => duty[Symbol.asyncDispose]());

function explain(...args: string[]) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['src/bin.js', 'explain', ...args, '--config', config],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return { stdout, stderr, status };
}

test('tells the breach, the action and what came after, newest first', () => {
  const { stdout, stderr, status } = explain(amelia);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  const [head, ...story] = stdout.split('\n');
  expect(head).toContain(`${amelia} on account agency, mode recovery; recovery by Warmwarden since 10 March`);
  const text = story.join('\n');
  expect(text).toMatch(
    /recovery, bounce_rate_over_limit\n {2}\d+ bounces in \d+ mails of .* over balanced's limit of 1 %/,
  );
  // Each action with its date: a time alone says little a day later.
  expect(text).toMatch(
    /^\d+ March \d\d:\d\d UTC: recovery by Warmwarden, confirmed\n( {2}.*\n)* {2}Switched to recovery mode at .*, confirmed/m,
  );
  expect(text.indexOf('evidence window yet')).toBeLessThan(text.indexOf('bounce_rate_over_limit'));
});

test('tells the story until a moment only', () => {
  const early = new Date(scenarioStart + 30 * 60_000).toISOString();
  const { stdout } = explain(amelia, '--at', early);
  expect(stdout).toContain('none, ok');
  expect(stdout).not.toContain('bounce_rate_over_limit');
});

test('gives programs the same as JSON', () => {
  const { mailbox, decisions, actions } = JSON.parse(explain(amelia, '--json').stdout);
  expect(mailbox.email).toBe(amelia);
  expect(decisions.length).toBeGreaterThan(1);
  expect(actions).toMatchObject([{ kind: 'recovery', state: 'confirmed' }]);
});

test('says in one sentence what it can’t do', () => {
  expect(explain('nobody@x.example')).toMatchObject({
    stderr: 'warmwarden: No guarded mailbox is called nobody@x.example.\n',
    status: 1,
  });
  expect(explain(amelia, '--at', 'yesterday')).toMatchObject({
    stderr: expect.stringContaining('is no time'),
    status: 2,
  });
});
