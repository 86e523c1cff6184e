// https on a whole daemon: a renewed certificate is used after a reload, and one that does not fit its key never is.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { oliver, stormOf } from '../account/duty.ts';
import { certificateOf, firstCertificate, secondCertificate } from '../support/certificates.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '0 * * * *', warmup: '0 * * * *' };

test('a renewed certificate is used for new connections, and a broken pair changes nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { cert_file: join(folder, 'a.crt'), key_file: join(folder, 'a.key') };
  const write = ({ cert, key }: typeof firstCertificate) => {
    writeFileSync(files.cert_file, cert);
    writeFileSync(files.key_file, key);
  };
  write(firstCertificate);
  const server = { listen: '127.0.0.1:0', tls: files };
  const expectErrors = ['configuration refused'];
  await using stage = await startMovedDaemon({ scenario: stormOf(oliver), poll, file: { server }, expectErrors });
  const shown = async () => (await certificateOf(Number(new URL(stage.url()).port))).trim();
  expect(stage.url()).toMatch(/^https:/);
  expect(await shown()).toBe(firstCertificate.cert.trim());
  write({ cert: secondCertificate.cert, key: firstCertificate.key });
  expect(await stage.ask({})).toMatchObject({ result: 'invalid' });
  expect(await shown()).toBe(firstCertificate.cert.trim());
  write(secondCertificate);
  expect(await stage.ask({})).toMatchObject({ result: 'done' });
  expect(await shown()).toBe(secondCertificate.cert.trim());
  const without = await stage.reload(
    (config) => {
      config['server'] = { listen: '127.0.0.1:0' };
    },
    { dryRun: true },
  );
  expect(without.messages.join('\n')).toMatch(/server\.tls\.cert_file: .* \(needs a restart\)/);
});
