// Promise 10: a whole daemon under every kind of trouble, and none of its secrets in anything that it shows, says or keeps.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { Stage } from '../support/guarded.ts';
import { week } from '../support/other-api.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';

const token = 'operator-token-of-this-test';
const tokens = [{ name: 'ann', sha256: sha256(token), role: 'operator' }];
const authorization = { authorization: `Bearer ${token}` };
const pages = ['/', '/metrics', '/api/fleet', '/api/alerts', '/api/deliveries', '/openapi.json', '/readyz', '/nowhere'];
const docs = readFileSync(join(import.meta.dirname, '../../docs/log.md'), 'utf8');

/** What a command prints. */
async function printed(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await commandLine(args);
  return stdout + stderr;
}

/** An API that quotes the key in its refusals, and receivers that fail. */
async function troubled(stage: Stage): Promise<void> {
  const fine = stage.api.add('fine@a.example');
  const burning = stage.api.add('burning@a.example');
  stage.receiver.answer = () => 503;
  // A fleet that is known already: what a first sweep finds would wait for the rest of it.
  stage.start();
  const judged = async () =>
    await (await request(`${await stage.daemon.onDuty()}/metrics`, { headers: authorization })).body.text();
  await until('both judged', async () => (await judged()).match(/bounce_limit_ratio\{/g)?.length === 2);
  await stage.daemon.killNow();
  burning.days = week(40, 6);
  stage.start();
  await stage.daemon.onDuty();
  await until('the action', () => stage.api.posts(burning).length > 0);
  await stage.daemon.said('does not accept messages');
  const body = `{"error": "the key ${stage.key} is tired"}`;
  stage.api.fault = ({ mailboxId }) => (mailboxId === fine.id ? { kind: 'answer', status: 403, body } : undefined);
  await stage.daemon.said('is tired');
  stage.api.fault = () => ({ kind: 'answer', status: 500, body });
  await until('an outage', () => stage.daemon.log.some(({ level, status }) => level === 'error' && status === 500));
  stage.api.fault = () => undefined;
  // Echoed in an answer that is a success: it is kept, shown, told of and counted by label.
  fine.connectionError = `login as ${stage.key} failed, see ${stage.receiver.slackUrl}`;
  fine.status = stage.key;
  stage.receiver.answer = () => 200;
  await until('what was echoed', () => stage.receiver.alerts().some(({ rule }) => rule === 'mailbox_unwell'));
  await until('what was told', () => stage.receiver.alerts().some(({ rule }) => rule === 'guard_acted'));
}

it('the secrets of a configuration are in no log, page, metric, answer, message, error, command or row; and every log line is documented', async () => {
  await using stage = await Stage.open({ file: { server: { listen: '127.0.0.1:0', auth: { tokens } } } });
  await troubled(stage);
  const url = await stage.daemon.onDuty();
  const shown: Record<string, string> = {};
  const { mailboxes } = (await (await request(`${url}/api/fleet`, { headers: authorization })).body.json()) as {
    mailboxes: { id: string }[];
  };
  const own = mailboxes.flatMap(({ id }) => [`/mailboxes/acme/${id}`, `/api/explain?mailbox=acme/${id}`]);
  for (const path of [...pages, ...own])
    shown[path] = await (await request(url + path, { headers: authorization })).body.text();
  const config = ['--config', stage.config];
  shown['status'] = await printed('status', ...config, '--json');
  shown['explain'] = await printed('explain', 'burning@a.example', ...config, '--json');
  shown['recipe'] = await printed('recipes', 'run', 'disconnected', ...config, '--json');
  expect(shown['recipe']).toContain('login as [key] failed, see [hidden]');
  shown['check'] = await printed('check', ...config, '--show', '--json');
  const whole = readFileSync(stage.config, 'utf8');
  // Secrets on the wrong keys, and in a file that is no YAML any more.
  const { slackUrl, secret } = stage.receiver;
  stage.workplace.configure(`${whole}\nlog: {level: "${stage.key}"}\nserver: {listen: "${slackUrl} ${secret}"}\n`);
  shown['check of a broken file'] = await printed('check', ...config);
  shown['reload of a broken file'] = await printed('reload', ...config);
  stage.workplace.configure(`api_key: "${stage.key}\n`);
  shown['check of half a file'] = await printed('check', ...config);
  stage.workplace.configure(whole);
  shown['log'] = stage.daemon.output;
  shown['messages'] = stage.receiver.notified.map(({ text }) => text).join('\n');
  await stage.daemon.killNow();
  for (const file of readdirSync(stage.workplace.path('data')).filter((name) => !name.endsWith('.sock')))
    shown[`store ${file}`] = readFileSync(join(stage.workplace.path('data'), file), 'latin1');

  const secrets = [stage.key, 'SLACKSECRET', secret, secret.slice('whsec_'.length), token];
  for (const [where, text] of Object.entries(shown)) {
    expect(text.length, where).toBeGreaterThan(where.startsWith('store') ? -1 : 3);
    for (const one of secrets) expect(text.includes(one), `${one} in ${where}`).toBe(false);
  }
  expect(shown['log']).toContain('the key [key] is tired');

  const documented = new Set(docs.match(/`[A-Za-z_]+`/g)?.map((word) => word.slice(1, -1)));
  const fields = new Set(stage.daemon.log.flatMap((line) => Object.keys(line)));
  expect([...fields].filter((field) => !documented.has(field))).toEqual([]);
  expect(fields.size).toBeGreaterThan(15);
});
