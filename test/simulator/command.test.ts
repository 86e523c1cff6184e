// `warmwarden simulator` as a process: what it prints, what it refuses, how it stops.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { startServer } from '../support/loopback.ts';
import { newFolder } from '../support/new-folder.ts';
import { Running } from '../support/process.ts';
import { until } from '../support/until.ts';
import { hourMs, type Json } from './served.ts';

const run = (...flags: string[]) => new Running(['simulator', '--port', ...flags]);

/** The address in the story, once it was told. */
async function address(started: Running): Promise<string> {
  await until('the address', () => started.output.includes('Ctrl-C'));
  return /http:\/\/[\d.:]+/.exec(started.output)?.[0] ?? '';
}

test('it tells where it listens and with which key, serves, and stops on SIGTERM with exit code 0', async () => {
  await using started = run('0', '--key', 'sk_live_mine', '--mailboxes', '30', '--seed', '5');
  const url = await address(started);
  expect(started.output).toContain(`curl -s -H 'Authorization: Bearer sk_live_mine' ${url}/v1/mailboxes`);
  expect(started.output).toContain('30 mailboxes, seed 5');
  const answer = await request(`${url}/v1/mailboxes`, { headers: { authorization: 'Bearer sk_live_mine' } });
  expect(((await answer.body.json()) as Json).mailboxes).toHaveLength(30);
  started.kill('SIGTERM');
  expect((await started.ended).code).toBe(0);
  expect(started.output).toContain('The simulator has stopped.');
});

test('with --speed the fleet runs ahead from --start', async () => {
  await using started = run('0', '--speed', '36000', '--start', '2026-03-10T08:30:00Z');
  const url = await address(started);
  const health = async () => {
    const { body } = await request(`${url}/v1/health`);
    return Date.parse(((await body.json()) as Json).timestamp);
  };
  const first = await health();
  expect(first).toBeGreaterThanOrEqual(Date.parse('2026-03-10T08:30:00Z'));
  await until('an hour to pass', async () => (await health()) > first + hourMs);
});

test('an occupied port is one sentence and exit code 1, with or without a fast clock', async () => {
  await using other = await startServer();
  const { port } = other;
  await using plain = run(String(port));
  await using fast = run(String(port), '--speed', '60');
  for (const started of [plain, fast]) {
    expect((await started.ended).code).toBe(1);
    expect(started.output).toBe(`Port ${port} on 127.0.0.1 is in use: choose another one with --port.\n`);
  }
});

test('a scenario file that is wrong is one sentence', async () => {
  const file = join(newFolder(), 'bad.yaml');
  writeFileSync(file, 'incidents: [{kind: flood, mailbox: "*", from: 1h}]\n');
  await using started = run('0', '--file', file);
  expect((await started.ended).code).toBe(2);
  expect(started.stderr).toMatch(/--file.*incidents\.0/s);
});
