// Every command hung without a word beside a daemon that was frozen, as by SIGSTOP: its socket accepts and never answers.
// The tests wait for ten seconds again and again: side by side they take a third of the time.
import { expect, test } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { Running } from '../support/process.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';

const box = 'box@fleet.example';
const why = ['--reason', 'a test', '--yes'];
/** Whatever needs the daemon. */
const asking = [
  ['pause', box, ...why],
  ['undo', '--since', '1h', ...why],
  ['writes', 'off', ...why],
  ['silence', 'expire', 'some', ...why],
  ['channels', 'resend', 'ops', ...why],
  ['reload'],
  ['recipes', 'run', 'breaches'],
  ['status'],
  ['history'],
];
/** Whatever also says something without a daemon. */
const reading = [['doctor'], ['__alive']];

test.concurrent('beside a frozen daemon every command ends with a sentence, and nothing is changed', async () => {
  await using stage = await Stage.open();
  const mailbox = stage.api.add(box);
  const daemon = stage.start();
  await daemon.onDuty();
  await until('the mailbox to be known', () => stage.api.reads('/v1/stats', mailbox).length >= 2);
  daemon.kill('SIGSTOP');
  const run = async (argv: readonly string[]) => {
    await using command = new Running([...argv, '--config', stage.config]);
    const { code } = await command.ended;
    return { argv, code, said: command.output };
  };
  const held = `A daemon \\(process ${daemon.pid} on [^)]*\\) has this store but (does not answer|has not answered for 10 s)\\.`;
  for (const { argv, code, said } of await Promise.all(asking.map(run))) {
    expect([argv.join(' '), code, said]).toEqual([argv.join(' '), 1, expect.stringMatching(held)]);
    expect(said).toContain('Nothing was changed. Its process is suspended, so its mailboxes are not guarded.');
    expect(said).toContain(`Let it continue: \`kill -CONT ${daemon.pid}\`.`);
    expect(said).not.toContain('kill -KILL');
  }
  const seen = await Promise.all(reading.map(run));
  const [doctor, alive] = seen;
  expect(doctor?.said.replace(/\s+/g, ' ')).toMatch(new RegExp(held));
  expect(alive?.code).toBe(1);
  daemon.kill('SIGCONT');
  const { code } = await run(['status']);
  expect(code).toBe(0);
  expect(stage.api.posts(mailbox)).toEqual([]);
});

const secret = 'ww_of-this-test';
const withSecret = { name: 'me', sha256: sha256(secret), role: 'operator' };
const file = {
  server: { listen: '127.0.0.1:0', auth: { tokens: [withSecret] } },
  recipes: { api_keys: [{ ...withSecret, plan: 'pro' }] },
};
const env = { WARMWARDEN_TOKEN: secret, WARMWARDEN_API_KEY: secret };

test.concurrent.each(['the socket', 'a URL'])(
  'a daemon that freezes while it carries a command out that came over %s is said to have stopped, and the outcome to be unknown',
  async (way) => {
    await using stage = await Stage.open({ file });
    const mailbox = stage.api.add(box);
    const daemon = stage.start();
    const url = await daemon.onDuty();
    await until('the mailbox to be known', () => stage.api.reads('/v1/stats', mailbox).length >= 2);
    stage.api.applied = () => daemon.kill('SIGSTOP');
    const where = way === 'a URL' ? ['--url', url] : ['--config', stage.config];
    await using command = new Running(['pause', box, ...why, ...where], env);
    expect((await command.ended).code).toBe(1);
    expect(command.output).toMatch(/stopped answering|has not answered for 10 s/);
    expect(command.output).toMatch(/history( --url \S+)?` shows what it did/);
    expect(command.output).not.toContain('Nothing was changed');
  },
);
