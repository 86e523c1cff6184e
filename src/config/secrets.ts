// Values that are secrets, and addresses: checked without ever being quoted.

import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';
import { isEscaped, isLoopback, isProxyUrl } from '../core/egress.ts';
import { commandName } from '../world/command-name.ts';
import { refuse } from './scalars.ts';
import { optional } from './section.ts';
import { readSmallFile } from './small-file.ts';

export const keyPrefix = 'sk_live_';
const smtpHint =
  'it begins with smtp:// or smtps:// and ends with the host, or its port; write / ? # and @ in a password as %2F %3F %23 and %40';
export const secretHint =
  'a Standard Webhooks secret is whsec_ and the base64 of 24 to 64 random bytes: make one with `echo whsec_$(openssl rand -base64 32)`';

/** A key of the mailbox API. */
export function apiKey() {
  return z.string().superRefine((key, context) => {
    if (!/^[\x21-\x7e]{1,512}$/.test(key) || key === keyPrefix || key.startsWith('$'))
      refuse(context, 'must be the whole key, without spaces, line breaks or non-ASCII characters');
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

/** The mailbox API's base_url. Output: without a slash at its end, and the same for one address however it is written. */
export function baseUrl() {
  return z.string().transform((value, context) => {
    const wrong = urlComplaint(value);
    if (wrong) return refuse(context, wrong);
    if (/[?#]/.test(value)) return refuse(context, 'must have no ? and no #: paths are added to it');
    const trimmed = value.replace(/\/+$/, '');
    if (!/\/v1$/i.test(trimmed)) return new URL(trimmed).href.replace(/\/+$/, '');
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

/** A workflow's address. The connectors that came before it were switched off by Microsoft. */
export function teamsUrl() {
  return channelUrl().superRefine((value, context) => {
    const host = URL.canParse(value) ? new URL(value).hostname : '';
    if (host === 'outlook.office.com' || host === 'outlook.office365.com' || host.endsWith('.webhook.office.com'))
      refuse(
        context,
        'is the address of an Office 365 connector, which Microsoft has retired: in Teams, add the workflow "Post to a channel when a webhook request is received" and write its address',
      );
  });
}

/** The address of a mail server, with user name and password. */
export function smtpUrl() {
  return z.string().superRefine((value, context) => {
    const wrong = 'is not the address of a mail server';
    if (!/^smtps?:\/\/[^/]/i.test(value) || !URL.canParse(value) || !endsWithHost(new URL(value)))
      return refuse(context, `${wrong}: ${smtpHint}`);
    const { username, password } = new URL(value);
    if (!isEscaped(username) || !isEscaped(password))
      return refuse(context, 'has a % in its user name or password that must be written as %25');
    if ((username === '') !== (password === ''))
      return refuse(context, 'must have both a user name and a password, or neither');
  });
}

function endsWithHost({ pathname, search, hash }: URL): boolean {
  return (pathname === '' || pathname === '/') && search === '' && hash === '';
}

/** The integration key of PagerDuty's Events API v2. */
export function routingKey() {
  return z
    .string()
    .regex(/^[A-Za-z0-9]{32}$/, 'is not an integration key of the Events API v2: those have 32 letters and digits');
}

/** The certificates of a private authority, as PEM. */
export function privateAuthority() {
  const pem = z.string().superRefine((ca, context) => {
    if (!isReadable(ca)) refuse(context, 'must be a certificate in PEM: -----BEGIN CERTIFICATE-----');
  });
  return optional(
    pem,
    undefined,
    'The certificate (PEM) of the private authority that signed the certificate of the server. Only that one is trusted then.',
  );
}

function isReadable(ca: string): boolean {
  if (!/-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(ca)) return false;
  try {
    createSecureContext({ ca });
    return true;
  } catch {
    return false;
  }
}

/** The address of a proxy, or none. */
export function proxy() {
  return z.string().superRefine((value, context) => {
    if (value !== 'none' && !isProxyUrl(value))
      refuse(
        context,
        'must be none, or the address of an HTTP proxy, such as http://proxy.example.com:3128; a % in its user name or password is written as %25',
      );
  });
}

function urlComplaint(value: string): string | null {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    return 'is not an address: it must begin with https://, or with http:// when it leads to this machine or has allow_http: true next to it';
  if (/\s/.test(value)) return 'must have no spaces or line breaks';
  const { username, password } = new URL(value);
  return username || password ? 'must have no user name or password in it: they would not be sent' : null;
}

/** Whether the address is plain http to another machine. False for what is no address at all. */
export function isPlainHttpBeyondLoopback(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'http:' && !isLoopback(hostname);
}

// The files that secrets are read from, while the daemon runs: rotation replaces them, often by a rename.

/** What stands in the files now, by path; a file that can't be read is left out. */
export function readFiles(files: readonly string[]): ReadonlyMap<string, string> {
  const contents = new Map<string, string>();
  for (const file of files) {
    const read = readSmallFile(file);
    // It may be replaced at this moment: the next look finds it.
    if ('text' in read) contents.set(file, read.text);
  }
  return contents;
}

/**
 * Watches the folders of these files, because a watch on a file goes blind after the first rename over it. `changed` is
 * called for anything that happens there, so it may be called in vain. A folder that can't be watched is named to
 * `blind`. Returns what ends the watch.
 */
export function watchFolders(
  files: readonly string[],
  changed: () => void,
  blind: (folder: string) => void,
): () => void {
  const watchers: FSWatcher[] = [];
  for (const folder of new Set(files.map((file) => dirname(file)))) {
    try {
      const watcher = watch(folder, { persistent: false }, changed);
      watcher.on('error', () => blind(folder));
      watchers.push(watcher);
    } catch {
      blind(folder);
    }
  }
  return () => watchers.forEach((watcher) => void watcher.close());
}

// The digest of a token, which is all that the configuration holds of it: refused when others could guess the token.

/** The options of `token new` that make it. */
type Kind = '--role ROLE' | '--recipe-key';

const emptyDigests = digestsOf(['']);
/** What examples and manuals write where a token belongs. */
const guessableDigests = digestsOf([
  ...['test', 'testing', 'token', 'TOKEN', '$TOKEN', 'key', 'KEY', '$KEY', 'secret', 'SECRET', 'password', 'PASSWORD'],
  ...['passw0rd', 'changeme', 'change-me', 'change_me', 'admin', 'root', 'operator', 'viewer', 'scraper', 'user', 'me'],
  ...[
    'example',
    'demo',
    'default',
    'letmein',
    'qwerty',
    'hello',
    'foo',
    'bar',
    'abc',
    'abc123',
    '123',
    '1234',
    '12345',
  ],
  ...['123456', '12345678', '123456789', '1234567890', 'warmwarden', 'Warmwarden', 'NAME', 'mytoken', 'my-token'],
]);

/** The SHA-256 of a token, as hex in any case. Output: lower case. */
export function tokenDigest(kind: Kind) {
  const remedy = `make one with \`${commandName} token new NAME ${kind}\`, which prints its digest too`;
  return z
    .string()
    .regex(/^[0-9A-Fa-f]{64}$/, `must be the SHA-256 of a token, 64 hex digits: ${remedy}`)
    .refine((digits) => !emptyDigests.has(digits.toLowerCase()), {
      error: `is the digest of an empty text, which anybody can send: ${remedy}`,
    })
    .refine((digits) => !guessableDigests.has(digits.toLowerCase()), {
      error: `is the digest of a text that anybody can guess: ${remedy}`,
    })
    .refine((digits) => !/^(.)\1{63}$/.test(digits), {
      error: `is a placeholder and the digest of no token: ${remedy}`,
    })
    .transform((digits) => digits.toLowerCase());
}

/** Of each text, with and without the line break that `echo TEXT | sha256sum` adds. */
function digestsOf(texts: readonly string[]): ReadonlySet<string> {
  const written = texts.flatMap((text) => [text, `${text}\n`]);
  return new Set(written.map((text) => createHash('sha256').update(text).digest('hex')));
}
