// Each chat and preset against a server made of its receiver's documents: it refuses what breaks a limit, and throttles in its own form.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { type ChannelSettings, channelSettings, createChannel } from '../../src/channels/channels.ts';
import { startReceiver } from '../outbox/receiver.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { silentWorld } from '../support/silent-world.ts';
import { discordFaults, teamsFaults } from '../support/strict-receivers.ts';
import { attacking, ended, incidentMessage, messageWith, one, pauseOf, people, storm } from './people.ts';

// biome-ignore lint/suspicious/noExplicitAny: the bodies of ten receivers.
type Fields = Readonly<Record<string, any>>;
interface Reply {
  readonly status: number;
  readonly body?: object | string;
}

interface Documented {
  readonly keys: object;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What breaks a published limit. */
  readonly faults: (body: Fields) => readonly (string | false)[];
  readonly taken: Reply;
  readonly throttled: Reply & { readonly waitMs: number | null };
  /** Answers that blame the configuration, with the words that people read. */
  readonly blames: readonly (Reply & { readonly says: string })[];
  /** Of a lost answer: whether the message is sent again. */
  readonly repeats?: true;
}

const long = (name: string, text: unknown, max: number, bytes = false) =>
  (typeof text !== 'string' || text === '' || (bytes ? Buffer.byteLength(text) : text.length) > max) &&
  `${name}: ${text}`;
/** A name that rings somebody, or leads to an address of its own. */
const loud = (text: string) => /(^|[^\w.+-])@(everyone|here|all|channel|room)/.test(text) && `rings: ${text}`;
const htmlFaults = (text: string) => [
  /<(?!\/?(strong|code|br)>|a href="https:\/\/[^"<>]*">|\/a>)/.test(text) && `markup: ${text}`,
  /&(?!amp;|lt;|gt;|quot;|#39;)/.test(text) && `entity: ${text}`,
];

const throttled = (body: Reply['body'] = '', waitMs: number | null = null) => ({ status: 429, body, waitMs });
const blame = (status: number, says: string, body: Reply['body'] = '') => ({ status, says, body });

const secretWord = 'T0PSECRETT0PSECRETT0PSECRET123';
const workflow = `/workflows/${secretWord}/triggers/manual/paths/invoke?sig=${secretWord}`;
const documents: Readonly<Record<string, Documented>> = {
  discord: {
    keys: { url: `PLACE/api/webhooks/123/${secretWord}` },
    path: `/api/webhooks/123/${secretWord}?wait=true`,
    faults: discordFaults,
    taken: { status: 200, body: { id: '1', type: 0 } },
    throttled: throttled({ message: 'You are being rate limited.', retry_after: 2.5 }, 2_500),
    blames: [
      blame(404, '(code 10015): create a webhook', { code: 10_015 }),
      blame(401, '(code 50027): create a webhook', { code: 50_027 }),
    ],
  },
  teams: {
    keys: { url: `PLACE${workflow}` },
    path: workflow,
    faults: (body) => teamsFaults(body, Buffer.byteLength(JSON.stringify(body))),
    taken: { status: 202 },
    throttled: throttled(),
    blames: [
      blame(401, '(Direct): find the workflow', { error: { code: 'Direct' } }),
      blame(400, 'IsNotEnabled): find the workflow', { error: { code: 'WorkflowTriggerIsNotEnabled' } }),
    ],
  },
  telegram: {
    keys: { token: `123456:${secretWord}`, chat_id: -1001234, thread: 7 },
    path: `/bot123456:${secretWord}/sendMessage`,
    faults: ({ chat_id, text, parse_mode, message_thread_id }) => [
      long('text', text, 4_096),
      ...htmlFaults(text),
      parse_mode !== 'HTML' && 'no HTML',
      (chat_id !== '-1001234' || message_thread_id !== 7) && 'another chat',
    ],
    taken: { status: 200, body: { ok: true, result: { message_id: 1, text: 'x'.repeat(9_000) } } },
    throttled: throttled(
      { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 34 } },
      34_000,
    ),
    blames: [
      blame(401, '(Unauthorized): check token', { ok: false, error_code: 401, description: 'Unauthorized' }),
      blame(400, 'chat not found', { ok: false, description: 'Bad Request: chat not found' }),
    ],
  },
  ntfy: {
    keys: { topic: 'acme-T0PSECRET', token: `tk_${secretWord}` },
    path: '/',
    headers: { authorization: `Bearer tk_${secretWord}` },
    faults: ({ topic, title, message, priority, actions, tags }) => [
      topic !== 'acme-T0PSECRET' && 'another topic',
      long('title', title, 250),
      long('message', message, 4_096, true),
      ![1, 2, 3, 4, 5].includes(priority) && `priority ${priority}`,
      (actions.length > 3 || tags.length !== 1) && 'actions',
    ],
    taken: { status: 200, body: { id: 'x', event: 'message' } },
    throttled: throttled({ code: 42901, http: 429, error: 'limit reached: too many requests' }),
    blames: [blame(403, '(forbidden): check url, topic and token', { code: 40301, error: 'forbidden' })],
  },
  google_chat: {
    keys: { url: `PLACE/v1/spaces/A/messages?key=k&token=${secretWord}` },
    path: `/v1/spaces/A/messages?key=k&token=${secretWord}`,
    faults: ({ text }) => [
      long('text', text, 32_000, true),
      loud(text),
      /<users\/|<[^\u200bh]/.test(text) && `link: ${text}`,
    ],
    taken: { status: 200, body: { name: 'spaces/A/messages/B' } },
    throttled: throttled({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }),
    blames: [blame(404, '(NOT_FOUND): create a webhook', { error: { status: 'NOT_FOUND' } })],
  },
  mattermost: {
    keys: { url: `PLACE/hooks/${secretWord}` },
    path: `/hooks/${secretWord}`,
    faults: ({ text }) => [
      long('text', text, 16_383),
      loud(text),
      /\[safe\]|[^*\\]\*\*x|https:\/\/evil/.test(text) && `formats: ${text}`,
    ],
    taken: { status: 200, body: 'ok' },
    throttled: throttled('limit exceeded'),
    blames: [
      blame(400, '(Invalid webhook.): add an incoming webhook', {
        id: 'web.incoming_webhook.invalid.app_error',
        message: 'Invalid webhook.',
      }),
    ],
  },
  gotify: {
    keys: { url: 'PLACE/push', token: secretWord },
    path: '/push/message',
    headers: { 'x-gotify-key': secretWord },
    faults: ({ title, message, priority }) => [
      long('title', title, 250),
      long('message', message, 16_000),
      !(priority >= 0 && priority <= 10) && `priority ${priority}`,
    ],
    taken: { status: 200, body: { id: 1 } },
    throttled: throttled(),
    blames: [blame(401, 'valid token): check url', { errorDescription: 'you need to provide a valid token' })],
  },
  apprise: {
    keys: { url: `PLACE/notify/${secretWord}`, warning_url: `PLACE/notify/warning-${secretWord}` },
    path: `/notify/warning-${secretWord}`,
    faults: ({ title, body, type, format, severity }) => [
      long('title', title, 250),
      long('body', body, 32_768),
      !['info', 'success', 'warning', 'failure'].includes(type) && `type ${type}`,
      (format !== 'text' || severity !== undefined) && 'another form',
    ],
    taken: { status: 200, body: {} },
    throttled: { ...throttled({ error: 'One or more notification could not be sent.' }), status: 424 },
    blames: [blame(204, '(nothing is configured under this key): save a configuration')],
  },
  pushover: {
    keys: { token: secretWord, user_key: secretWord.toLowerCase() },
    path: '/1/messages.json',
    faults: ({ token, user, title, message, priority, url }) => [
      (token !== secretWord || user !== secretWord.toLowerCase()) && 'another user',
      long('title', title, 250),
      long('message', message, 1_024),
      long('url', url ?? 'none', 512),
      ![-2, -1, 0, 1].includes(priority) && `priority ${priority}`,
    ],
    taken: { status: 200, body: { status: 1, request: 'x' } },
    throttled: throttled({ status: 0, errors: ['message limit reached'] }),
    blames: [
      blame(400, 'check token and user_key', { user: 'invalid', errors: ['user identifier is invalid'], status: 0 }),
    ],
  },
  matrix: {
    keys: { room: '!abc:matrix.example', token: secretWord },
    path: '/_matrix/client/v3/rooms/!abc%3Amatrix.example/send/m.room.message/msg_1',
    method: 'PUT',
    headers: { authorization: `Bearer ${secretWord}` },
    faults: (body) => [
      Buffer.byteLength(JSON.stringify(body)) > 60_000 && 'a large event',
      ...htmlFaults(body['formatted_body']),
      loud(body['body']),
      JSON.stringify(body['m.mentions']) !== '{}' && 'mentions',
    ],
    taken: { status: 200, body: { event_id: '$x' } },
    throttled: throttled({ errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2_500 }, 2_500),
    blames: [blame(403, '(M_FORBIDDEN): check url, room and token', { errcode: 'M_FORBIDDEN' })],
    repeats: true,
  },
};

/** The server of a receiver, and its channel. `reply` takes the place of its own answer; null cuts the connection. */
async function stage(type: string, { keys, method = 'POST', path, headers, faults, taken }: Documented) {
  const receiver = await startReceiver(undefined, '');
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const written = JSON.stringify({ name: 'ops', type, url: 'PLACE', ...keys }).replaceAll('PLACE', receiver.url);
  const settings = channelSettings.parse(JSON.parse(written)) as ChannelSettings;
  const channel = createChannel(settings, { world: silentWorld(), ...people });
  const at = { reply: taken as Reply | null, found: [] as unknown[], paths: [] as string[], channel };
  receiver.answer = (response, got) => {
    const wrong = [
      response.req.method !== method && `method ${response.req.method}`,
      ...Object.entries(headers ?? {}).map(([name, value]) => got.headers[name] !== value && `header ${name}`),
      ...faults(JSON.parse(got.body)),
    ];
    at.found.push(...wrong.filter(Boolean));
    at.paths.push(got.path);
    if (at.reply === null) return response.destroy();
    const { status, body = '' } = at.reply;
    return response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const send = async (message: GroupMessage, ms = 10_000) => {
    const payload = channel.render(message)?.payload ?? '';
    expect(payload).not.toContain('T0PSECRET');
    const result = await channel.send(sampleDelivery({ payload }), AbortSignal.timeout(ms));
    expect(JSON.stringify(result)).not.toMatch(/T0PSECRET/i);
    return result;
  };
  return { at, send, path };
}

describe.each(Object.entries(documents))('%s', (type, receiver) => {
  test('an alert, its end, an incident, a storm, an attack, a test and a digest are taken, within all limits', async () => {
    const { at, send, path } = await stage(type, receiver);
    for (const message of [one, ended, incidentMessage('began'), storm, attacking])
      expect(await send(message)).toMatchObject({ kind: 'sent' });
    const sections = Array.from({ length: 60 }, () => ({ heading: '@all', lines: ['x & <y>'.repeat(900), ''] }));
    for (const name of ['test', 'digest'] as const) {
      const payload = at.channel.renderNotice({ name, title: 'The day', at: 0, sections })?.payload ?? '';
      const sent = await at.channel.send(sampleDelivery({ payload }), AbortSignal.timeout(10_000));
      expect(sent).toMatchObject({ kind: 'sent' });
    }
    expect(at.found).toEqual([]);
    expect(at.paths[0]).toBe(path);
  });

  test('a message has the title and the sentences, however little room there is', async () => {
    const { at } = await stage(type, receiver);
    const texts = [one, storm].map((message) => at.channel.render(message)?.payload.replaceAll('\u200b', '') ?? '');
    expect(texts[0]).toMatch(/Warning: bob@acme\.example: stale.*warmwarden resume acme\/bob@acme\.example/);
    expect(texts[1]).toMatch(/Warning: acme: .*\(2,?000\)/);
    const shown = new Set(texts[1]?.match(/bob\d+@acme/g)).size;
    expect(texts[1]).toContain(` and ${(2000 - shown).toLocaleString('en')} more: see the page.`.trimStart());
  });

  test('its way to throttle is understood', async () => {
    const { at, send } = await stage(type, receiver);
    at.reply = receiver.throttled;
    expect(await send(one)).toMatchObject({ kind: 'failed', final: false, retryAfterMs: receiver.throttled.waitMs });
  });

  test.each(receiver.blames)('$status $says is about the configuration', async ({ says, ...reply }) => {
    const { at, send } = await stage(type, receiver);
    at.reply = reply;
    expect(await send(one)).toMatchObject({ kind: 'failed', setup: true, detail: expect.stringContaining(says) });
  });

  test('503 is tried again, another 4xx blames the message, and an answer that quotes a secret is hidden', async () => {
    const { at, send } = await stage(type, receiver);
    at.reply = { status: 503 };
    expect(await send(one)).toMatchObject({ kind: 'failed', final: false });
    const echo = `${at.paths[0]} ${JSON.stringify(receiver.keys)}`;
    at.reply = { status: 422, body: { description: echo, error: echo, message: echo, errors: [echo], errcode: echo } };
    expect(await send(one)).toMatchObject({ kind: 'refused' });
  });

  test('a lost answer is no second message, unless the receiver knows it by its id', async () => {
    const { at, send } = await stage(type, receiver);
    at.reply = { status: 504 };
    expect(await send(one)).toMatchObject({ kind: receiver.repeats ? 'failed' : 'unanswered' });
    expect(new Set(at.paths).size).toBe(1);
  });
});

test('opsgenie: a pause opens one alert under an alias, and the end closes it; a refused key is the configuration', async () => {
  const receiver = await startReceiver(undefined, '');
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const settings = channelSettings.parse({ name: 'pager', type: 'opsgenie', url: receiver.url, api_key: secretWord });
  const channel = createChannel(settings as ChannelSettings, { world: silentWorld(), ...people });
  receiver.answer = (response) => response.writeHead(202).end('{"result":"Request will be processed"}');
  const pause = pauseOf('confirmed');
  const send = (payload = '') => channel.send(sampleDelivery({ payload }), AbortSignal.timeout(10_000));
  for (const message of [messageWith([pause]), one, ended, storm])
    expect(await send(channel.render(message)?.payload)).toEqual(expect.objectContaining({ kind: 'sent' }));
  expect(await channel.check?.(AbortSignal.timeout(10_000))).toMatchObject({
    detail: expect.stringContaining('did not page'),
  });
  const [first, second, third, ...others] = receiver.received;
  expect(first?.headers['authorization']).toBe(`GenieKey ${secretWord}`);
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    priority: 'P1',
    entity: 'bob1@acme.example',
    tags: ['guard_acted'],
  });
  const { alias } = JSON.parse(second?.body ?? '');
  expect(third?.path).toBe(`/v2/alerts/${encodeURIComponent(alias)}/close?identifierType=alias`);
  expect(others.at(-1)?.path).toBe('/v2/alerts/warmwarden-test/close?identifierType=alias');
  for (const { body } of receiver.received) {
    const { message = '', alias: name = '', description = '' } = JSON.parse(body);
    expect([message.length <= 130, name.length <= 512, description.length <= 15_000]).toEqual([true, true, true]);
  }
  receiver.answer = (response) => response.writeHead(403).end(`{"message":"Key ${secretWord} is wrong"}`);
  const refused = await send(channel.render(one)?.payload);
  expect(refused).toMatchObject({ kind: 'failed', setup: true, detail: expect.stringContaining('[hidden]') });
  expect(JSON.stringify(refused)).not.toContain(secretWord);
});
