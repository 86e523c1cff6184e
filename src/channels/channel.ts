// A channel renders a message once, and sends the frozen bytes until they are accepted. CONTRIBUTING.md says how to add
// one.
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Alert } from '../core/alert.ts';
import type { Delivery } from '../core/delivery.ts';
import type { Egress } from '../core/egress.ts';
import { type EpochMs, hourMs } from '../core/time.ts';
import { label, serviceUrl } from '../world/schema/scalars.ts';
import { plainHttp, privateAuthority, secret } from '../world/schema/section.ts';

export const channelName = label().describe('Its name in routes.');

export const hookKeys = {
  name: channelName,
  url: secret(serviceUrl().describe('Where messages go. Treated as a secret.')),
  allowHttp: plainHttp(),
  ca: privateAuthority(),
};

export interface Hook {
  readonly name: string;
  /** The address is a secret. */
  readonly url: string;
  readonly egress?: Egress;
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
  /** True if a repeat does harm that the receiver can't detect: an attempt whose outcome was lost is not repeated. */
  readonly once?: true;
  /** True if people read the channel: an alert whose end was announced in advance needs no resolved message. */
  readonly skipsForetoldEnds?: true;
  /** True if the receiver keeps an alert open until its end, which is then sent at once. */
  readonly keepsOpen?: true;
  /** True if the receiver keeps a pause of Warmwarden open until a message ends it. */
  readonly followsPauses?: true;
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
