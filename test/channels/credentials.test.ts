// What a receiver requires beside its address: headers, Basic authentication, the user of a mail server. None of it is shown.
import { expect, test } from 'vitest';
import { createChannel } from '../../src/channels/channels.ts';
import { settingsText } from '../../src/cli/check.ts';
import { start } from '../alerts/samples.ts';
import { secret } from '../outbox/rig.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { ConfigFolder } from '../support/config-folder.ts';
import { startServer } from '../support/loopback.ts';
import { MailServer } from '../support/mail-server.ts';
import { silentWorld } from '../support/silent-world.ts';
import { one, people } from './people.ts';

const place = new ConfigFolder();
place.write('token', 'hush-of-a-file\n');
const account = 'accounts: [{name: acme, base_url: "https://m.example", api_key: sk_live_1234}]\n';
const configured = (channel: string) => `${account}alerts: {channels: [{name: c, ${channel}}]}\n`;
const environment = { PASSWORD: 'hüsh:of/the env%' };

function said(channel: string): readonly string[] {
  const loaded = place.load(configured(channel), environment);
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
}

async function sendThrough(channel: string) {
  const loaded = place.accept(configured(channel), environment);
  const [settings] = loaded.config.alerts.channels;
  if (!settings) throw new Error('there is no channel');
  const made = createChannel(settings, { world: silentWorld(), ...people });
  const payload = made.render(one)?.payload ?? '';
  const result = await made.send(sampleDelivery({ payload, createdAt: start }), AbortSignal.timeout(60_000));
  return { result, loaded };
}

const signed = `secret: ${secret}`;
const password = '"$' + '{PASSWORD}"';
const headers = `headers: {X-Token: hush-of-the-key, X-Other_file: token}, username: wärden, password: ${password}`;

test.each([`type: webhook, ${signed}`, 'type: alertmanager'])(
  '%s sends headers and Basic authentication, and shows neither',
  async (type) => {
    const seen: Record<string, unknown>[] = [];
    await using server = await startServer(({ headers: given }, response) => {
      seen.push(given);
      response.writeHead(seen.length === 1 ? 200 : 401).end();
    });
    const keys = `${type}, url: "${server.url}", ${headers}`;
    const { result, loaded } = await sendThrough(keys);
    const authorization = `Basic ${Buffer.from(`wärden:${environment.PASSWORD}`).toString('base64')}`;
    expect([result.kind, seen]).toEqual([
      'sent',
      [expect.objectContaining({ 'x-token': 'hush-of-the-key', 'x-other': 'hush-of-a-file', authorization })],
    ]);
    const shown = settingsText(loaded.settings());
    expect(shown).toMatch(/X-Token: "\[hidden\]" .*\n *X-Other: "\[hidden\]" .* # line 2, from the file that it names/);
    for (const secret of ['hush', 'hüsh', authorization.slice(6)]) expect(shown).not.toContain(secret);
    expect(loaded.secrets).toEqual(expect.arrayContaining(['hush-of-the-key', 'hush-of-a-file', environment.PASSWORD]));
    expect([...loaded.secretFiles.values()]).toEqual(['hush-of-a-file\n']);
    expect((await sendThrough(keys)).result).toMatchObject({
      ...{ kind: 'failed', setup: true, detail: expect.stringContaining('answered 401: it requires other headers') },
    });
  },
);

test('a mail server gets user and password of keys of their own, whatever letters they have', async () => {
  await using server = await MailServer.start({ password: environment.PASSWORD });
  const users: string[] = [];
  server.answer = (step, about) => {
    if (step === 'auth') users.push(about);
    return null;
  };
  const url = new URL(server.url());
  const keys = `type: email, url: "smtp://${url.host}", from: a@acme.example, to: b@acme.example`;
  const { result, loaded } = await sendThrough(`${keys}, user: "ops@acme.example", password: ${password}`);
  expect([result.kind, users]).toEqual(['sent', ['ops@acme.example']]);
  expect(settingsText(loaded.settings())).not.toContain('hüsh');
});

const hook = `type: webhook, ${signed}, url: "https://a.example/hush"`;
const mail = 'type: email, from: a@b.example, to: a@b.example';
test.each([
  [`${hook}, username: me`, ['password: is missing beside username: write password or password_file']],
  [`${hook}, password: hush-hush`, ['username: is missing beside password']],
  [`${hook}, username: "a:b", password: hush-hush`, ['username: must have no colon and no line breaks']],
  [
    `${hook}, username: me, password: hush-hush, headers: {authorization: hush-hush}`,
    ['username: is in the way of the header Authorization: write only one of them'],
  ],
  [
    `${hook}, headers: {Content-Type: hush-hush, "a b": hush-hush}`,
    ['headers.Content-Type: is a header that Warmwarden writes itself', 'headers.a b: is not the name of a header'],
  ],
  [`${hook}, headers: {A: "hush\\nhush"}`, ['headers.A: must be of ASCII letters, without line breaks']],
  [
    `${hook}, headers: {A_file: nowhere, B: hush-hush, B_file: token}`,
    ["headers.A_file: the file can't be read: it does not exist", 'headers.B_file: write either B or B_file, not both'],
  ],
  [`${hook}, headers: hush-hush`, ['headers: must be a mapping of keys, not a string']],
  [`${mail}, url: "smtp://a.example", user: me`, ['password: is missing beside user: write password or password_file']],
  [`${mail}, url: "smtp://a.example", password: hush-hush`, ['user: is missing beside password']],
  [
    `${mail}, url: "smtp://me:hush-hush@a.example", user: me, password: hush-hush`,
    ['user: is in url, too: write it only once'],
  ],
])('%s is refused without a secret', (channel, problems) => {
  expect(said(channel)).toEqual(problems.map((problem) => `alerts.channels[0].${problem}`));
});
