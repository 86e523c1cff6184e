// A channel renders a message once, and sends the frozen bytes until they are accepted. CONTRIBUTING.md says how to add
// one.
import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Alert } from '../core/alert.ts';
import type { Delivery } from '../core/delivery.ts';
import type { Egress } from '../core/egress.ts';
import { type EpochMs, hourMs } from '../core/time.ts';
import { label, serviceUrl } from '../world/schema/scalars.ts';
import { optional, plainHttp, privateAuthority, type SectionRule, secret, secretMap } from '../world/schema/section.ts';

export const channelName = label().describe('Its name in routes.');

export const hookKeys = {
  name: channelName,
  url: secret(serviceUrl().describe('Where messages go. Treated as a secret.')),
  allowHttp: plainHttp(),
  ca: privateAuthority(),
};

/** Headers that Warmwarden or HTTP itself writes. */
const reservedHeaders =
  /^(host|connection|content-(length|type)|transfer-encoding|expect|keep-alive|te|trailer|upgrade|proxy-.*|webhook-.*)$/i;

const headers = z
  .record(z.string(), z.string().regex(/^[\t\x20-\x7e]{1,8192}$/, 'must be of ASCII letters, without line breaks'))
  .superRefine((given, context) => {
    const complain = (name: string, message: string) => context.addIssue({ code: 'custom', path: [name], message });
    for (const name of Object.keys(given)) {
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) complain(name, 'is not the name of a header');
      else if (reservedHeaders.test(name)) complain(name, 'is a header that Warmwarden writes itself');
    }
  });

/** Keys of a receiver that requires more than its address. */
export const credentialKeys = {
  headers: secretMap(headers, 'More headers of each request: {NAME: VALUE}. Values are secrets; NAME_file is a file.'),
  username: optional(
    z.string().regex(/^[^:\p{Cc}]+$/u, 'must have no colon and no line breaks'),
    'The user name for Basic authentication.',
  ),
  password: secret(optional(z.string().min(1), 'The password for Basic authentication.')),
};

/** Rule between credentialKeys. */
export const checkCredentials: SectionRule = ({ username, password, headers: given }, refuseKey) => {
  if (username === undefined && password !== undefined) refuseKey('username', 'is missing beside password');
  if (username !== undefined && password === undefined)
    refuseKey('password', 'is missing beside username: write password or password_file');
  const hasOther = Object.keys((given as object | undefined) ?? {}).some((name) => /^authorization$/i.test(name));
  if (username !== undefined && hasOther)
    refuseKey('username', 'is in the way of the header Authorization: write only one of them');
};

interface Credentials {
  readonly headers?: Readonly<Record<string, string>>;
  readonly username?: string;
  readonly password?: string;
}

/** Settings with the user name and the password in `headers`. */
export function withCredentials<Settings extends Credentials>({ username, password, ...settings }: Settings) {
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const headers = { ...settings.headers, ...(username !== undefined && { authorization: `Basic ${basic}` }) };
  return { ...settings, headers } as Omit<Settings, 'username' | 'password' | 'headers'> & Pick<Hook, 'headers'>;
}

export interface Hook {
  readonly name: string;
  /** The address is a secret. */
  readonly url: string;
  readonly egress?: Egress;
  /** Headers of every request, with secrets. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Limits a receiver's Retry-After: an alert that waits for a day is of no use. */
export const maxRetryAfterMs = hourMs;

export interface Rendered {
  readonly payload: string;
  readonly title: string;
}

/** Message without an alert: the daily digest, a test. Plain text, not escaped. */
export interface Notice {
  readonly name: 'digest' | 'test';
  readonly title: string;
  readonly at: EpochMs;
  readonly sections: readonly { readonly heading: string; readonly lines: readonly string[] }[];
}

/**
 * Outcome of an attempt; `detail` is a sentence without the address and without secrets.
 * sent: the receiver accepted the message.
 * accepted: the receiver accepted it and is still working on it; `receipt` identifies the work in later requests.
 * failed: to be retried, unless `final`. With `setup`, the receiver refuses the channel's configuration (a password, a
 * key, an address), whatever the message: people are notified at once.
 * refused: the receiver blames the request (4xx); a few consecutive refusals end the delivery.
 * unanswered: the message was sent completely, the receiver gave no answer, and could not recognize a repeat: it counts
 * as sent.
 * `retryAfterMs`: the receiver's Retry-After.
 */
export type SendOutcome =
  | { readonly kind: 'sent'; readonly detail?: string }
  | { readonly kind: 'accepted'; readonly receipt: string; readonly detail: string; readonly againInMs: number }
  | {
      readonly kind: 'failed';
      readonly detail: string;
      readonly retryAfterMs: number | null;
      readonly final: boolean;
      readonly setup?: true;
    }
  | { readonly kind: 'refused'; readonly detail: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'unanswered'; readonly detail: string };

export type SendResult = SendOutcome & {
  readonly answer?: { readonly protocol?: 'SMTP'; readonly status: number; readonly text: string };
};

export interface Channel {
  readonly name: string;
  readonly type: string;
  readonly minGapMs: number;
  /** A minute if absent. */
  readonly longestMs?: number;
  /** Number of alerts in one message, if its receiver may refuse a larger one. */
  readonly maxAlerts?: number;
  /** True if a repeat does harm that the receiver can't detect: an attempt whose outcome was lost is not repeated. */
  readonly once?: true;
  /** True if people read the channel: an alert whose end was announced in advance needs no resolved message. */
  readonly skipsForetoldEnds?: true;
  /** True if the receiver keeps an alert open until its end, which is then sent at once. */
  readonly keepsOpen?: true;
  /** Returns null to send none. Pure: the same message gives the same bytes. */
  render(message: GroupMessage): Rendered | null;
  /** Returns null if the receiver has no use for the notice. Pure. */
  renderNotice(notice: Notice): Rendered | null;
  /** Sends, and never throws for an external failure; `signal` ends the attempt. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendResult>;
  /** Upkeep of a receiver that forgets firing alerts. */
  readonly upkeep?: Upkeep;
  /** Tests the channel without a message, for a receiver on which a message would have an effect. */
  check?(signal: AbortSignal): Promise<SendResult>;
  close?(): Promise<void>;
}

interface Upkeep {
  readonly everyMs: number;
  /** Returns null if there is nothing to send. `firing` are the alerts that were announced through the channel. */
  send(firing: readonly Alert[], signal: AbortSignal): Promise<SendResult | null>;
}
