// What a form of our pages sends: read, and refused when another site sent it, or a page that no longer holds.
import type { Context } from 'hono';
import { browserKeyOf, formTokenOf, isFormTokenOf, newBrowserKey, setBrowserKey } from '../access/browser-key.ts';
import { isFromOurPage, type Sender } from '../access/origin.ts';
import { formTokenField } from '../page/visitor.ts';
import { bodyText, maxBodyBytes } from './body-text.ts';
import { refuse } from './refusals.ts';

type Refused = { readonly refused: ReturnType<typeof refuse> };

/** What the browser says of the page that sent the request, if any did. */
export function senderOf(c: Context): Sender {
  return {
    secFetchSite: c.req.header('sec-fetch-site'),
    origin: c.req.header('origin'),
    host: c.req.header('host'),
  };
}

/** The fields of a form that a browser sends from a page of ours. Whether the form was made for that browser is not asked. */
export async function formOf(
  c: Context,
  publicUrl: string | null,
): Promise<{ readonly form: URLSearchParams } | Refused> {
  if (!isFromOurPage(senderOf(c), publicUrl)) {
    return { refused: refuse(c, 'cross_site', 'Another site sent this request, so Warmwarden did nothing.') };
  }
  if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    return { refused: refuse(c, 'not_a_form', 'Send the form of the page, as application/x-www-form-urlencoded.') };
  }
  const text = await bodyText(c.req.raw);
  if (text === null) {
    return { refused: refuse(c, 'too_large', `The request is larger than ${maxBodyBytes / 1_024} KiB.`) };
  }
  return { form: new URLSearchParams(text) };
}

/** The same, and only when the form was made for this very browser, as it is signed in now. */
export async function ownFormOf(
  c: Context,
  publicUrl: string | null,
): Promise<{ readonly form: URLSearchParams } | Refused> {
  const sent = await formOf(c, publicUrl);
  if ('refused' in sent) return sent;
  const key = browserKeyOf(c, c.get('cookie'));
  if (key !== null && isFormTokenOf(key, sent.form.get(formTokenField) ?? '')) return sent;
  return { refused: refuse(c, 'stale_form', staleForm) };
}

/** What a form carries. A browser without a key gets one: its forms must be its own also where nobody signs in. */
export function formTokenFor(c: Context): string {
  const kind = c.get('cookie');
  const known = browserKeyOf(c, kind);
  const key = known ?? newBrowserKey();
  if (known === null) setBrowserKey(c, key, kind);
  return formTokenOf(key);
}

const staleForm =
  'This form is no longer valid, so Warmwarden did nothing. Go back, reload the page, and send the form again. The browser must accept cookies.';
