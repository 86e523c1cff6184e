// The email channel: SMTP with encryption, plain text and simple HTML. The messages about one incident, or one alert,
// are a thread. Sources: RFC 5321 (4yz: retry later, 5yz: refused), RFC 5322 3.6.4 (Message-ID, References), RFC 2919
// (List-Id), RFC 3834 (Auto-Submitted).

import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Delivery } from '../core/delivery.ts';
import { isEscaped, isLoopback } from '../core/egress.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { checked, truth } from '../world/schema/scalars.ts';
import { keyed, optional, privateAuthority, secret, section, wordOrWords } from '../world/schema/section.ts';
import { type Channel, channelName, type Hook, type SendOutcome, type SendResult } from './channel.ts';
import {
  bodyText,
  cutText,
  escapedHtml,
  type ForPeople,
  htmlMarkup,
  type MessageText,
  messageText,
  noticeText,
} from './message-text.ts';
import { setupRefused, unanswered } from './post.ts';

interface SmtpError {
  readonly code?: string;
  readonly originalCode?: string;
  readonly message?: string;
  /** Three digits of the server's answer; `response` is the whole answer. */
  readonly responseCode?: number;
  readonly response?: string;
  readonly command?: string;
  readonly rejectedErrors?: readonly SmtpError[];
}

interface SmtpAttempt {
  readonly password: string;
  readonly isLate: boolean;
  /** True if the message was sent completely, so that it may have arrived. */
  readonly isWhole: boolean;
}

const maxQuoted = 200;
/** Codes that ask for other credentials or encryption. RFC 4954 section 6. */
const authenticationCodes = [530, 534, 535, 538];

function failureMeaning(error: SmtpError, { password, isLate, isWhole }: SmtpAttempt): SendResult {
  const noAnswer = 'the mail server did not answer in time';
  if (isLate || error.code === 'ETIMEDOUT') return isWhole ? unanswered(noAnswer) : later(noAnswer);
  const blamed = blamedFor(error);
  const { responseCode: status } = blamed;
  const said = saidBy(blamed, password);
  const outcome = outcomeOf(error, status, said);
  return status === undefined ? outcome : { ...outcome, answer: { protocol: 'SMTP', status, text: said } };
}

/** Error that decides the outcome. If no recipient was accepted, one that may be accepted later takes precedence. */
function blamedFor(error: SmtpError): SmtpError {
  const { rejectedErrors = [] } = error;
  return rejectedErrors.find(({ responseCode = 500 }) => responseCode < 500) ?? rejectedErrors[0] ?? error;
}

function outcomeOf(error: SmtpError, status: number | undefined, said: string): SendOutcome {
  const { code, message = '' } = error;
  if (code === 'EAUTH' && (status === undefined || status >= 500)) {
    return setupRefused(`the mail server refuses the user name or the password (${said || 'no way to sign in'})`);
  }
  if (status !== undefined && authenticationCodes.includes(status)) {
    return setupRefused(`the mail server requires a user name and a password, or encryption (${said})`);
  }
  if (/certificate|altname/i.test(message)) {
    const remedy = 'set ca_file to the certificate of its authority, or use the host name of the certificate in url';
    return setupRefused(
      `the certificate of the mail server is not trusted (${message.slice(0, maxQuoted)}): ${remedy}`,
    );
  }
  if (code === 'ETLS') {
    const remedy = 'use a server with STARTTLS, write smtps, or add allow_plain: true';
    return setupRefused(`the connection to the mail server can't be encrypted: ${remedy}`);
  }
  if (status === undefined) return later(`the mail server could not be reached (${codeOf(error)})`);
  const detail = `the mail server answered ${said}`;
  return status >= 500 ? { kind: 'refused', detail, retryAfterMs: null } : later(detail);
}

function later(detail: string): SendOutcome {
  return { kind: 'failed', detail, retryAfterMs: null, final: false };
}

function codeOf({ code, originalCode = code }: SmtpError): string {
  return originalCode !== undefined && /^\w+$/.test(originalCode) ? originalCode : 'unknown error';
}

function saidBy({ response = '' }: SmtpError, password: string): string {
  const line = response.replace(/\s+/g, ' ').trim();
  return cutText(visibleText(password === '' ? line : line.replaceAll(password, '[hidden]')), maxQuoted);
}

const smtpHint =
  'it begins with smtp:// or smtps:// and ends with the host, or its port; write / ? # and @ in a password as %2F %3F %23 and %40';

/** Address of the server: `smtp://USER:PASSWORD@HOST:587`, or smtps. Without a user there is no authentication. */
const smtpUrl = checked((value) => {
  if (!/^smtps?:\/\/[^/]/i.test(value) || !URL.canParse(value) || !endsWithHost(new URL(value)))
    return `is not the address of a mail server: ${smtpHint}`;
  const { username, password } = new URL(value);
  if (!isEscaped(username) || !isEscaped(password))
    return 'has a % in its user name or password that must be written as %25';
  return (username === '') !== (password === '') && 'must have both a user name and a password, or neither';
});

function endsWithHost({ pathname, search, hash }: URL): boolean {
  return (pathname === '' || pathname === '/') && search === '' && hash === '';
}

const maxAddress = 254;
const addressShape = /^[^\s@<>(),;:"\\[\]]+@[^\s@<>(),;:"\\[\]]+\.[^\s@<>(),;:"\\[\].]+$/;
const isAddress = (text: string) => text.length <= maxAddress && addressShape.test(text);

const recipient = checked((value) => !isAddress(value) && `"${value}" is not an email address`);
const sender = checked((value) => {
  const address = /^[^<>@"\r\n]*<([^<>]+)>$/.exec(value)?.[1] ?? value;
  const wanted = 'write alerts@example.com, or Warmwarden <alerts@example.com>';
  return !isAddress(address) && `"${value}" is not an email address: ${wanted}`;
});

export const emailSettings = section(
  {
    name: channelName,
    type: z.literal('email').describe('Emails through a mail server (SMTP).'),
    url: secret(smtpUrl.describe('smtp://USER:PASSWORD@HOST:587 (STARTTLS), or smtps://. Treated as a secret.')),
    user: optional(z.string().min(1), 'The user of the mail server, if url has none. Needs no escapes.'),
    password: secret(optional(z.string().min(1), 'The password of the user. Needs no escapes.')),
    from: sender.describe('The sender: alerts@example.com, or Warmwarden <alerts@example.com>.'),
    to: wordOrWords(recipient, 50).describe('The receivers: one address, or a list.'),
    allowPlain: keyed(truth(), false, 'Accept a mail server on another machine without encryption.'),
    ca: privateAuthority(),
  },
  ({ url, user, password }, refuseKey) => {
    if (user === undefined && password !== undefined) refuseKey('user', 'is missing beside password');
    if (user !== undefined && password === undefined)
      refuseKey('password', 'is missing beside user: write password or password_file');
    const isInUrl = typeof url === 'string' && URL.canParse(url) && new URL(url).username !== '';
    if (user !== undefined && isInUrl) refuseKey('user', 'is in url, too: write it only once');
  },
).transform(({ user, password, ...keys }) => ({ ...keys, url: urlWith(keys.url, user, password) }));

function urlWith(url: string, user = '', password = ''): string {
  if (user === '') return url;
  const address = new URL(url);
  [address.username, address.password] = [encodeURIComponent(user), encodeURIComponent(password)];
  return address.href;
}

/** User and password in the address of a mail server. */
export const emailSecret = /\bsmtps?:\/\/[^\s"',@]+@/;

/** A server on this machine needs no `allowPlain`. */
export type EmailSettings = Hook & ForPeople & Omit<z.output<typeof emailSettings>, 'type' | 'ca'>;

const emailGapMs = secondMs;
/** Maximum length of a subject, in the part that people see; the whole headline is the first line of the email. */
const maxSubject = 250;
const dnsMs = 20 * secondMs;
/** Times that the server may take for its greeting and for each answer: the longest ones of RFC 5321, 4.5.3.2. */
export const smtpPatience = { greetingMs: 5 * minuteMs, answerMs: 10 * minuteMs };
const longestMs = 30 * minuteMs;
const othersAgainMs = secondMs;

/** `thread` is null if the emails have none. */
interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly thread: string | null;
  readonly first: boolean;
}

export function emailChannel(settings: EmailSettings, patience = smtpPatience): Channel {
  const { name } = settings;
  return {
    name,
    type: 'email',
    minGapMs: emailGapMs,
    longestMs,
    skipsForetoldEnds: true,
    render: (message) => rendered(messageText(message, settings), threadOf(message)),
    renderNotice: (notice) => rendered(noticeText(notice, settings), { thread: null, first: false }),
    send: async (delivery, signal) => {
      const to: readonly string[] = delivery.receipt === null ? settings.to : JSON.parse(delivery.receipt);
      // Nodemailer is loaded with the first email, so that a start without emails does not wait for it.
      const { createTransport } = await import('nodemailer');
      // Nodemailer logs the end of the text, after which the message may have arrived.
      let isWhole = false;
      const log = ({ tnx }: { readonly tnx?: string } = {}) => {
        isWhole ||= tnx === 'message';
      };
      const logging = { transactionLog: true, logger: { debug: log, info: log } };
      const transport = createTransport({ ...connectionOf(settings, patience), ...logging });
      try {
        const { response, rejected } = await transport.sendMail({ ...mailOf(delivery, to, settings), signal });
        return takenBy(response, to, rejected);
      } catch (error) {
        const password = decodeURIComponent(new URL(settings.url).password);
        const attempt = { password, isLate: signal.aborted, isWhole };
        const failure = failureMeaning(error as SmtpError, attempt);
        // The other recipients have the message, so it is not resent to those whose refusal is final.
        return delivery.receipt !== null && failure.kind === 'refused'
          ? { kind: 'failed', detail: failure.detail, retryAfterMs: null, final: true }
          : failure;
      } finally {
        transport.close();
      }
    },
  };
}

/** A server may accept only some recipients. The next attempt is for the others alone. */
function takenBy(response: string, to: readonly string[], rejected: readonly string[]): SendResult {
  const answer = { protocol: 'SMTP', status: Number.parseInt(response, 10) || 250, text: response } as const;
  const left = to.filter((address) => rejected.includes(address));
  if (left.length === 0) return { kind: 'sent', answer };
  const detail = `the mail server accepted the message for ${to.length - left.length} of ${to.length} recipients`;
  return { kind: 'accepted', receipt: JSON.stringify(left), detail, againInMs: othersAgainMs, answer };
}

function rendered(text: MessageText, thread: Pick<Letter, 'thread' | 'first'>) {
  const subject = cutText(text.headline, maxSubject);
  const letter: Letter = { subject, text: textBody(text), html: htmlBody(text), ...thread };
  return { payload: JSON.stringify(letter), title: text.headline };
}

/** A thread lasts from the beginning of one incident, or one alert, to its end. */
function threadOf({ incident, transitions }: GroupMessage): Pick<Letter, 'thread' | 'first'> {
  if (incident) return { thread: incident.id, first: incident.step === 'began' };
  const [only, ...others] = transitions;
  if (!only || others.length > 0 || only.kind === 'event') return { thread: null, first: false };
  return { thread: `${only.alert.fingerprint}|${only.alert.since}`, first: only.kind === 'firing' };
}

/** The bytes are the same at every attempt. */
function mailOf({ id, payload, createdAt }: Delivery, to: readonly string[], settings: EmailSettings): SendMailOptions {
  const { subject, text, html, thread, first }: Letter = JSON.parse(payload);
  const from = /<([^<>]+)>\s*$/.exec(settings.from)?.[1] ?? settings.from;
  const domain = from.split('@').at(-1) ?? 'localhost';
  const hash = createHash('sha256').update(`${settings.name}|${thread}`).digest('hex').slice(0, 32);
  const root = thread === null ? null : `<${hash}@${domain}>`;
  return {
    from: settings.from,
    to: [...settings.to],
    envelope: { from, to: [...to] },
    subject,
    text,
    html,
    date: new Date(createdAt),
    messageId: root !== null && first ? root : `<${id}@${domain}>`,
    ...(root === null || first ? {} : { inReplyTo: root, references: root }),
    list: { id: { url: `${settings.name}.warmwarden.${domain}`, comment: 'Warmwarden alerts' } },
    headers: { 'Auto-Submitted': 'auto-generated' },
    baseBoundary: id,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function connectionOf({ url, allowPlain, egress }: EmailSettings, { greetingMs, answerMs }: typeof smtpPatience) {
  const ca = egress?.ca ?? null;
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const here = isLoopback(host);
  return {
    host,
    secure,
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // Traffic within this machine needs no encryption, and its certificates are seldom valid.
    ...(here && !secure ? { ignoreTLS: true } : { requireTLS: !secure && !allowPlain, opportunisticTLS: allowPlain }),
    ...(ca === null ? {} : { tls: { ca } }),
    connectionTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: answerMs,
    dnsTimeout: dnsMs,
    // Nodemailer otherwise ignores the loopback interface when it looks for the machine's address families.
    allowInternalNetworkInterfaces: here,
  };
}

/** People do not read more of an email. */
const maxBody = 50_000;
const signature = 'Sent by Warmwarden.';

function textBody(text: MessageText): string {
  return `${text.headline}\n\n${bodyText(text, maxBody)}\n\n-- \n${signature}\n`;
}

function htmlBody(text: MessageText): string {
  return [
    '<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family:sans-serif">',
    `<p><strong style="color:${colours[text.tone]}">${escapedHtml(text.headline)}</strong></p>`,
    `<p>${bodyText(text, maxBody, htmlMarkup()).replaceAll('\n', '<br>')}</p>`,
    `<p><small>${signature}</small></p></body></html>`,
  ].join('\n');
}

const colours = { critical: '#b42318', warning: '#b54708', info: '#175cd3', resolved: '#027a48' } as const;
