// Causes of a failed connection or request in words: codes of Node.js and undici, and answers of a proxy.

export const connectDeadlineMs = 5_000;

/** Node's and undici's codes in words. Their messages can hold addresses but never headers. */
export const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  ENOENT: 'the socket does not exist',
  EAI_AGAIN: 'the host name could not be looked up',
  EMFILE: 'Warmwarden has as many open files as its limit allows; raise it (LimitNOFILE= in systemd, or ulimit -n)',
  ENFILE: 'this machine has as many open files as it allows',
  EADDRNOTAVAIL: 'this machine has no free port for the connection',
  ENETUNREACH: 'this machine has no route to the address',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${connectDeadlineMs / 1_000} s`,
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  SELF_SIGNED_CERT_IN_CHAIN: privateAuthority(),
  DEPTH_ZERO_SELF_SIGNED_CERT: privateAuthority(),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: privateAuthority(),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: privateAuthority(),
};

function privateAuthority(): string {
  return 'its certificate is signed by an authority that this machine does not know; name that authority in ca_file';
}

/** A proxy that did not pass a request on. */
export class ProxyError extends Error {
  constructor(status: number) {
    const wants = status === 407 ? ': it wants a user name and a password, or others' : '';
    super(`the proxy answered ${status}${wants}`);
  }
}
