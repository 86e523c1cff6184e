// An address or a network of the internet protocol.

/** All addresses that begin with the first `bits` of this one. */
export interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}
