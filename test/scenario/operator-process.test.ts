// A daemon in a process of its own: operator commands on the command line, with the write stop through kill -9, and a crash, after which
// it starts itself again, unless something else does.
import { rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { Stage } from '../support/guarded.ts';
import { week } from '../support/other-api.ts';
import { until } from '../support/until.ts';

/** A command on the stage's daemon, through to its end. */
async function command(stage: Stage, ...args: readonly string[]) {
  const { code, stdout, stderr } = await commandLine([...args, '--config', stage.config]);
  return { code, said: `${stdout}${stderr}`.trim() };
}

it('on the command line, writes off stops the next POST and is still off after kill -9; writes on lets it go; a pause is read back, told with the person, and kept in the ledger', async () => {
  await using stage = await Stage.open();
  const mailbox = stage.api.add('amelia@a.example', { days: week(40, 0) });
  const bob = stage.api.add('bob@a.example', { days: week(40, 0) });
  stage.start();
  await stage.daemon.onDuty();
  await until('it to be known', () => stage.api.reads('/v1/stats', mailbox).length >= 3);
  const off = await command(stage, 'writes', 'off', '--for', '1h', '--reason', 'a look first', '--yes');
  expect(off).toEqual({ code: 0, said: expect.stringMatching(/^Writes are off for all accounts until /) });
  mailbox.days = week(40, 4);
  const notified = () => stage.receiver.alerts().map(({ rule }) => rule);
  await until('the breach to be told', () => notified().includes('bounce_over_limit'));
  await stage.daemon.killNow();
  stage.start();
  const before = stage.api.reads('/v1/stats', mailbox).length;
  await until('more readings', () => stage.api.reads('/v1/stats', mailbox).length >= before + 2);
  expect(stage.api.posts()).toEqual([]);
  expect((await command(stage, 'writes', 'on', '--reason', 'it is real', '--yes')).code).toBe(0);
  await until('it to act', () => mailbox.mode === 'recovery');
  expect(stage.api.posts(mailbox)).toHaveLength(1);

  const paused = await command(stage, 'pause', bob.email, '--yes', '--reason', 'the list is bad');
  expect(paused).toEqual({
    code: 0,
    said: expect.stringMatching(/^Warmwarden paused the warm-up of bob@a\.example \(account acme\)\. Read back after /),
  });
  expect(bob.status).toBe('paused');
  const explained = await command(stage, 'explain', bob.email);
  expect(explained.said).toContain('Reason: the list is bad.');
  // Somebody is writing the file, or has deleted it: the stop does not wait for that.
  for (const half of ['accounts:\n  - name: acme\n    api_key: [', '', null]) {
    if (half === null) rmSync(stage.config);
    else writeFileSync(stage.config, half);
    const stopped = await command(stage, 'writes', 'off', '--reason', 'a look first', '--yes');
    expect(stopped).toEqual({
      code: 0,
      said: expect.stringMatching(
        /^Writes are off for all accounts.*warning: .*\nWarmwarden looks for a daemon at the default store .* instead\. A daemon that runs there still has its earlier configuration\. Only `status` and `writes off` do so: .*$/s,
      ),
    });
    const reloaded = await command(stage, 'reload');
    expect(reloaded.code).toBe(2);
    if (half !== null) expect(reloaded.said).toContain('A running daemon still has its earlier configuration');
    expect((await command(stage, 'writes', 'on', '--yes')).code).toBe(2);
    expect((await command(stage, 'status')).said).toContain('Writes are OFF for all accounts');
  }
});

/** Makes the process throw where nothing catches it, at a signal. */
const faulty = `process.on('SIGUSR2', () => setTimeout(() => { throw new TypeError('a mistake of ours'); }))`;
const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(faulty)}"` };

it('starts again in the same process, with the reason, and once a minute at most; under Kubernetes it ends with exit code 1', async () => {
  await using stage = await Stage.open();
  const daemon = stage.start(env);
  const onDuty = () => daemon.log.filter(({ msg }) => msg === 'on duty');
  await until('the daemon to be on duty', () => onDuty().length === 1);
  daemon.kill('SIGUSR2');
  await until('the daemon to be on duty again', () => onDuty().length === 2);
  const [first, second] = onDuty();
  expect(second?.['pid']).toBe(first?.['pid']);
  const line = await daemon.said('Warmwarden ends');
  expect(line).toMatchObject({ level: 'error', err: { message: 'a mistake of ours' } });
  const crashes = () => stage.receiver.alerts().filter(({ rule }) => rule === 'crashed');
  await until('the message', () => crashes().length > 0);
  expect(crashes()[0]).toMatchObject({ status: 'firing', severity: 'critical' });
  daemon.kill('SIGUSR2');
  await until('the pause after the second crash', () => /starts again in [3-6]\d s/.test(daemon.stderr));
  expect(onDuty()).toHaveLength(2);
  daemon.kill('SIGTERM');
  expect((await daemon.ended).code).toBe(0);

  const supervised = stage.start({ ...env, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
  await supervised.onDuty();
  supervised.kill('SIGUSR2');
  expect((await supervised.ended).code).toBe(1);
});
