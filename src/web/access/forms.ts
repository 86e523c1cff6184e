// Forms of our pages: read, and refused when another site sent them, or a page that no longer holds.
import type { Context } from 'hono';
import { formTokenField } from '../page/layout.ts';
import { bodyText, maxBodyBytes, refuse } from '../refusals.ts';
import { browserKeyOf, formTokenOf, isFormTokenOf, newBrowserKey, setBrowserKey } from './sessions.ts';

type Sent = { readonly form: URLSearchParams } | { readonly refused: ReturnType<typeof refuse> };

/** Whether a web page sent a request: browsers say so. */
export function isFromAnyPage(c: Context): boolean {
  return c.req.header('origin') !== undefined || c.req.header('sec-fetch-site') !== undefined;
}

/** False for what a browser sends from another site. `publicUrl`: address of the page, for proxies that pass another Host on. */
function isFromOurPage(c: Context, publicUrl: string | null): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = c.req.header('origin');
  // A request without an origin is no browser's; forms ask for their own token in any case.
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin).host;
  return from === c.req.header('host')?.toLowerCase() || (publicUrl !== null && from === new URL(publicUrl).host);
}

/** The fields of a form that a browser sends from a page of ours, whether or not the form was made for that browser. */
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

/** Like `formOf`, and only when the form was made for this very browser, as it is signed in now. */
export async function ownFormOf(c: Context, publicUrl: string | null): Promise<Sent> {
  const sent = await formOf(c, publicUrl);
  if ('refused' in sent) return sent;
  const key = browserKeyOf(c);
  if (key !== null && isFormTokenOf(key, sent.form.get(formTokenField) ?? '')) return sent;
  return { refused: refuse(c, 'stale_form', staleForm) };
}

const staleForm =
  'This form is no longer valid, so Warmwarden did nothing. Go back, reload the page, and send the form again. The browser must accept cookies.';

/** Value of a form's hidden field. A browser without a key gets one: its forms must be its own also where nobody signs in. */
export function formTokenFor(c: Context): string {
  const known = browserKeyOf(c);
  const key = known ?? newBrowserKey();
  if (known === null) setBrowserKey(c, key);
  return formTokenOf(key);
}
