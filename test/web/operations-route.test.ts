// The commands over HTTP: for an operator's token only, as JSON only, and the same requests as over the socket.
import { expect, test } from 'vitest';
import { askDaemon, askFor } from '../../src/cli/daemon.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { CommandOutcome, Operate } from '../../src/core/operator-command.ts';
import { type Commands, operating, operationNames } from '../../src/operations/command-requests.ts';
import { sha256 } from '../support/sha256.ts';
import { serve } from './running-server.ts';

const mebibyte = 1_024 * 1_024;

const token = (name: string, role: 'operator' | 'viewer') => {
  return { name, role, sha256: sha256(`secret-of-${name}`) };
};
const auth = { tokens: [token('anna', 'operator'), token('vera', 'viewer')] };
const headers = { authorization: 'Bearer secret-of-anna', 'content-type': 'application/json' };

/** Commands that note what they were asked for. */
function noting() {
  const asked: unknown[] = [];
  const note = async (request: unknown): Promise<CommandOutcome> => {
    asked.push(request);
    return { result: 'done', messages: ['noted'] };
  };
  const names = operationNames.map((name) => [name, note] as const);
  const operate: Operate = operating(Object.fromEntries(names) as unknown as Commands, (_by, _what, work) => work());
  return { asked, operate };
}

test('an operator asks as over the socket, under the name of the token', async () => {
  const { asked, operate } = noting();
  await using server = await serve(new Fleet(), { auth: () => auth, operate: () => operate });
  const daemon = { url: server.url, token: 'secret-of-anna' };
  const request = { mailbox: 'bob@acme.example', by: 'somebody else', reason: 'why' };
  expect(await askDaemon(daemon, 'pause', request)).toEqual({ result: 'done', messages: ['noted'] });
  expect(asked).toEqual([{ ...request, by: 'anna', dry_run: false, plan: null }]);
  const limit = { ...request, limit: 15 };
  expect(await askDaemon(daemon, 'limit', limit)).toEqual({ result: 'done', messages: ['noted'] });
  expect(asked.at(-1)).toEqual({ ...limit, by: 'anna', dry_run: false, plan: null });
  const nowhere = { url: 'http://127.0.0.1:1', token: 'x' };
  await expect(askDaemon(nowhere, 'pause', request)).rejects.toThrow('No daemon answers at http://127.0.0.1:1: ');
  const elsewhere = { ...daemon, url: `${server.url}/prefix` };
  const noPage = `Nothing is served at ${server.url}/prefix/api/`;
  await expect(askDaemon(elsewhere, 'pause', request)).rejects.toThrow(`${noPage}operations/pause: check the path`);
  await expect(askFor(elsewhere, 'fleet')).rejects.toThrow(`${noPage}fleet: check the path in --url.`);
  await expect(askDaemon({ ...daemon, token: 'wrong' }, 'pause', request)).rejects.toThrow('does not know the token');
});

test('a viewer, nobody, a form of a strange page and an unknown operation move nothing', async () => {
  const { asked, operate } = noting();
  await using server = await serve(new Fleet(), { auth: () => auth, operate: () => operate });
  const post = async (name: string, headers: Record<string, string>, body = '{"mailbox":"bob@acme.example"}') =>
    (await fetch(`${server.url}/api/operations/${name}`, { method: 'POST', headers, body })).status;
  const json = { 'content-type': 'application/json' };
  expect(await post('pause', json)).toBe(401);
  expect(await post('pause', { ...json, authorization: `Basic ${btoa('vera:secret-of-vera')}` })).toBe(403);
  const basic = { authorization: `Basic ${btoa('anna:secret-of-anna')}` };
  expect(await post('pause', { ...basic, 'content-type': 'text/plain' })).toBe(415);
  expect(await post('pause', { ...basic, ...json, origin: server.url })).toBe(403);
  expect(await post('pause', { ...basic, ...json, 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await post('pause', { ...basic, ...json }, '{"mailbox":"bob@acme.example","by":null}')).toBe(422);
  expect(await post('pause', { ...basic, ...json }, '[]')).toBe(400);
  expect(await post('toString', { ...basic, ...json })).toBe(404);
  for (const limit of ['0', '1.5', '"15"', '1001']) {
    const body = `{"mailbox":"bob@acme.example","limit":${limit}}`;
    expect(await post('limit', { ...basic, ...json }, body)).toBe(422);
  }
  expect(asked).toEqual([]);
});

test.each([
  ['pause', 'mailbox=bob', '400 The body is not JSON. Send a JSON object.'],
  ['pause', 'null', '400 The body is JSON, but not an object. Send a JSON object.'],
  ['pause', '{}', 'mailbox: is missing.'],
  ['pause', '{"mailbox":7}', 'mailbox: must be a string, not a whole number.'],
  // A mistyped key must not act.
  ['pause', '{"mailbox":"m","dryrun":true}', 'dryrun: unknown key.'],
  ['pause', `{"mailbox":"${'m'.repeat(1_001)}"}`, 'mailbox: is longer than 1000 characters.'],
  ['undo', '{"since_seconds":0}', 'since_seconds: must be at least 0.001.'],
  ['mode', '{"mailbox":"m"}', 'mode: is missing.'],
])('what is wrong with a request for %s is said in plain words: %s', async (name, body, words) => {
  const { asked, operate } = noting();
  await using server = await serve(new Fleet(), { auth: () => auth, operate: () => operate });
  const answer = await fetch(`${server.url}/api/operations/${name}`, { method: 'POST', headers, body });
  const { message, messages } = (await answer.json()) as { message?: string; messages?: readonly string[] };
  const unread = words.startsWith('400') ? '' : `422 The request for ${name} cannot be read: `;
  expect([`${answer.status} ${message ?? messages?.join(' ')}`, asked]).toEqual([`${unread}${words}`, []]);
});

test('a request during the start is refused with the time to wait', async () => {
  await using server = await serve(new Fleet(), { auth: () => auth, operate: () => null });
  const answer = await fetch(`${server.url}/api/operations/pause`, {
    method: 'POST',
    headers,
    body: '{"mailbox":"m"}',
  });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
});

test('a huge body to an operator’s route is refused after 64 KiB, in a sentence', async () => {
  await using server = await serve(new Fleet(), { auth: () => auth });
  let sent = 0;
  const piece = Buffer.alloc(64 * 1_024, 'x');
  const body = new ReadableStream({
    pull: (pouring) => {
      sent += piece.length;
      pouring.enqueue(piece);
      if (sent >= 64 * mebibyte) pouring.close();
    },
  });
  const url = `${server.url}/api/operations/pause`;
  const refused = await fetch(url, { method: 'POST', headers, body, duplex: 'half' });
  const message = 'The request is larger than 64 KiB.';
  expect([refused.status, await refused.json()]).toEqual([413, { error: 'too_large', message }]);
  expect(sent).toBeLessThan(32 * mebibyte);
});

test('without tokens there are no commands over HTTP: the socket is the way', async () => {
  const { asked, operate } = noting();
  await using server = await serve(new Fleet(), { operate: () => operate });
  for (const token of ['any', null])
    await expect(askDaemon({ url: server.url, token }, 'refresh', { mailbox: 'm' })).rejects.toThrow(
      /^This daemon has no tokens, .* Run the command without --url on the machine/,
    );
  expect(asked).toEqual([]);
});

test('without tokens a reload is accepted over HTTP; with tokens it needs one', async () => {
  const { asked, operate } = noting();
  const request = { by: 'anna', reason: 'why', force: false };
  await using open = await serve(new Fleet(), { operate: () => operate });
  const outcome = await askDaemon({ url: open.url, token: null }, 'reload', request);
  expect(outcome).toEqual({ result: 'done', messages: ['noted'] });
  expect(asked).toMatchObject([{ by: 'somebody over HTTP', reason: 'why' }]);
  // No page sends it, not even one of ours.
  for (const sent of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'http://elsewhere.example' }]) {
    const headers = { 'content-type': 'application/json', ...sent };
    const answer = await fetch(`${open.url}/api/operations/reload`, { method: 'POST', headers, body: '{}' });
    expect([answer.status, asked.length]).toEqual([403, 1]);
  }
  await using closed = await serve(new Fleet(), { auth: () => auth, operate: () => operate });
  await expect(askDaemon({ url: closed.url, token: null }, 'reload', request)).rejects.toThrow(
    'answered 401: the daemon does not know the token in WARMWARDEN_TOKEN, or it is empty.',
  );
  await expect(askDaemon({ url: closed.url, token: 'secret-of-vera' }, 'reload', request)).rejects.toThrow(
    'Only a token with the role operator may do this.',
  );
  expect(asked).toHaveLength(1);
});
