// Values that are secrets, and addresses: checked without ever being quoted.
import { z } from 'zod';
import { refuse } from './scalars.ts';

const keyPrefix = 'sk_live_';
export const secretHint =
  'a Standard Webhooks secret is whsec_ and the base64 of 24 to 64 random bytes: make one with `echo whsec_$(openssl rand -base64 32)`';

/** A key of the mailbox API. */
export function apiKey() {
  return z.string().superRefine((key, context) => {
    if (!key.startsWith(keyPrefix))
      refuse(context, `every key of the mailbox API begins with ${keyPrefix}; this one does not`);
    else if (!/^[\x21-\x7e]{9,512}$/.test(key))
      refuse(context, `must be ${keyPrefix} and more, without spaces, line breaks or non-ASCII characters`);
  });
}

/** A key of a recipe service; what it looks like is not documented. */
export function recipeKey() {
  return z.string().regex(/^[\x21-\x7e]{1,512}$/, 'must have no spaces, line breaks or non-ASCII characters');
}

/** The secret that signs a webhook. */
export function webhookSecret() {
  return z.string().superRefine((secret, context) => {
    const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(secret)?.[1];
    const bytes = Buffer.from(encoded ?? '', 'base64').length;
    if (bytes < 24 || bytes > 64) refuse(context, `is not a webhook secret: ${secretHint}`);
  });
}

/** The mailbox API's base_url. Output: without a slash at its end. */
export function baseUrl() {
  return z.string().transform((value, context) => {
    const wrong = urlComplaint(value);
    if (wrong) return refuse(context, wrong);
    if (/[?#]/.test(value)) return refuse(context, 'must have no ? and no #: paths are added to it');
    const trimmed = value.replace(/\/+$/, '');
    if (!/\/v1$/i.test(trimmed)) return trimmed;
    const wanted = trimmed.replace(/(\/v1)+$/i, '');
    return refuse(context, `must not end in /v1, because every path already begins with /v1: write ${wanted}`);
  });
}

/** A recipe service's base_url, which ends with /v1. Output: without a slash at its end. */
export function recipeBaseUrl() {
  return z.string().transform((value, context) => {
    const wrong = urlComplaint(value);
    if (wrong) return refuse(context, wrong);
    if (/[?#]/.test(value)) return refuse(context, 'must have no ? and no #: paths are added to it');
    const trimmed = value.replace(/\/+$/, '');
    return /[^/]\/v1$/.test(trimmed)
      ? trimmed
      : refuse(context, 'must end in /v1, as the address of every recipe service does');
  });
}

/** A channel's url. It is often a secret itself. */
export function channelUrl() {
  return z.string().superRefine((value, context) => {
    const wrong = urlComplaint(value) ?? (value.includes('#') ? 'must have no #' : null);
    if (wrong) refuse(context, wrong);
  });
}

function urlComplaint(value: string): string | null {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return 'is not an address: it must begin with https://';
  if (/\s/.test(value)) return 'must have no spaces or line breaks';
  const { username, password } = new URL(value);
  return username || password ? 'must have no user name or password in it: they would not be sent' : null;
}

/** Whether the address is plain http to another machine. False for what is no address at all. */
export function isPlainHttpBeyondLoopback(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/** Whether the host is this machine, by name or by number. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)$/i.test(host);
}
