// What every answer gets at the end: security headers, and the path prefix in front of the addresses on a page.
import type { MiddlewareHandler } from 'hono';

/** No script but our own files, nothing from elsewhere, no frame around us. */
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
  // Not no-referrer: browsers without Sec-Fetch-Site would name no origin when they send our own forms.
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

/** Puts the prefix in front of the addresses of our own in HTML and in redirects. Everything inside begins with `/`. */
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

/** What people wrote has no quotation mark in HTML, so none of it is taken for an attribute of ours. */
function prefixed(html: string, prefix: string): string {
  return prefix === '' ? html : html.replace(/ (href|src|action|data-events)="\/(?!\/)/g, ` $1="${prefix}/`);
}

/** The path of a request without the prefix, which a proxy passes on or takes away itself. */
export function pathBehind(prefix: string, path: string): string {
  if (prefix === '' || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  if (rest === '') return '/';
  return rest.startsWith('/') ? rest : path;
}
