// Ways of requests out of this machine (directly or through a proxy), and trusted certificate authorities.

export interface Proxies {
  readonly http: string | null;
  readonly https: string | null;
  readonly except: readonly string[];
}

export interface Egress {
  readonly proxies: Proxies;
  /** Certificates (PEM) of the authority that replaces the system's, or null to trust the system's. */
  readonly ca: string | null;
}

export const noProxies: Proxies = { http: null, https: null, except: [] };
export const directly: Egress = { proxies: noProxies, ca: null };

/** Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY, lower case first. `unusable`: names of those without an http proxy. */
export function proxiesIn(environment: Readonly<Record<string, string | undefined>>): {
  readonly proxies: Proxies;
  readonly unusable: readonly string[];
} {
  const variable = (name: string) => (environment[name] ?? environment[name.toUpperCase()] ?? '').trim();
  const unusable: string[] = [];
  const read = (name: string) => {
    const written = variable(name);
    const url = written === '' || written.includes('://') ? written : `http://${written}`;
    if (url === '' || isProxyUrl(url)) return url || null;
    unusable.push(environment[name] === undefined ? name.toUpperCase() : name);
    return null;
  };
  const except = variable('no_proxy').split(/[\s,]+/);
  const proxies = { http: read('http_proxy'), https: read('https_proxy'), except: except.filter((one) => one !== '') };
  return { proxies, unusable };
}

/** True for an http or https proxy with a readable user and password. */
export function isProxyUrl(url: string): boolean {
  if (!/^https?:\/\/[^\s]+$/i.test(url) || !URL.canParse(url)) return false;
  const { pathname, search, hash, username, password } = new URL(url);
  return pathname === '/' && search === '' && hash === '' && isEscaped(username) && isEscaped(password);
}

export function isEscaped(text: string): boolean {
  try {
    return decodeURIComponent(text) !== null;
  } catch {
    return false;
  }
}

/** True for loopback by name or number; an IPv6 address may have brackets. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}

/** All addresses that begin with the first `bits` of this one. */
export interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}
