// Emails go through a real SMTP server and are read by a real parser: encrypted, threaded, once, and refused in clear words.

import type { ParsedMail } from 'mailparser';
import { expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { type EmailSettings, emailChannel } from '../../src/channels/email.ts';
import type { Delivery } from '../../src/core/delivery.ts';
import { noProxies } from '../../src/core/egress.ts';
import { start } from '../alerts/samples.ts';
import { sampleDelivery } from '../outbox/sample-delivery.ts';
import { ownCertificate } from '../support/certificates.ts';
import { MailServer } from '../support/mail-server.ts';
import { attack, attacking, ended, incidentMessage, one, people, storm } from './people.ts';

const password = 'p@ss/w%rd';
const addresses = { from: 'Warmwarden <alerts@acme.example>', to: ['ops@acme.example', 'eve@acme.example'] };

function channelTo(url: string, change: Partial<EmailSettings> = {}) {
  return emailChannel({ name: 'mail', url, ...addresses, allowPlain: false, ...people, ...change });
}

function send(
  channel: ReturnType<typeof channelTo>,
  message: GroupMessage,
  change: Partial<Pick<Delivery, 'id' | 'receipt'>> = {},
) {
  const payload = channel.render(message)?.payload ?? '';
  const about = { payload, createdAt: start, ...change, ...(change.receipt ? { state: 'accepted' as const } : {}) };
  return channel.send(sampleDelivery(about), AbortSignal.timeout(60_000));
}

const headersOf = (mail: ParsedMail | undefined) => ({
  id: mail?.messageId,
  references: [mail?.references ?? []].flat(),
  inReplyTo: mail?.inReplyTo ?? null,
});

test('an email has one subject, plain text, HTML and the headers that machines look for', async () => {
  await using server = await MailServer.start({ password });
  const answer = { protocol: 'SMTP', status: 250 };
  expect(await send(channelTo(server.url()), one)).toMatchObject({ kind: 'sent', answer });
  const [{ mail, to, source } = {}] = server.received;
  expect(mail?.subject).toBe('Warning: bob@acme.example: stale');
  expect(mail?.from?.text).toBe('"Warmwarden" <alerts@acme.example>');
  expect(to).toEqual(addresses.to);
  expect(mail?.text?.match(/20 March 10:02 UTC/g)).toHaveLength(1);
  expect(mail?.html).toContain('<code>warmwarden resume acme/bob@acme.example</code>');
  expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
  expect(mail?.headers.get('list')).toMatchObject({ id: { id: 'mail.warmwarden.acme.example' } });
  expect(mail?.date?.getTime()).toBe(start);
  expect(source).not.toContain(password);
});

test('an incident is a thread, and so is an alert with its end; an attempt again has the same bytes', async () => {
  await using server = await MailServer.start();
  const channel = channelTo(server.url());
  for (const [number, step] of (['began', 'grew', 'ended'] as const).entries())
    await send(channel, incidentMessage(step), { id: `msg_${number}` });
  await send(channel, one, { id: 'msg_3' });
  await send(channel, ended, { id: 'msg_4' });
  const [began, grew, over, fires, resolves] = server.received.map(({ mail }) => headersOf(mail));
  expect(began).toMatchObject({ references: [], inReplyTo: null });
  expect(began?.id).toMatch(/^<[0-9a-f]{32}@acme\.example>$/);
  for (const later of [grew, over]) expect(later).toMatchObject({ references: [began?.id], inReplyTo: began?.id });
  expect(grew?.id).toBe('<msg_1@acme.example>');
  expect(resolves).toMatchObject({ references: [fires?.id] });
  expect(fires?.id).not.toBe(began?.id);
  await send(channel, ended, { id: 'msg_4' });
  expect(server.received.at(-1)?.source).toBe(server.received.at(-2)?.source);
});

test('a storm and an attack are whole emails: the list is cut, the headline is not, and nothing is markup', async () => {
  await using server = await MailServer.start();
  const channel = channelTo(server.url());
  await send(channel, storm);
  await send(channel, attacking);
  const [many, hostile] = server.received.map(({ mail }) => mail);
  expect(many?.subject).toBe('Warning: acme: data out of date (2000)');
  expect(many?.text).toMatch(/and 1,9\d\d more: see the page\./);
  expect(hostile?.html).not.toMatch(/<b>|<!channel>|<@123>/);
  expect(hostile?.subject).not.toContain('\u202e');
  expect(hostile?.text).toContain(attack.slice(0, 20));
});

test('STARTTLS is required: a server without it, or with a certificate that nobody vouches for, gets no password', async () => {
  await using plain = await MailServer.start({ password });
  const asked: string[] = [];
  plain.answer = (step) => {
    asked.push(step);
    return null;
  };
  expect(await send(channelTo(plain.url('0.0.0.0')), one)).toMatchObject({
    kind: 'failed',
    setup: true,
    detail: expect.stringContaining('use a server with STARTTLS, write smtps, or add allow_plain: true'),
  });
  expect(asked).toEqual(['connect']);
  expect(await send(channelTo(plain.url('0.0.0.0'), { allowPlain: true }), one)).toMatchObject({ kind: 'sent' });
  for (const tls of ['starttls', 'from the start'] as const) {
    await using server = await MailServer.start({ password, tls });
    const distrusted = await send(channelTo(server.url('0.0.0.0')), one);
    expect(distrusted).toMatchObject({ kind: 'failed', setup: true, detail: expect.stringContaining('ca_file') });
    const egress = { proxies: noProxies, ca: ownCertificate.cert };
    expect(await send(channelTo(server.url('0.0.0.0'), { egress }), one)).toMatchObject({ kind: 'sent' });
    expect(server.received.map(({ encrypted }) => encrypted)).toEqual([true]);
  }
});

test('a wrong password is about the channel; 4yz is tried again, 5yz blames the message', async () => {
  await using server = await MailServer.start({ password });
  const wrong = await send(channelTo(server.url('127.0.0.1', 'wrong-pass')), one);
  expect(wrong).toMatchObject({
    kind: 'failed',
    setup: true,
    detail: 'the mail server refuses the user name or the password (535 5.7.8 Wrong password)',
  });
  const none = await send(channelTo(server.url('127.0.0.1', null)), one);
  expect(none).toMatchObject({ kind: 'failed', setup: true, detail: expect.stringContaining('requires a user name') });
  for (const [at, answer, kind] of [
    ['connect', '421 4.3.2 Too busy', 'failed'],
    ['auth', '454 4.7.0 Temporary failure', 'failed'],
    ['from', '450 4.2.0 Greylisted', 'failed'],
    ['to', '451 4.7.1 Greylisted', 'failed'],
    ['data', '452 4.3.1 Full', 'failed'],
    ['from', '553 5.1.8 Sender rejected', 'refused'],
    ['to', '550 5.1.1 No such user', 'refused'],
    ['data', `554 5.6.0 Rejected ${password}`, 'refused'],
  ] as const) {
    server.answer = (step) => (step === at ? answer : null);
    const detail = `the mail server answered ${answer.replace(password, '[hidden]')}`;
    expect(await send(channelTo(server.url()), one)).toMatchObject({ kind, detail });
  }
  expect(server.received).toEqual([]);
});

test('whom the server does not take with the others is tried again alone, and nobody gets it twice', async () => {
  await using server = await MailServer.start();
  const channel = channelTo(server.url());
  server.answer = (step, about) => (step === 'to' && about === 'eve@acme.example' ? '450 4.2.0 Greylisted' : null);
  const left = JSON.stringify(['eve@acme.example']);
  expect(await send(channel, one)).toMatchObject({ kind: 'accepted', receipt: left });
  expect(await send(channel, one, { receipt: left })).toMatchObject({ kind: 'failed', final: false });
  server.answer = () => null;
  expect(await send(channel, one, { receipt: left })).toMatchObject({ kind: 'sent' });
  expect(server.received.map(({ to }) => to)).toEqual([['ops@acme.example'], ['eve@acme.example']]);
  server.answer = (step) => (step === 'to' ? '550 5.1.1 No such user' : null);
  expect(await send(channel, one, { receipt: left })).toMatchObject({ kind: 'failed', final: true });
});
