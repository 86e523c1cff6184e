// The http channel: the request that the configuration writes, what counts as success, and what a mistake in it says.
import { expect, onTestFinished, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { type ChannelSettings, channelSettings, createChannel } from '../../src/channels/channels.ts';
import { sampleAlert, start } from '../alerts/samples.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { silentWorld } from '../support/silent-world.ts';
import { alertNamed, attacking, ended, one, people, storm } from './people.ts';

const secret = 'T0P-SECRET"&%';

async function stage(keys: object = {}) {
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const settings = channelSettings.parse({ name: 'sms', type: 'http', url: receiver.url, ...keys });
  const channel = createChannel(settings as ChannelSettings, { world: silentWorld(), ...people });
  const send = async (message: GroupMessage | null = one, ms = 10_000) => {
    const notice = { name: 'test', title: 'A test', at: start, sections: [] } as const;
    const payload = (message ? channel.render(message) : channel.renderNotice(notice))?.payload ?? '';
    expect(payload).not.toContain('T0P-SECRET');
    const result = await channel.send(sampleDelivery({ payload }), AbortSignal.timeout(ms));
    expect(JSON.stringify(result)).not.toContain('T0P-SECRET');
    return { ...result, got: receiver.received.at(-1) };
  };
  return { receiver, channel, send };
}

const list = '{"all":[{{#alerts}}{"rule":"{{rule}}","to":"{{mailbox}}"}{{^last}},{{/last}}{{/alerts}}],"n":{{count}}}';

test.each([
  [
    'application/json',
    '{"t":"{{title}}","key":"{{secrets.key}}"}',
    { key: secret, t: expect.stringContaining('<b>&') },
  ],
  ['application/x-www-form-urlencoded', 't={{title}}&key={{secrets.key}}', { key: secret, t: expect.any(String) }],
  ['application/x-www-form-urlencoded', 'key={{{secrets.key}}}', { key: 'T0P-SECRET"', '%': '' }],
  [
    'text/html',
    '<p>{{title}}</p><i>{{secrets.key}}</i>',
    /^<p>.*&lt;b&gt;&amp;: stale<\/p><i>T0P-SECRET&quot;&amp;%<\/i>$/,
  ],
  ['text/plain; charset=utf-8', '{{title}} {{secrets.key}}', /<b>&: stale T0P-SECRET"&%$/],
  ['application/json', list, { all: [{ rule: 'stale_data', to: expect.stringContaining('@') }], n: 1 }],
] as const)('%s: names and secrets are escaped in %s', async (content_type, body, wanted) => {
  const at = await stage({ content_type, body, secrets: { key: secret } });
  const { got, kind } = await at.send(attacking);
  expect(kind).toBe('sent');
  expect(got?.headers['content-type']).toBe(content_type);
  const text = got?.body ?? '';
  if (wanted instanceof RegExp) expect(text).toMatch(wanted);
  else
    expect(content_type.includes('json') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))).toEqual(
      wanted,
    );
});

test('a request has the method, the headers, the id of the message, and the same bytes at each attempt', async () => {
  const headers = { Authorization: `Bearer ${secret}` };
  const at = await stage({ method: 'PUT', headers, content_type: 'application/vnd.x+json' });
  let method: string | undefined;
  at.receiver.answer = (response) => {
    method = response.req.method;
    response.end(`you sent Bearer ${secret} to /hook/T0P-SECRET`);
  };
  const [first, second] = [await at.send(), await at.send()];
  expect(first.got).toMatchObject({
    headers: {
      authorization: headers.Authorization,
      'content-type': 'application/vnd.x+json',
      'idempotency-key': 'msg_1',
    },
  });
  expect([method, second.got?.body]).toEqual(['PUT', first.got?.body]);
  expect(first.answer?.text).toBe('you sent [hidden] to [hidden]');
});

test('of an end, a storm and a test the body has the status, the count and a text within max_length', async () => {
  const body = '{"status":"{{status}}","n":"{{count}}","text":"{{text}}"}';
  const at = await stage({ body, max_length: 1_000 });
  for (const [message, wanted] of [
    [ended, { status: 'resolved', n: '1' }],
    [storm, { status: 'firing', n: '2000' }],
    [null, { status: 'test', n: '0' }],
  ] as const) {
    const { got } = await at.send(message);
    const sent = JSON.parse(got?.body ?? '');
    expect(sent).toMatchObject(wanted);
    expect(Buffer.byteLength(sent.text)).toBeLessThanOrEqual(1_000);
  }
});

test.each([
  [{ status: [202, '400-404'] }, 403, '', { kind: 'sent' }],
  [{ status: [202] }, 200, '', { kind: 'failed', detail: 'the service answered 200 with an error' }],
  [{ text: 'queued' }, 200, 'is queued', { kind: 'sent' }],
  [
    { text: 'queued' },
    200,
    'no credit',
    { kind: 'failed', detail: expect.stringContaining('without the text of success') },
  ],
  [{}, 429, '', { kind: 'failed', retryAfterMs: 7_000 }],
  [{}, 401, '', { kind: 'failed', setup: true }],
  [{}, 422, '', { kind: 'refused' }],
])('success %o: %i %s', async (success, code, text, outcome) => {
  const at = await stage({ success });
  at.receiver.answer = status(code, { 'retry-after': '7' }, text);
  expect(await at.send()).toMatchObject(outcome);
});

test.each([
  [false, { kind: 'failed', final: false }],
  [true, { kind: 'unanswered' }],
])('once: %s; a message whose answer is lost', async (once, outcome) => {
  const at = await stage({ once });
  at.receiver.answer = (response) => response.destroy();
  expect(await at.send()).toMatchObject(outcome);
  at.receiver.answer = () => {};
  expect(await at.send(one, 300)).toMatchObject(outcome);
  at.receiver.answer = status(504);
  expect(await at.send()).toMatchObject(outcome);
  expect(at.channel.once === true).toBe(once);
});

test.each([
  [{ body: '{"t":"{{titel}}"}' }, 'body', 'has an unknown variable "titel" (did you mean title?)'],
  [{ body: '{"t":"{{#title}}"}' }, 'body', "can't be read as a template: Unclosed section"],
  [{ body: '{"t":"{{> other}}"}' }, 'body', 'has an unknown variable "> other"'],
  [{ body: '{"t":"{{{text}}}"}' }, 'body', 'does not become JSON when it is filled in'],
  [{ body: '{"t":"{{{title}}}"}' }, 'body', 'does not become JSON when it is filled in'],
  [{ body: '{"t":"{{#alerts}}{{&mailbox}}{{/alerts}}"}' }, 'body', 'does not become JSON when it is filled in'],
  [{ body: '{"t":"{{secrets.kee}}"}', secrets: { key: 'x' } }, 'body', '(did you mean secrets.key?)'],
  [{ body: '{{#alerts}}{{mailbx}}{{/alerts}}' }, 'body', '(did you mean mailbox?)'],
  [{ body: `{"t":"\${TOKEN}"}` }, 'body', 'write the variable below secrets'],
  [{ success: { status: ['2xx'] } }, 'success.status.0', 'must be a status'],
  [{ headers: { 'a b': 'x' } }, 'headers.a b', 'is not the name of a header'],
  [{ headers: { a: 'x\ny' } }, 'headers.a', 'without line breaks'],
  [{ content_type: 'json' }, 'content_type', 'must be a media type'],
  [{ url: 'http://sms.example/x' }, 'url', 'is plain http to another machine'],
])('%o is refused', (keys, path, message) => {
  const checked = channelSettings.safeParse({ name: 'sms', type: 'http', url: 'https://sms.example/x', ...keys });
  const said = checked.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n');
  expect(said).toContain(`${path}: `);
  expect(said).toContain(message);
});

test('a name cannot ask for a secret', async () => {
  const name = '{{secrets.key}} \u001fkey\u001f %1Fkey%1F \\u001fkey\\u001f';
  const alert = sampleAlert(1, { ...alertNamed(name) });
  for (const content_type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'text/html']) {
    const at = await stage({
      content_type,
      body: '"{{title}} {{#alerts}}{{title}}{{/alerts}}"',
      secrets: { key: secret },
    });
    const { got } = await at.send({ ...one, transitions: [{ kind: 'firing', at: start, alert }] });
    expect(got?.body).not.toContain('T0P-SECRET');
  }
});
