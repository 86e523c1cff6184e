// Reads forms of the server's own pages. Refuses forms that another site sent, and forms of an outdated page.
import type { Context } from 'hono';
import { formTokenField } from '../page/layout.ts';
import { bodyText, maxBodyBytes, refuse } from '../refusals.ts';
import { browserKeyOf, formTokenOf, isFormTokenOf, newBrowserKey, setBrowserKey } from './sessions.ts';

type Sent = { readonly form: URLSearchParams } | { readonly refused: ReturnType<typeof refuse> };

/** True if a web page sent a request, by its browser's headers. */
export function isFromAnyPage(c: Context): boolean {
  return c.req.header('origin') !== undefined || c.req.header('sec-fetch-site') !== undefined;
}

/**
 * Returns false for a browser's request from another site. `publicUrl`: address of the page, for proxies that change
 * the Host.
 */
function isFromOurPage(c: Context, publicUrl: string | null): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = c.req.header('origin');
  // A request without an origin does not come from a browser; forms need their own token in any case.
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from === c.req.header('host')?.toLowerCase() || (publicUrl !== null && from === new URL(publicUrl).host);
}

/**
 * Reads the fields of a form that a browser sends from one of the server's own pages, even if the form was made for
 * another browser.
 */
export async function formOf(c: Context, publicUrl: string | null): Promise<Sent> {
  if (!isFromOurPage(c, publicUrl)) {
    return { refused: refuse(c, 'cross_site', 'Another site sent this request, so Warmwarden did nothing.') };
  }
  if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    return { refused: refuse(c, 'not_a_form', 'Send the form of the page, as application/x-www-form-urlencoded.') };
  }
  const text = await bodyText(c.req.raw);
  if (text !== null) return { form: new URLSearchParams(text) };
  return { refused: refuse(c, 'too_large', `The request is larger than ${maxBodyBytes / 1_024} KiB.`) };
}

/** Like `formOf`, but refuses a form that was not made for this browser in its present session. */
export async function ownFormOf(c: Context, publicUrl: string | null): Promise<Sent> {
  const sent = await formOf(c, publicUrl);
  if ('refused' in sent) return sent;
  const key = browserKeyOf(c);
  if (key !== null && isFormTokenOf(key, sent.form.get(formTokenField) ?? '')) return sent;
  return { refused: refuse(c, 'stale_form', staleForm) };
}

const staleForm =
  'This form is no longer valid, so Warmwarden did nothing. Go back, reload the page, and send the form again. The browser must accept cookies.';

/**
 * Value of a form's hidden field. Sets a key if the browser has none, because forms are tied to a browser even if
 * nobody signs in.
 */
export function formTokenFor(c: Context): string {
  const known = browserKeyOf(c);
  const key = known ?? newBrowserKey();
  if (known === null) setBrowserKey(c, key);
  return formTokenOf(key);
}
