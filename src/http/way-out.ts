// The way of a request to another machine: a connection to it, a tunnel through a proxy, or a proxy that is asked for it.
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { Egress } from '../model/egress.ts';
import { connectDeadlineMs, ProxyError } from './causes.ts';
import { proxyFor } from './proxy-for.ts';

export interface WayOut {
  readonly connect: buildConnector.connector;
  /** `proxy.example:3128`; null: none is in between. */
  readonly proxy: string | null;
  /** Proxy that forwards plain http, and the headers for it; null if requests go to their own origin. */
  readonly forward: { readonly origin: string; readonly headers: Readonly<Record<string, string>> } | null;
}

/** The way to an address. `allowH2`: HTTP/2 where the other side offers it. */
export function wayOutTo(url: string, { proxies, ca }: Egress, allowH2 = true): WayOut {
  const proxy = proxyFor(url, proxies);
  const trust = ca === null ? {} : { secureContext: createSecureContext({ ca }) };
  const connect = buildConnector({ timeout: connectDeadlineMs, allowH2, ...trust });
  if (proxy === null) return { connect, proxy: null, forward: null };
  const headers = authorizationOf(proxy);
  if (new URL(url).protocol === 'https:')
    return { connect: tunnel(proxy, headers, connect), proxy: proxy.host, forward: null };
  const toProxy = buildConnector({ timeout: connectDeadlineMs, allowH2: false });
  return { connect: toProxy, proxy: proxy.host, forward: { origin: proxy.origin, headers } };
}

function authorizationOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

/** CONNECT, then TLS with the other side through it (RFC 9110 9.3.6). */
function tunnel(
  proxy: URL,
  headers: Readonly<Record<string, string>>,
  secure: buildConnector.connector,
): buildConnector.connector {
  return (target, callback) => {
    const { hostname, host = hostname, port } = target;
    const authority = /:\d+$/.test(host) ? host : `${host}:${port || '443'}`;
    const request = proxy.protocol === 'https:' ? requestSecure : requestPlain;
    const asked = request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...headers },
      agent: false,
    });
    const late = AbortSignal.timeout(connectDeadlineMs);
    const end = () => asked.destroy(Object.assign(new Error('late'), { code: 'UND_ERR_CONNECT_TIMEOUT' }));
    late.addEventListener('abort', end);
    asked.once('connect', ({ statusCode = 0 }, socket, head) => {
      late.removeEventListener('abort', end);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        secure({ ...target, httpSocket: socket }, callback);
        return;
      }
      socket.destroy();
      callback(new ProxyError(statusCode), null);
    });
    asked.once('response', ({ statusCode = 0 }) => asked.destroy(new ProxyError(statusCode)));
    asked.once('error', (error) => callback(error, null));
    asked.end();
  };
}
