// Whether a connection to an address comes about: the name, the port, the certificate. Nothing is sent.
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { causes } from '../../http/exchange.ts';

const connectDeadlineMs = 5_000;
const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** null when it came about; else why not, in words or as a code. `url` is http or https. */
export function connectionFailure(url: string): Promise<string | null> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const to = { host, port: Number(port) || (ports[protocol] ?? 0), timeout: connectDeadlineMs };
  return new Promise((resolve) => {
    const secure = protocol === 'https:';
    const socket: Socket = secure ? connectTls({ ...to, servername: host }) : connectTcp(to);
    const over = (failure: string | null) => {
      socket.destroy();
      resolve(failure);
    };
    socket.once('timeout', () => over(`no answer in ${connectDeadlineMs / 1_000} s`));
    socket.once(secure ? 'secureConnect' : 'connect', () => over(null));
    // Not its message, which carries an address.
    socket.once('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => over(causes[code] ?? code));
  });
}
