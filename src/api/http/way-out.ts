// Route of a request to another machine: a direct connection, a tunnel through a proxy, or a forwarding proxy.

import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { BlockList, isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { Egress, Proxies } from '../../core/egress.ts';
import { connectDeadlineMs, ProxyError } from './failure.ts';

/** Returns null for a direct connection. */
export function proxyFor(url: string, { http, https, except }: Proxies): URL | null {
  const { protocol, hostname, port } = new URL(url);
  const proxy = protocol === 'https:' ? https : protocol === 'http:' ? http : null;
  if (proxy === null) return null;
  const host = bare(hostname);
  const asked = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return except.some((entry) => excepts(entry, host, asked)) ? null : new URL(proxy);
}

/** Entries are `*`, a host with its subdomains, an address, its beginning (`10.`), or a network. A port may follow. */
function excepts(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isWithin(host, entry);
  if (/^(\d{1,3}\.){1,3}\*?$/.test(entry)) return isIP(host) === 4 && host.startsWith(entry.replace('*', ''));
  const [, bracketed, named, ofPort] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  if (ofPort !== undefined && ofPort !== port) return false;
  // An IPv6 address without brackets contains colons itself.
  const name = bare(bracketed ?? named ?? entry).replace(/^\*?\./, '');
  return name !== '' && (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)));
}

function isWithin(host: string, network: string): boolean {
  const [, address = '', bits] = /^(.+)\/(\d{1,3})$/.exec(network) ?? [];
  const [kind, own] = [isIP(host), isIP(address)];
  if (kind === 0 || kind !== own || Number(bits) > (kind === 6 ? 128 : 32)) return false;
  const family = kind === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(address, Number(bits), family);
  return list.check(host, family);
}

function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

export interface WayOut {
  readonly connect: buildConnector.connector;
  /** Proxy such as `proxy.example:3128`, or null if there is none. */
  readonly proxy: string | null;
  /** Proxy that forwards plain http, or null if requests go to their own origin. */
  readonly forward: { readonly origin: string; readonly headers: Readonly<Record<string, string>> } | null;
}

/** `allowH2`: HTTP/2 if the server offers it. */
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

/** Connects with CONNECT, followed by TLS with the server (RFC 9110 9.3.6). */
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
