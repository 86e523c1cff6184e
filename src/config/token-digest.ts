// The digest of a token, which is all that the configuration holds of it: refused when others could guess the token.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { commandName } from '../world/command-name.ts';

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
