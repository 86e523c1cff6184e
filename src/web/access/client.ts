// Where a request comes from: its own connection, or what a reverse proxy says that the configuration trusts.
import { BlockList, isIP } from 'node:net';
import type { Network } from '../../core/egress.ts';

export interface Client {
  /** The address of the person or program that asks; undefined when the connection is gone. */
  readonly address: string | undefined;
  /** Whether it asks over https, as far as the server or a trusted proxy knows. */
  readonly secure: boolean;
}

/** What is known of a request. */
export interface Arrival {
  readonly remoteAddress: string | undefined;
  /** Whether our own connection is TLS. */
  readonly encrypted: boolean;
  readonly forwardedFor: string | undefined;
  readonly forwardedProto: string | undefined;
}

/** Those whose X-Forwarded headers are believed. */
export class TrustedProxies {
  readonly #known = new BlockList();

  constructor(networks: readonly Network[]) {
    for (const { address, bits, family } of networks) this.#known.addSubnet(address, bits, family);
  }

  trusts(address: string | undefined): boolean {
    const bare = bareAddress(address);
    const kind = isIP(bare);
    return kind !== 0 && this.#known.check(bare, kind === 6 ? 'ipv6' : 'ipv4');
  }

  clientOf({ remoteAddress, encrypted, forwardedFor, forwardedProto }: Arrival): Client {
    if (!this.trusts(remoteAddress)) return { address: remoteAddress, secure: encrypted };
    // Each proxy adds who asked it at the end: the last that is no proxy of ours is the client, and what stands before it
    // is what that client claims.
    const hops = listOf(forwardedFor);
    const address = hops.findLast((hop) => !this.trusts(hop)) ?? hops[0] ?? remoteAddress;
    const proto = listOf(forwardedProto).at(-1)?.toLowerCase();
    return { address: bareAddress(address), secure: proto === undefined ? encrypted : proto === 'https' };
  }
}

function listOf(header: string | undefined): readonly string[] {
  return (header ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** Without a port, brackets, a zone, or the form in which IPv6 writes an IPv4 address. */
function bareAddress(address: string | undefined): string {
  const text = address ?? '';
  const [, bracketed] = /^\[([^\]]+)\]/.exec(text) ?? [];
  const [, alone] = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? [];
  const [bare = ''] = (bracketed ?? alone ?? text).split('%');
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
}
