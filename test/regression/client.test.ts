// Answers that once broke the client or its word, each named for what happened.
import { describe, expect, test } from 'vitest';
import { readBlacklist, readStats, readWarmup } from '../../src/api/answers.ts';
import type { MailboxApi } from '../../src/api/client.ts';
import { answer, clientOf, key, type Script, startScripted } from '../api/scripted-server.ts';

/** One request to a server that answers so, and when the next may start. */
async function ask<Value>(script: Script, what: (api: MailboxApi) => Promise<Value>) {
  await using server = await startScripted(script);
  await using client = clientOf(server.url);
  const result = await what(client.api);
  return { result, nextStartAt: client.api.budget.nextStartAt(0) };
}

const warmup = (api: MailboxApi) => api.warmup('a');
const failure = (kind: string) => ({ ok: false, failure: { kind } });

describe('shapes that once threw', () => {
  test('a row that is a list is an unreadable row', () => {
    expect(readStats({ stats: [[], { date: '2026-03-10' }] })?.rows).toHaveLength(2);
  });

  test('an empty list as config (PHP) leaves its fields unknown', () => {
    expect(readWarmup({ status: 'active', warmup_mode: 'slow', config: [] })).not.toBeNull();
  });

  test('a blacklist whose name is an object is counted', () => {
    const found = [{ name: { toString: 1, valueOf: 1 } }];
    expect(readBlacklist({ listed: true, blacklists_found: found })?.found).toBe(1);
  });

  test('digits without end are no number', () => {
    expect(readStats({ stats: [{ sent: '9'.repeat(400) }] })?.rows?.[0]?.sent).toBeNull();
  });
});

describe('values nested a hundred thousand deep', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

  test.each([
    ['a connection error', `{"id":"a","connection_error":${deep}}`, (api: MailboxApi) => api.mailbox('a')],
    ['the name of a list', `{"blacklists_found":[${deep}]}`, (api: MailboxApi) => api.blacklist('a')],
    ['a count', `{"stats":[{"sent":${deep}}]}`, (api: MailboxApi) => api.stats('a')],
    ['an error', `{"error":${deep}}`, (api: MailboxApi) => api.warmup('a')],
    ['the whole body', deep, (api: MailboxApi) => api.health()],
  ] as const)('are an answer or a failure, never an exception: %s', async (_, body, what) => {
    const { result } = await ask(
      (response) => response.end(body),
      (api): Promise<{ ok: boolean }> => what(api),
    );
    expect(typeof result.ok).toBe('boolean');
  });
});

describe('an answer that echoes the key', () => {
  test.each([
    ['an error', answer(401, { error: `invalid API key ${key}` })],
    ['a page with status 200', answer(200, `<p>${key}</p>`)],
  ])('does not show it: %s', async (_, script) => {
    expect(JSON.stringify(await ask(script, warmup))).not.toContain(key);
  });
});

describe('the status of an error counts whatever its body does', () => {
  const huge = 'x'.repeat(100_000);

  test('429 with a huge body is throttled, and Retry-After is kept', async () => {
    const { result, nextStartAt } = await ask(answer(429, huge, { 'retry-after': '30' }), warmup);
    expect(result).toMatchObject(failure('throttled'));
    expect(nextStartAt).toBe(30_000);
  });

  test('429 whose body breaks off is throttled', async () => {
    const { result } = await ask((response) => {
      response.writeHead(429, { 'retry-after': '30', 'content-length': 1_000 });
      response.write('x');
      setImmediate(() => response.destroy());
    }, warmup);
    expect(result).toMatchObject(failure('throttled'));
  });

  test('401 with a huge body is unauthorized', async () => {
    expect((await ask(answer(401, huge), warmup)).result).toMatchObject(failure('unauthorized'));
  });
});

describe('whom an answer is about', () => {
  test('a detail about another mailbox is malformed', async () => {
    const other = answer(200, { id: 'b', status: 'active', connection_error: null });
    expect((await ask(other, (api) => api.mailbox('a'))).result).toMatchObject(failure('malformed'));
  });

  test('mailbox_id null says nothing', async () => {
    expect((await ask(answer(200, { mailbox_id: null, status: 'active' }), warmup)).result.ok).toBe(true);
  });

  test('a Link header to the next page makes a list truncated', async () => {
    const paged = answer(200, { mailboxes: [] }, { link: '</v1/mailboxes?page=2>; rel="next"' });
    const { result } = await ask(paged, (api) => api.mailboxes());
    expect(result).toMatchObject({ ok: true, value: { answer: { truncated: true } } });
  });
});

describe('texts', () => {
  test('a byte order mark is no part of the JSON', async () => {
    expect((await ask((response) => response.end('\ufeff{"status":"active"}'), warmup)).result.ok).toBe(true);
  });

  test('a quoted text is not cut within a character', async () => {
    const { result } = await ask(answer(500, { error: `${'x'.repeat(199)}😀😀` }), warmup);
    expect(result.ok || result.failure.detail.isWellFormed()).toBe(true);
  });

  test('a redirect is told with its goal', async () => {
    const { result } = await ask(answer(302, '', { location: 'https://elsewhere.example/' }), warmup);
    expect(result).toMatchObject({ ok: false, failure: { kind: 'refused', status: 302 } });
    expect(JSON.stringify(result)).toContain('https://elsewhere.example/');
  });
});
