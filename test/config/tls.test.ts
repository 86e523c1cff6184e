// The certificate in the configuration: a key that does not fit it is refused, and files are watched like other secrets.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstCertificate, secondCertificate } from '../support/certificates.ts';
import { ConfigFolder } from '../support/config-folder.ts';

const place = new ConfigFolder();
const account = 'accounts: [{name: acme, base_url: "https://mailboxes.example", api_key: sk_live_1234}]';

function load(cert: string, key: string) {
  place.write('a.crt', cert);
  place.write('a.key', key);
  return place.load(`${account}\nserver: {tls: {cert_file: a.crt, key_file: a.key}}\n`);
}

test('a certificate and its key are read from their files, which are then watched', () => {
  const loaded = load(firstCertificate.cert, firstCertificate.key);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { cert, key } = firstCertificate;
  expect(loaded.config.server.tls).toEqual({ cert: cert.trimEnd(), key: key.trimEnd() });
  expect(loaded.secretFiles).toEqual([join(place.folder, 'a.crt'), join(place.folder, 'a.key')]);
  const shown = loaded.settings.map(({ value }) => String(value)).join('\n');
  expect(shown).not.toContain('BEGIN');
});

test('the key of another certificate is refused, and not quoted', () => {
  const loaded = load(firstCertificate.cert, secondCertificate.key);
  const said = loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
  expect(said).toEqual([
    'server.tls.key_file: is not the private key of the certificate, in PEM and without a passphrase',
  ]);
});
