// Whatever changes something: without a terminal it wants --yes, with --dry-run it only shows, on a terminal it asks; and
// what is done is what was shown.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { CommandOutcome, Operate } from '../../src/core/operator-command.ts';
import { startCommandSocket } from '../../src/operations/socket.ts';
import { commandLine } from '../support/command-line.ts';
import { newFolder } from '../support/new-folder.ts';
import { serve } from '../web/running-server.ts';

interface Asked {
  readonly name: string;
  readonly dryRun: boolean;
  readonly plan: string | null;
}

let config: string;
let asked: Asked[];
/** What the daemon answers to a request that would act; done without. */
let outcomes: CommandOutcome[];

beforeEach(async () => {
  const folder = newFolder();
  config = join(folder, 'config.yaml');
  asked = [];
  outcomes = [];
  const operate: Operate = async (name, body) => {
    const { dry_run: dryRun, plan } = body as { readonly dry_run: boolean; readonly plan: string | null };
    asked.push({ name, dryRun, plan });
    if (dryRun) return { result: 'planned', messages: ['The effect.'], plan: 'p1' };
    return outcomes.shift() ?? { result: 'done', messages: ['Done.'] };
  };
  const server = await serve(new Fleet(), { operate: () => operate });
  const socket = await startCommandSocket(join(folder, 'w.db'), server.answer);
  onTestFinished(async () => {
    await socket.close();
    await server.close();
  });
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
  writeFileSync(config, JSON.stringify({ accounts, store: { url: 'sqlite:./w.db' } }));
});

const changes: readonly (readonly [name: string, ...argv: readonly string[]])[] = [
  ['pause', 'pause', 'a@b.example'],
  ['resume', 'resume', 'a@b.example'],
  ['mode', 'mode', 'a@b.example', 'slow'],
  ['undo', 'undo', '--since', '1h'],
  ['breaker-apply', 'breaker', 'apply'],
  ['breaker-discard', 'breaker', 'discard'],
  ['contest-end', 'contest', 'end', 'a@b.example'],
  ['silence-add', 'silence', 'add', '--rule', 'dns_failing', '--for', '1h', '--reason', 'known'],
  ['silence-expire', 'silence', 'expire', 's1'],
  ['acknowledge', 'ack', 'a1'],
  ['writes', 'writes', 'off', '--reason', 'a look first'],
  ['writes', 'writes', 'on'],
  ['reload', 'reload', '--force'],
  ['channels-resend', 'channels', 'resend', 'ops'],
];

const run = (more: readonly string[], answers: readonly string[] | null = null) =>
  commandLine(['breaker', 'apply', '--config', config, ...more], answers);

test('without a terminal nothing is done, and a sentence says what to add', async () => {
  const { code, stdout, stderr } = await run([]);
  expect([code, stdout, asked]).toEqual([2, '', [{ name: 'breaker-apply', dryRun: true, plan: null }]]);
  expect(stderr).toMatch(/^Nothing was done: there is no terminal to ask .* add --yes to do it, or --dry-run/);
});

test.each([
  ['--yes', 'done at once', 'Done.\n', false],
  ['--dry-run', 'only shown', 'The effect.\nThis was a dry run: nothing was done.\n', true],
])('with %s it is %s', async (option, _what, stdout, dryRun) => {
  expect(await run([option])).toEqual({ code: 0, stdout, stderr: '' });
  expect(asked).toEqual([{ name: 'breaker-apply', dryRun, plan: null }]);
});

test.each(changes)(
  '%s on a terminal: the effect is shown, and done after a yes as it was shown: %s %s',
  async (name, ...argv) => {
    const { code, stdout, stderr } = await commandLine([...argv, '--config', config], ['y']);
    expect([code, stdout]).toEqual([0, 'Done.\n']);
    expect(stderr).toContain('The effect.\nDo you want to continue? [y/N]');
    expect(asked).toEqual([
      { name, dryRun: true, plan: null },
      { name, dryRun: false, plan: 'p1' },
    ]);
  },
);

test('on a terminal anything but a yes does nothing', async () => {
  const { code, stderr } = await run([], ['']);
  expect([code, asked.length]).toEqual([1, 1]);
  expect(stderr).toContain('Nothing was done.');
});

test('what changed since the question is asked about again', async () => {
  outcomes = [{ result: 'changed', messages: ['Another effect.'], plan: 'p2' }];
  const { code, stderr } = await run([], ['y', 'y']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/The effect\.\nDo you want to continue\?[\s\S]*Another effect\.\nDo you want to continue\?/);
  expect(asked.map(({ plan }) => plan)).toEqual([null, 'p1', 'p2']);
});

test('a plain reload loads the file that was written for it, without a question', async () => {
  expect((await commandLine(['reload', '--config', config])).code).toBe(0);
  expect(asked).toEqual([{ name: 'reload', dryRun: false, plan: null }]);
});

test.each([
  ['done', 0],
  ['no_change', 0],
  ['failed', 1],
  ['changed', 1],
  ['invalid', 2],
] as const)(
  'the outcome %s ends with exit code %i, also in JSON; it is an error unless that is 0',
  async (result, code) => {
    const outcome = { result, messages: ['Why.', 'And how.'] };
    outcomes = [outcome, outcome];
    const command = ['pause', 'a@b.example', '--config', config, '--yes'];
    const said = 'Why.\nAnd how.';
    const [stdout, stderr] = code === 0 ? [`${said}\n`, ''] : ['', `${said}\n`];
    expect(await commandLine(command)).toEqual({ code, stdout, stderr });
    const inJson = await commandLine([...command, '--json']);
    const answer = code === 0 ? outcome : { error: { code: result, message: said } };
    expect([inJson.code, inJson.stderr, JSON.parse(inJson.stdout)]).toEqual([code, '', answer]);
  },
);

test('without a terminal and without a daemon, the first words are that nothing is guarded', async () => {
  const folder = newFolder();
  const file = join(folder, 'config.yaml');
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
  writeFileSync(file, JSON.stringify({ accounts, store: { url: 'sqlite:./none.db' } }));
  const { code, stderr } = await commandLine(['pause', 'a@b.example', '--config', file]);
  expect([code, stderr.split('\n')[0]]).toEqual([1, 'No daemon answers: nothing is guarded.']);
});
