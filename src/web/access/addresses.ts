// Addresses of clients: without their notation, in trusted networks, and grouped by customer.
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Network } from '../../core/egress.ts';

/** Removes the port, brackets, the zone, and the IPv6 notation of an IPv4 address. */
export function bareAddress(address: string | undefined): string {
  const text = address ?? '';
  const [, bracketed] = /^\[([^\]]+)\]/.exec(text) ?? [];
  const [, alone] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const [bare = ''] = (bracketed ?? alone ?? text).split('%');
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
}

/** Returns a function that tells whether one of the networks has an address. */
export function trustIn(networks: readonly Network[]): (address: string | undefined) => boolean {
  const known = new BlockList();
  for (const { address: first, bits, family } of networks) known.addSubnet(first, bits, family);
  return (address) => {
    const bare = bareAddress(address);
    const kind = isIP(bare);
    return kind !== 0 && known.check(bare, kind === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Network of an address. IPv6 addresses are grouped by the 64 bits that a provider assigns to one customer. */
export function networkOf(address: string | undefined): string {
  const bare = bareAddress(address);
  if (!isIPv6(bare)) return bare || 'unknown';
  const [head = '', tail] = bare.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups.length - behind.length }, () => '0');
  return `${[...groups, ...zeros, ...behind].slice(0, 4).join(':')}::/64`;
}
