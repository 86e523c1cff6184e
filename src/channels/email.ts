// The email channel: SMTP with encryption, plain text and simple HTML. The messages about one incident, or one alert, are a thread.
// Sources: RFC 5321 (4yz: later, 5yz: no), RFC 5322 3.6.4 (Message-ID, References), RFC 2919 (List-Id), RFC 3834 (Auto-Submitted).
import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import type { GroupMessage } from '../alert/grouping.ts';
import type { Delivery } from '../model/delivery.ts';
import { isLoopback } from '../model/loopback.ts';
import { minuteMs, secondMs } from '../model/time.ts';
import type { Channel, SendResult } from './channel.ts';
import { htmlBody, textBody } from './email-body.ts';
import { failureMeaning, type SmtpError } from './email-failure.ts';
import { cutText, type ForPeople, type MessageText, messageText, noticeText } from './message-text.ts';
import { rfc5321, SmtpSteps } from './smtp-steps.ts';

export interface EmailSettings extends ForPeople {
  readonly name: string;
  /** `smtp://user:password@host:587`, or smtps: a secret. Without a user nobody signs in. */
  readonly url: string;
  /** `alerts@example.com`, or `Warmwarden <alerts@example.com>`. */
  readonly from: string;
  readonly to: readonly string[];
  /** Whether a server without encryption will do; one on this machine always does. */
  readonly allowPlain: boolean;
  /** Certificates (PEM) of an authority that the system does not know; null: none. */
  readonly ca: string | null;
}

const emailGapMs = secondMs;
/** What people see of a subject; the whole headline is the first line of the email. */
const maxSubject = 250;
/** Names are looked up so long. */
const dnsMs = 20 * secondMs;
/** All steps together. */
const longestMs = 30 * minuteMs;
/** How soon those are tried again whom the server did not take with the others. */
const othersAgainMs = secondMs;

/** What is kept of a message. `thread`: what its emails belong to; null: to nothing. */
interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly thread: string | null;
  /** The first of its thread. */
  readonly first: boolean;
}

export function emailChannel(settings: EmailSettings, patience = rfc5321): Channel {
  const { name } = settings;
  return {
    name,
    type: 'email',
    minGapMs: emailGapMs,
    longestMs,
    forPeople: true,
    render: (message) => rendered(messageText(message, settings), threadOf(message)),
    renderNotice: (notice) => rendered(noticeText(notice, settings), { thread: null, first: false }),
    send: async (delivery, signal) => {
      const to: readonly string[] = delivery.receipt === null ? settings.to : JSON.parse(delivery.receipt);
      // Loaded with the first email: who sends none does not wait for it.
      const { createTransport } = await import('nodemailer');
      const steps = new SmtpSteps(patience);
      const ends = AbortSignal.any([signal, steps.signal]);
      const transport = createTransport({ ...connectionOf(settings), ...steps.log });
      try {
        const mail = mailOf(delivery, to, settings);
        const { response, rejected } = await transport.sendMail({ ...mail, signal: ends });
        return takenBy(response, to, rejected);
      } catch (error) {
        const attempt = { password: passwordOf(settings), isLate: ends.aborted, isWhole: steps.isWhole };
        const failure = failureMeaning(error as SmtpError, attempt);
        // The others have it: for whom it is refused for good, nothing is sent again.
        return delivery.receipt !== null && failure.kind === 'refused'
          ? { kind: 'failed', detail: failure.detail, retryAfterMs: null, final: true }
          : failure;
      } finally {
        transport.close();
      }
    },
  };
}

/** Of several recipients the server may take some. The next attempt is for the others alone. */
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

/** Emails about one incident are a thread; outside of one, those about one alert, from its beginning to its end. */
function threadOf({ incident, transitions }: GroupMessage): Pick<Letter, 'thread' | 'first'> {
  if (incident) return { thread: incident.id, first: incident.step === 'began' };
  const [only, ...others] = transitions;
  if (!only || others.length > 0 || only.kind === 'event') return { thread: null, first: false };
  return { thread: `${only.alert.fingerprint}|${only.alert.since}`, first: only.kind === 'firing' };
}

/** The same bytes at every attempt. */
function mailOf({ id, payload, createdAt }: Delivery, to: readonly string[], settings: EmailSettings): SendMailOptions {
  const { subject, text, html, thread, first }: Letter = JSON.parse(payload);
  const domain = domainOf(settings.from);
  const root = thread === null ? null : `<${hashOf(`${settings.name}|${thread}`)}@${domain}>`;
  return {
    from: settings.from,
    to: [...settings.to],
    envelope: { from: addressIn(settings.from), to: [...to] },
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

function connectionOf({ url, allowPlain, ca }: EmailSettings) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const here = isLoopback(host);
  return {
    host,
    secure,
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // Nobody listens between this machine and itself, where certificates are seldom good.
    ...(here && !secure ? { ignoreTLS: true } : { requireTLS: !secure && !allowPlain, opportunisticTLS: allowPlain }),
    ...(ca === null ? {} : { tls: { ca } }),
    // The steps have deadlines of their own.
    connectionTimeout: longestMs,
    greetingTimeout: longestMs,
    socketTimeout: longestMs,
    dnsTimeout: dnsMs,
    // Addresses on loopback count as addresses.
    allowInternalNetworkInterfaces: here,
  };
}

function passwordOf({ url }: EmailSettings): string {
  return decodeURIComponent(new URL(url).password);
}

/** `a@b.example` in `Name <a@b.example>`. */
function addressIn(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
}

function domainOf(from: string): string {
  return addressIn(from).split('@').at(-1) ?? 'localhost';
}

function hashOf(identity: string): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, 32);
}
