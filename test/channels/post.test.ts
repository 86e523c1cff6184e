// How a message leaves: on a connection of its own, or through the proxy that Node.js was told to use.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

/** Sends a message to a host that does not exist, in a process of its own. */
const script = `
  const { postJson } = await import(process.argv[1]);
  const signal = AbortSignal.timeout(10_000);
  const answer = await postJson({ url: 'http://receiver.invalid/hook', body: '{}', headers: {}, signal, now: 0 });
  console.log(JSON.stringify(answer));
`;

async function send(env: Readonly<Record<string, string>>): Promise<unknown> {
  const file = new URL('../../src/channels/post.ts', import.meta.url).href;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, '--', file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [[line]] = await Promise.all([once(child.stdout, 'data'), once(child, 'exit')]);
  return JSON.parse(String(line));
}

test('a message goes through a proxy only where Node.js was told to use one', async () => {
  const asked: string[] = [];
  const proxy = createServer().on('connect', ({ url = '' }, socket) => {
    asked.push(url);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  onTestFinished(() => void proxy.close());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const proxies = { http_proxy: address, https_proxy: address, no_proxy: '' };
  expect(await send(proxies)).toEqual({
    kind: 'failed',
    detail: expect.stringMatching(/could not be reached \((ENOTFOUND|EAI_AGAIN)\)/),
  });
  expect(asked).toEqual([]);
  expect(await send({ ...proxies, NODE_USE_ENV_PROXY: '1' })).toMatchObject({ kind: 'failed' });
  expect(asked).toEqual(['receiver.invalid:80']);
});
