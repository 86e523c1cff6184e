// Answers that echo the key in a success, that are large (docs/faults.md O6), or whose fields are not what they should be. Many large ones at
// once: test/http/large-answers.slow.ts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.ts';
import { Redactor } from '../../src/api/http/redactor.ts';
import { answer, askScripted, key, type Script } from '../api/scripted-server.ts';

async function ask<Value>(script: Script, what: (api: ApiClient) => Promise<Value>): Promise<string> {
  await using client = await askScripted(script);
  return JSON.stringify([await what(client.api), client.said]);
}

const json =
  (text: string): Script =>
  (response) =>
    response.end(text);
const escaped = key.replace('_', '\\u005f').replace('n', '\\u006e');
const split = `${'x'.repeat(180)} ${key}`;

const ok = (body: object) => answer(200, body);
const error = (text: unknown) => ok({ id: 'a', connection_error: text });
const mailbox = (api: ApiClient) => api.mailbox('a');
const warmup = (api: ApiClient) => api.warmup('a');
const blacklist = (api: ApiClient) => api.blacklist('a');

test.each<[string, Script, (api: ApiClient) => Promise<unknown>]>([
  ['a connection error as an object', error({ [key]: key }), mailbox],
  ['a text that is cut within the key', error(split), mailbox],
  ['a status', ok({ mailboxes: [{ id: 'a', email: 'a@b.example', status: key }] }), (api) => api.mailboxes()],
  ['names of lists', ok({ listed: true, blacklists_found: { [key]: true } }), blacklist],
  ['a DNS record', ok({ dkim: { status: 'pass', record: `v=1; p=${key}` } }), (api) => api.dns('a')],
  ['a mode', ok({ status: 'active', warmup_mode: key }), warmup],
  ['a count that is none', ok({ stats: [{ date: '2026-03-10', sent: key }] }), (api) => api.stats('a', 7)],
  ['escapes', json(`{"id": "a", "connection_error": "${escaped}"}`), mailbox],
  ['escapes in the name of a list', json(`{"listed": true, "blacklists_found": {"${escaped}": 1}}`), blacklist],
  ['escapes in what is no answer', json(`{"success": false, "why": "${escaped}"}`), warmup],
  ['a refusal with escapes', answer(403, JSON.parse(`{"error": "${escaped}"}`)), warmup],
  ['a redirect', answer(302, '', { location: `https://else.example/?key=${key}` }), warmup],
  ['a large answer', ok({ error: `${key} is tired`, padding: '~'.repeat(2 ** 21) }), warmup],
])('a success that holds the key shows it nowhere: %s', async (_, script, what) => {
  const shown = await ask(script, what);
  expect(shown).not.toContain(key.slice(0, 12));
  expect(shown).toContain('[key]');
});

describe('a redactor', () => {
  const hook = 'https://hooks.example/T0000/B1111';
  const redactor = new Redactor(key, [`${hook}/long`, hook, 'too short']);

  test('takes out every secret that it knows, the longest first, and whatever looks like a key', () => {
    expect(redactor.text(`a ${hook}/long b ${hook} c ${key} d sk_live_of-another, not sk_live_`)).toBe(
      'a [hidden] b [hidden] c [key] d [key], not sk_live_',
    );
  });

  test('shows no key and no secret of another part of the configuration, whatever letters they are made of', () => {
    const secret = fc.string({ minLength: 12, maxLength: 40, unit: 'binary' });
    const beside = fc.string({ maxLength: 40 });
    fc.assert(
      fc.property(secret, secret, beside, beside, (own, other, before, after) => {
        const shown = new Redactor(own, [other]).text(`${before}${own}${after}${other}${before}`);
        fc.pre(!`${before}[key]${after}[hidden]${before}`.includes(own));
        expect(shown).not.toContain(own);
      }),
    );
  });

  test('is not stopped by a value that is nested a hundred thousand deep', () => {
    const deep = `${'['.repeat(100_000)}"\\u0073k_live_${'x'.repeat(20)}"${']'.repeat(100_000)}`;
    let value = redactor.json(deep);
    while (Array.isArray(value)) value = value[0];
    expect(value).toBe('[key]');
  });
});

test('an answer holds no NUL, which no text of PostgreSQL takes: a mailbox has one name in memory and in every store', () => {
  const said = new Redactor(key, []).json('{"id": "m\\u0000 1", "a\\u0000": ["\\\\u0000", "plain"]}');
  expect(said).toEqual({ id: 'm\uFFFD 1', 'a\uFFFD': ['\\u0000', 'plain'] });
});

const mebibyte = 1024 * 1024;

const box = (index: number) => ({
  id: `m${index}`,
  email: `box${index}@large.example`,
  provider: 'google',
  status: 'active',
  health_score: '98.50',
  daily_limit: 40,
  warmup_day: 12,
  notes: 'x'.repeat(100),
});

test('a large answer is read as a small one is', async () => {
  const mailboxes = Array.from({ length: 20_000 }, (_, index) => box(index));
  const text = JSON.stringify({ mailboxes: [...mailboxes, { id: '', email: 'no id' }] });
  expect(text.length).toBeGreaterThan(4 * mebibyte);
  await using client = await askScripted((response) => response.end(text));
  const list = await client.api.mailboxes();
  if (!list.ok) throw new Error(list.failure.detail);
  expect(list.value.answer.truncated).toBe(true);
  expect(list.value.answer.mailboxes).toHaveLength(20_000);
  expect(list.value.answer.mailboxes.at(-1)).toEqual({
    ...{ id: 'm19999', email: 'box19999@large.example', provider: 'google', status: 'active' },
    ...{ healthScore: 98.5, dailyLimit: 40, warmupDay: 12 },
  });
});

test('a field that is no text where one is expected is a failure, never an exception', async () => {
  for (const odd of ['{"toString": 1}', `${'['.repeat(50_000)}${']'.repeat(50_000)}`]) {
    await using client = await askScripted((response) => response.end(`{"mailbox_id": ${odd}}`));
    expect(await client.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'malformed' } });
    await using later = await askScripted((response) => response.writeHead(429).end(`{"retry_after": ${odd}}`));
    expect(await later.api.warmup('a')).toMatchObject({ ok: false, failure: { kind: 'throttled', status: 429 } });
  }
});
