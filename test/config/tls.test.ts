// The certificate in the configuration: a key that does not fit it is refused, and files are watched like other secrets.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { firstCertificate, secondCertificate } from '../support/certificates.ts';

const account = 'accounts: [{name: acme, base_url: "https://mailboxes.example", api_key: sk_live_1234}]';

function load(cert: string, key: string) {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.crt'), cert);
  writeFileSync(join(folder, 'a.key'), key);
  writeFileSync(join(folder, 'config.yaml'), `${account}\nserver: {tls: {cert_file: a.crt, key_file: a.key}}\n`);
  return { folder, loaded: loadConfig(join(folder, 'config.yaml'), {}) };
}

test('a certificate and its key are read from their files, which are then watched', () => {
  const { folder, loaded } = load(firstCertificate.cert, firstCertificate.key);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { cert, key } = firstCertificate;
  expect(loaded.config.server.tls).toEqual({ cert: cert.trimEnd(), key: key.trimEnd() });
  expect(loaded.secretFiles).toEqual([join(folder, 'a.crt'), join(folder, 'a.key')]);
  const shown = loaded.settings.map(({ value }) => String(value)).join('\n');
  expect(shown).not.toContain('BEGIN');
});

test('the key of another certificate is refused, and not quoted', () => {
  const { loaded } = load(firstCertificate.cert, secondCertificate.key);
  const said = loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
  expect(said).toEqual([
    'server.tls.key_file: is not the private key of the certificate, in PEM and without a passphrase',
  ]);
});
