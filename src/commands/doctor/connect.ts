// Whether a connection to an address comes about: the name, the port, the proxy, the certificate. Nothing is sent to the address.
import { causes, ProxyError } from '../../http/causes.ts';
import { wayOutTo } from '../../http/way-out.ts';
import { directly, type Egress } from '../../model/egress.ts';

const ports: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'smtp:': '587', 'smtps:': '465' };

/** null when it came about; else why not, in words or as a code. Of an `smtps` server, the certificate is not looked at. */
export function connectionFailure(url: string, egress: Egress = directly): Promise<string | null> {
  const { connect, forward, proxy } = wayOutTo(url, egress);
  const { protocol, hostname, host, port } = new URL(forward?.origin ?? url);
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port: port || (ports[protocol] ?? '') };
  const through = proxy === null ? '' : `through the proxy ${proxy}: `;
  return new Promise((resolve) => {
    connect(target, (error, socket) => {
      socket?.destroy();
      if (error === null) return resolve(null);
      // Not the message of another error, which carries an address.
      const { code = 'unknown error' }: NodeJS.ErrnoException = error;
      resolve(`${through}${error instanceof ProxyError ? error.message : (causes[code] ?? code)}`);
    });
  });
}
