// What an error of an SMTP conversation means for a message, in a sentence without the password.
import { visibleText } from '../wording/visible-text.ts';
import type { SendOutcome, SendResult } from './channel.ts';
import { cutText } from './message-text.ts';
import { setupRefused, unanswered } from './post.ts';

/** An error as nodemailer throws it. */
export interface SmtpError {
  readonly code?: string;
  /** That of the network, or of TLS, behind it. */
  readonly originalCode?: string;
  readonly message?: string;
  /** The three digits of the server's answer, and the whole of it. */
  readonly responseCode?: number;
  readonly response?: string;
  readonly command?: string;
  readonly rejectedErrors?: readonly SmtpError[];
}

interface Attempt {
  readonly password: string;
  /** The server did not answer in time. */
  readonly isLate: boolean;
  /** The message was sent whole, so it may have arrived. */
  readonly isWhole: boolean;
}

const maxQuoted = 200;
/** "Authentication required", "... too weak", "... credentials invalid", "encryption required". RFC 4954 section 6. */
const authenticationCodes = [530, 534, 535, 538];

export function failureMeaning(error: SmtpError, { password, isLate, isWhole }: Attempt): SendResult {
  const noAnswer = 'the mail server did not answer in time';
  if (isLate) return isWhole ? unanswered(noAnswer) : later(noAnswer);
  const blamed = blamedFor(error);
  const { responseCode: status } = blamed;
  const said = saidBy(blamed, password);
  const outcome = outcomeOf(error, status, said);
  return status === undefined ? outcome : { ...outcome, answer: { protocol: 'SMTP', status, text: said } };
}

/** Where no recipient was taken, the one that may be taken later counts. */
function blamedFor(error: SmtpError): SmtpError {
  const { rejectedErrors = [] } = error;
  return rejectedErrors.find(({ responseCode = 500 }) => responseCode < 500) ?? rejectedErrors[0] ?? error;
}

function outcomeOf(error: SmtpError, status: number | undefined, said: string): SendOutcome {
  const { code, message = '' } = error;
  if (code === 'EAUTH' && (status === undefined || status >= 500)) {
    return setupRefused(
      `the mail server refuses the user name or the password in url (${said || 'no way to sign in'})`,
    );
  }
  if (status !== undefined && authenticationCodes.includes(status)) {
    return setupRefused(`the mail server requires a user name and a password in url, or encryption (${said})`);
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

/** The server's own words on one line, without the password; empty when it said nothing. */
function saidBy({ response = '' }: SmtpError, password: string): string {
  const line = response.replace(/\s+/g, ' ').trim();
  return cutText(visibleText(password === '' ? line : line.replaceAll(password, '[hidden]')), maxQuoted);
}
