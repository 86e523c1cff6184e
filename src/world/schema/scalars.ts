// Reads single values of the file. A message never quotes a value that is a secret.

import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import { isLoopback, type Network } from '../../core/egress.ts';
import { onePercentPpm, type Ppm, percent } from '../../core/policy.ts';
import { cronSchedule } from '../schedule.ts';

const millisecondsOf = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const maxDurationMs = 366 * millisecondsOf.d;
const durationHint = 'write a number and a unit, such as 250ms, 30s, 5m, 4h or 1d';
const shareHint = 'write shares with %, such as 10% or 0.5%';

export function readDuration(text: string, maxMs = maxDurationMs): number | string {
  const parts = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text.trim());
  if (!parts) return `"${text}" is not a duration: ${durationHint}`;
  const ms = Number(parts[1]) * millisecondsOf[parts[2] as keyof typeof millisecondsOf];
  return ms > maxMs ? `"${text}" is longer than ${maxMs / millisecondsOf.d}d` : ms;
}

/** Returns parts per million, or a sentence if the text is wrong. Never goes through a float. */
function readShare(text: string): Ppm | string {
  const parts = /^(\d{1,6})(?:\.(\d+))?\s*%$/.exec(text.trim());
  if (!parts) return `"${text}" is not a share: write it with %, such as 10% or 0.5%`;
  const decimals = parts[2] ?? '';
  if (decimals.length > 4) return `"${text}" has more than 4 decimals`;
  return Number(parts[1]) * onePercentPpm + Number(decimals.padEnd(4, '0'));
}

/** `90s`, as the file would write it. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  const [unit, unitMs] = Object.entries(millisecondsOf).findLast(([, one]) => ms % one === 0) ?? ['ms', 1];
  return `${ms / unitMs}${unit}`;
}

/** `0.5%`, as the file would write it. */
export function shareText(ppm: Ppm): string {
  return `${percent(ppm)}%`;
}

export function duration(minMs = 0, maxMs = maxDurationMs) {
  return quantity('a duration', durationHint, (text) => durationWithin(text, minMs, maxMs));
}

/** Duration, or null if the file says `never`. Output: milliseconds. */
export function durationOrNever() {
  return quantity('a duration or never', `${durationHint}, or never`, (text) => {
    if (text === 'never') return null;
    const ms = durationWithin(text, 1_000, maxDurationMs);
    return typeof ms === 'string' && ms.endsWith(durationHint) ? `${ms}, or never` : ms;
  });
}

function durationWithin(text: string, minMs: number, maxMs: number): number | string {
  const ms = readDuration(text, maxMs);
  return typeof ms === 'string' || ms >= minMs ? ms : `"${text}" is shorter than ${durationText(minMs)}`;
}

export function share(min: Ppm, max: Ppm) {
  return quantity('a share', shareHint, (text) => {
    const ppm = readShare(text);
    if (typeof ppm === 'string' || (ppm >= min && ppm <= max)) return ppm;
    return `"${text}" is not between ${shareText(min)} and ${shareText(max)}`;
  });
}

/** `read` returns the output or a sentence. `wanted` becomes the `title` in editors and the documentation. */
function quantity<Value extends number | null>(wanted: string, hint: string, read: (text: string) => Value | string) {
  const error = ({ input }: { readonly input?: unknown }) => {
    if (input === undefined) return undefined;
    return typeof input === 'number' ? `is the number ${input}: ${hint}` : `must be ${wanted}`;
  };
  return z
    .string({ error })
    .meta({ title: wanted.replace(/^an? /, '') })
    .transform((text, context) => {
      const value = read(text);
      return typeof value === 'string' ? refuse(context, value) : value;
    });
}

/** Reads a number that ${NAME} left as a string. */
const fromDigits = (value: unknown) =>
  typeof value === 'string' && /^\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value;
const fromWord = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value);

export const whole = (min: number, max: number) => z.preprocess(fromDigits, z.int().min(min).max(max));
export const numeric = (min: number, max: number) => z.preprocess(fromDigits, z.number().min(min).max(max));
export const truth = () => z.preprocess(fromWord, z.boolean());

/** Text that must be without a complaint. */
export function checked(complaint: (text: string) => string | null | false) {
  return z.string().superRefine((text, context) => {
    const wrong = complaint(text);
    if (wrong) refuse(context, wrong);
  });
}

export function cron() {
  return checked((expression) => cronComplaint(expression)).meta({ title: 'cron' });
}

const quotedCronLetters = 80;

export function cronComplaint(expression: string, zone?: string): string | null {
  try {
    cronSchedule(expression, zone);
    return null;
  } catch (error) {
    const isLong = expression.length > quotedCronLetters;
    const shown = isLong ? `${expression.slice(0, quotedCronLetters)}...` : expression;
    return `"${shown}" is not a cron expression: ${(error as Error).message} (for example "*/5 * * * *")`;
  }
}

export function timeZone() {
  return checked((zone) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: zone }) && null;
    } catch {
      return `"${zone}" is not a time zone: write UTC, or a name such as Europe/Berlin`;
    }
  });
}

/** The name becomes a metric label and part of addresses. */
export function label() {
  return z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores');
}

export function pattern() {
  return z.string().min(1, 'is empty').max(320).meta({ title: 'glob or id' });
}

/** Output: host and port separately, an IPv6 address without its brackets. */
export function listen() {
  return z.string().transform((value, context) => {
    const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(value);
    const host = parts?.[1] ?? parts?.[2];
    const port = Number(parts?.[3]);
    if (host !== undefined && port <= 65_535) return { host, port };
    return refuse(context, `"${value}" is not host:port: write 127.0.0.1:7025, or 0.0.0.0:7025 for every interface`);
  });
}

/** Host name, optionally with `*.` at its beginning. Output: lower case. */
export function hostName() {
  return z
    .string()
    .meta({ title: 'host name' })
    .transform((value, context) => {
      const name = value.toLowerCase();
      return /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(name)
        ? name
        : refuse(
            context,
            `"${value}" is not the name of a host: write warmwarden, or *.example.com, without http:// and port`,
          );
    });
}

export function publicUrl() {
  return z.string().transform((value, context) => {
    const plain = /^https?:\/\/[^\s?#@]+$/i.test(value) && URL.canParse(value);
    return plain
      ? value.replace(/\/+$/, '')
      : refuse(context, `"${value}" is not an address: write https://warmwarden.example.com`);
  });
}

export function network() {
  return z
    .string()
    .meta({ title: 'address or network' })
    .transform((value, context): Network => {
      const [, address = '', written] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
      const kind = isIP(address);
      const most = kind === 6 ? 128 : 32;
      const bits = written === undefined ? most : Number(written);
      if (kind !== 0 && bits <= most) return { address, bits, family: kind === 6 ? 'ipv6' : 'ipv4' };
      return refuse(context, `"${value}" is not an address or a network: write 127.0.0.1, 10.0.0.0/8 or ::1`);
    });
}

export function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

// Addresses of services. Their messages never quote them, because an address may be a secret.

/** Often a secret itself. `also`: complaint about an address that is one. */
export function serviceUrl(also: (url: string) => string | null | false = () => null) {
  return checked((url) => urlComplaint(url) ?? (url.includes('#') ? 'must have no #' : also(url)));
}

/** Address to which paths are appended. `trimmed` gets it without slashes at its end, and returns it or an error. */
export function baseUrl(trimmed: (url: string) => string | { readonly wrong: string }) {
  return z.string().transform((value, context) => {
    const wrong = urlComplaint(value) ?? (/[?#]/.test(value) ? 'must have no ? and no #: paths are added to it' : null);
    if (wrong) return refuse(context, wrong);
    const url = trimmed(value.replace(/\/+$/, ''));
    return typeof url === 'string' ? url : refuse(context, url.wrong);
  });
}

function urlComplaint(value: string): string | null {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    return 'is not an address: it must begin with https://, or with http:// when it leads to this machine or has allow_http: true next to it';
  if (/\s/.test(value)) return 'must have no spaces or line breaks';
  const { username, password } = new URL(value);
  return username || password ? 'must have no user name or password in it: they would not be sent' : null;
}

/** Returns true if the address is plain http to another machine, and false if the text is no address at all. */
export function isPlainHttpBeyondLoopback(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'http:' && !isLoopback(hostname);
}

export function certificate() {
  return checked((pem) => !isCertificate(pem) && 'must be a certificate in PEM: -----BEGIN CERTIFICATE-----');
}

function isCertificate(pem: string): boolean {
  return /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(pem) && isContext({ ca: pem });
}

/** True if TLS accepts the certificates and the key. */
export function isContext(options: SecureContextOptions): boolean {
  try {
    return createSecureContext(options) !== null;
  } catch {
    return false;
  }
}

// Digest of a token. The configuration holds only the digest, which is refused if others could guess the token.

const emptyDigests = digestsOf(['']);
const guessableDigests = digestsOf(
  [
    'test testing token TOKEN $TOKEN key KEY $KEY secret SECRET password PASSWORD passw0rd changeme change-me',
    'change_me admin root operator viewer scraper user me example demo default letmein qwerty hello foo bar abc',
    'abc123 123 1234 12345 123456 12345678 123456789 1234567890 warmwarden Warmwarden NAME mytoken my-token',
  ].flatMap((words) => words.split(' ')),
);

/** SHA-256 as hex in any case. Output: lower case. */
export function tokenDigest(kind: '--role ROLE' | '--recipe-key') {
  const remedy = `make one with \`warmwarden token new NAME ${kind}\`, which prints its digest too`;
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

/** Returns the digests with and without the line break that `echo TEXT | sha256sum` adds. */
function digestsOf(texts: readonly string[]): ReadonlySet<string> {
  const written = texts.flatMap((text) => [text, `${text}\n`]);
  return new Set(written.map((text) => createHash('sha256').update(text).digest('hex')));
}
