// Which proxy, if any, lies on the way to an address. Pure.
import { BlockList, isIP } from 'node:net';
import type { Proxies } from '../model/egress.ts';

/** The proxy by which an address is asked; null: directly. */
export function proxyFor(url: string, { http, https, except }: Proxies): URL | null {
  const { protocol, hostname, port } = new URL(url);
  const proxy = protocol === 'https:' ? https : protocol === 'http:' ? http : null;
  if (proxy === null) return null;
  const host = bare(hostname);
  const asked = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return except.some((entry) => excepts(entry, host, asked)) ? null : new URL(proxy);
}

/** `*`, a host with all below it (`example.com`, `.example.com`, `*.example.com`), an address, or a network; each with or without a port. */
function excepts(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isWithin(host, entry);
  const [, bracketed, named, ofPort] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  if (ofPort !== undefined && ofPort !== port) return false;
  // An IPv6 address without brackets has colons of its own.
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

/** The name of a host without brackets and the dot at its end, in lower case. */
function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
