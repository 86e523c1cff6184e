// The stream of live pages: says that something changed, to as many readers as there is room for.
import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { usualLimits } from '../../src/web/live.ts';
import { exampleFleet, mailbox } from './example-fleet.ts';
import { ask, serve } from './running-server.ts';

const never = 3_600_000;
const limits = { ...usualLimits, tickMs: 5, beatMs: never };

/** The events of a stream, one by one. */
async function listen(url: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/events`, resolve).on('error', reject);
  });
  async function* blocks(): AsyncGenerator<string> {
    let waiting = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const whole = (waiting + chunk).split('\n\n');
      waiting = whole.pop() ?? '';
      yield* whole;
    }
  }
  const all = blocks();
  const next = async () => (await all.next()).value;
  expect(await next()).toBe(': live');
  return { response, next };
}

test('a page hears that something changed, once a look, and nothing while all is the same', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet, { liveLimits: limits });
  const stream = await listen(server.url);
  expect(stream.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
  expect(stream.response.headers['content-encoding']).toBeUndefined();
  for (const id of ['m9', 'm5', 'm9']) {
    fleet.putMailbox(mailbox(id, `${id}@acme.example`));
    fleet.putMailbox(mailbox(id, `${id}@acme.example`));
    expect(await stream.next()).toBe('data: changed');
  }
  stream.response.destroy();
});

test('time changes a view, too: readers hear of it now and then', async () => {
  await using server = await serve(exampleFleet(), { liveLimits: { ...limits, beatMs: 10 } });
  const stream = await listen(server.url);
  expect([await stream.next(), await stream.next()]).toEqual(['data: changed', 'data: changed']);
  stream.response.destroy();
});

test('no more readers than there is room for; one that leaves makes room, and the end of the server ends them all', async () => {
  const server = await serve(exampleFleet(), { liveLimits: { ...limits, readers: 1 } });
  const first = await listen(server.url);
  const refused = await ask(`${server.url}/events`);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
  expect(JSON.parse(refused.body.toString()).error).toBe('too_many_readers');
  first.response.destroy();
  await expect.poll(async () => (await ask(`${server.url}/events`, {}, 'HEAD')).status).toBe(200);
  const second = await listen(server.url);
  await server[Symbol.asyncDispose]();
  expect(await second.next()).toBeUndefined();
});

test('a script is offered no sign-in in a window of the browser', async () => {
  const sha256 = createHash('sha256').update('secret').digest('hex');
  const auth = () => ({ tokens: [{ name: 'eve', role: 'viewer' as const, sha256 }] });
  await using server = await serve(exampleFleet(), { auth });
  for (const path of ['/events', '/']) {
    const { status, headers } = await ask(server.url + path, {
      accept: 'text/event-stream, text/html',
      authorization: 'Bearer of-before',
    });
    expect([path, status, headers['www-authenticate']]).toEqual([path, 401, 'Bearer realm="Warmwarden"']);
  }
});
