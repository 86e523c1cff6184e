// An API that speaks HTTP/2 over TLS, behind a private authority: nothing is done twice when a stream is refused, a session ends or
// a connection is lost, and an action is read back.
import { once } from 'node:events';
import {
  createSecureServer,
  type Http2Session,
  constants as h2,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { calmPoll } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { privateAuthority } from '../support/certificates.ts';
import { portOf } from '../support/loopback.ts';
import { emergencyWeek, OtherApi } from '../support/other-api.ts';

/** A stream with its session. `pass` asks the API and returns what answers the stream. */
interface Asked {
  readonly method: string;
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session;
  readonly pass: () => Promise<() => void>;
}

/** Speaks HTTP/2 alone, and passes what it is asked on to the API. `meet` is called for each stream. */
async function startFront(api: OtherApi) {
  const plain = async ({ pass }: Asked) => (await pass())();
  const front = { meet: plain, plain, sessions: 0 };
  const open = new Set<ServerHttp2Session>();
  const { cert, key } = privateAuthority;
  const server = createSecureServer({ cert, key, allowHTTP1: false });
  server.on('session', (session) => {
    front.sessions += 1;
    open.add(session);
    session.on('error', () => {});
    session.once('close', () => open.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const { ':method': method = '', ':path': path, authorization = '' } = headers;
    const pass = async () => {
      const body = method === 'POST' ? await buffer(stream) : null;
      const own = { authorization, 'content-type': 'application/json' };
      const answered = await fetch(`${api.url}${path}`, { method, headers: own, body });
      const answer = await answered.text();
      return () => {
        stream.respond({ ':status': answered.status, 'content-type': 'application/json' });
        stream.end(answer);
      };
    };
    if (stream.session) void front.meet({ method, stream, session: stream.session, pass });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const end = async () => {
    for (const session of open) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return Object.assign(front, { url: `https://127.0.0.1:${portOf(server)}`, [Symbol.asyncDispose]: end });
}

/** What happens to the first stream of the method. */
const troubles: readonly [name: string, method: 'GET' | 'POST', (asked: Asked) => Promise<void>][] = [
  ['a refused POST', 'POST', async ({ stream }) => stream.close(h2.NGHTTP2_REFUSED_STREAM)],
  ['a refused GET', 'GET', async ({ stream }) => stream.close(h2.NGHTTP2_REFUSED_STREAM)],
  [
    'a session that says GOAWAY and answers the POST',
    'POST',
    async ({ session, pass }) => {
      const answer = await pass();
      session.goaway(h2.NGHTTP2_NO_ERROR);
      answer();
    },
  ],
  ['GOAWAY that takes no POST', 'POST', async ({ session }) => session.destroy(undefined, h2.NGHTTP2_NO_ERROR)],
  [
    'a POST that was carried out, and reset',
    'POST',
    async ({ stream, pass }) => {
      await pass();
      stream.close(h2.NGHTTP2_INTERNAL_ERROR);
    },
  ],
  [
    'a session lost after the POST was carried out',
    'POST',
    async ({ session, pass }) => {
      await pass();
      session.socket.destroy();
      session.destroy();
    },
  ],
];

test.each(troubles)('%s: an emergency is paused once, and read back', async (_name, method, trouble) => {
  await using api = await OtherApi.start(['burning', 'calm']);
  await using front = await startFront(api);
  const [burning] = api.boxes;
  const account = { base_url: front.url, ca: privateAuthority.ca, plan: 'pro' };
  await using daemon = await startMovedDaemon({ other: api, poll: calmPoll, account });
  await daemon.run(hourMs);
  expect(front.sessions).toBeGreaterThan(0);
  let applied = 0;
  api.applied = () => {
    applied += 1;
  };
  let met = 0;
  front.meet = async (asked) => {
    if (asked.method !== method || met > 0) return front.plain(asked);
    met += 1;
    await trouble(asked);
  };
  burning.days = emergencyWeek;
  await daemon.until('the pause', () => burning.status === 'paused', hourMs);
  const from = api.log.length;
  await daemon.run(30 * minuteMs);
  expect([met, applied, burning.status]).toEqual([1, 1, 'paused']);
  const readBack = api.log
    .slice(from - 1)
    .filter(({ path, mailboxId }) => path === '/v1/warmup' && mailboxId === burning.id);
  expect(readBack.some((asked) => asked.method === 'GET')).toBe(true);
  const told = JSON.stringify(daemon.receiver.alerts());
  expect(told).toContain('confirmed');
  expect(told).not.toContain('NOT GUARDED');
});
