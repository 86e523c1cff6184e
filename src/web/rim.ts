// Changes to every response: security headers, and the path prefix in the addresses of a page.
import type { MiddlewareHandler } from 'hono';

/** Allows only the server's own scripts and other files, and no embedding in frames. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // With no-referrer, browsers without Sec-Fetch-Site would send the page's forms without an origin.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cache-Control': 'no-store',
};

export const addHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(securityHeaders)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};

/** Adds the prefix to the server's own addresses in HTML and in redirects. Internal addresses begin with `/`. */
export function addPrefix(prefix: string): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (prefix === '') return;
    const location = c.res.headers.get('location');
    if (location?.startsWith('/')) c.res.headers.set('location', prefix + location);
    if (!c.res.headers.get('content-type')?.startsWith('text/html')) return;
    c.res = new Response(prefixed(await c.res.text(), prefix), c.res);
  };
}

/** Adds the prefix to attributes. Texts of people are escaped and contain no quotation mark, so they can't match. */
function prefixed(html: string, prefix: string): string {
  return html.replace(/ (href|src|action|data-events)="\/(?!\/)/g, ` $1="${prefix}/`);
}

/** Path of a request without the prefix, which some proxies pass on and others remove. */
export function pathBehind(prefix: string, path: string): string {
  if (prefix === '' || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  if (rest === '') return '/';
  return rest.startsWith('/') ? rest : path;
}
