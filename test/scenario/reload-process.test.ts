// Reloading as an operator does it: a signal, the command, the HTTP route, and a secret that is rotated in its file.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { Stage } from '../support/guarded.ts';
import { until } from '../support/until.ts';

describe.concurrent('a running daemon', () => {
  it('reloads over HTTP from its own page only, on SIGHUP, and for `warmwarden reload` without the daemon’s variables', async () => {
    await using stage = await Stage.open({ file: { server: { listen: '127.0.0.1:0', auth: 'none' } } });
    stage.start();
    const url = await stage.daemon.onDuty();
    // Without tokens a page of another origin may not, whatever a browser sends with it.
    const statusFor = async (headers: Record<string, string>) => {
      const json = { 'content-type': 'application/json', ...headers };
      const answer = await request(`${url}/api/operations/reload`, { method: 'POST', headers: json, body: '{}' });
      await answer.body.dump();
      return answer.statusCode;
    };
    expect(await statusFor({ origin: 'http://evil.example' })).toBe(403);
    expect(await statusFor({ origin: 'null', 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusFor({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    const reloads = () => stage.daemon.log.filter(({ msg }) => msg.includes('configuration reloaded')).length;
    expect(reloads()).toBe(0);
    expect(await statusFor({})).toBe(200);
    await until('a first reload', () => reloads() === 1);

    stage.daemon.kill('SIGHUP');
    await until('a second reload', () => reloads() === 2);

    const unset = '$' + '{NO_SUCH_VARIABLE}';
    // The store of the file is the one that the daemon holds.
    stage.workplace.configure(`accounts: [{name: acme, base_url: "${stage.api.url}", api_key: "${unset}"}]\n`);
    const { code, stderr } = await commandLine(['reload', '--config', stage.config]);
    expect(code).toBe(2);
    expect(stderr).toContain('the environment variable NO_SUCH_VARIABLE is not set');
    expect(stderr).toContain('\nNot reloaded: the previous configuration stays in force.\n');
    const history = await commandLine(['history', '--config', stage.config]);
    const [, problem = '', end = ''] = history.stdout.split('\n');
    expect([problem, end]).toEqual([
      expect.stringMatching(/^ {2}\S*config\.yaml:1:\d+ .*NO_SUCH_VARIABLE is not set$/),
      '  Not reloaded: the previous configuration stays in force.',
    ]);
  });

  it('takes over a key that is rotated in its file', async () => {
    await using stage = await Stage.open({ account: { api_key: undefined, api_key_file: 'secrets/key' } });
    const file = stage.workplace.path('secrets/key');
    mkdirSync(dirname(file));
    writeFileSync(file, stage.key);
    const mailbox = stage.api.add('a@a.example');
    stage.start();
    await until('the first look', () => stage.api.reads('/v1/stats', mailbox).length > 0);
    const next = stage.api.addKey();
    writeFileSync(`${file}.new`, `${next}\n`);
    renameSync(`${file}.new`, file);
    await stage.daemon.said('configuration reloaded');
    stage.api.keys.delete(stage.key);
    const before = stage.api.reads('/v1/stats', mailbox).length;
    await until('looks with the new key', () => stage.api.reads('/v1/stats', mailbox).length > before + 1);
    expect(stage.daemon.output).not.toContain(next);
  });
});
