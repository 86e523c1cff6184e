// What a channel is to the notifier: it renders a message once, and sends the frozen bytes as often as it takes.
// CONTRIBUTING.md says how to add another one.
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Alert } from '../core/alert.ts';
import type { Delivery } from '../core/delivery.ts';
import type { Egress } from '../core/egress.ts';
import { type EpochMs, hourMs } from '../core/time.ts';
import { label, serviceUrl } from '../schema/scalars.ts';
import { plainHttp, privateAuthority, secret } from '../schema/section.ts';

/** The key that every channel has in the configuration. */
export const channelName = label().describe('Its name in routes.');

/** Keys of a channel that sends to an address over HTTP. */
export const hookKeys = {
  name: channelName,
  url: secret(serviceUrl().describe('Where Warmwarden sends messages. Treated as a secret.')),
  allowHttp: plainHttp(),
  ca: privateAuthority(),
};

/** Settings of a channel that sends to an address over HTTP. */
export interface Hook {
  readonly name: string;
  /** A secret. */
  readonly url: string;
  /** The way to `url`; absent: directly. */
  readonly egress?: Egress;
}

/** A receiver's Retry-After is cut to this: an alert that waits for a day helps nobody. */
export const maxRetryAfterMs = hourMs;

/** The body of a message, frozen, and its one line for people. */
export interface Rendered {
  readonly payload: string;
  readonly title: string;
}

/** A message that is about no alert: the daily digest, a test. Plain text, not escaped. */
export interface Notice {
  readonly name: 'digest' | 'test';
  readonly title: string;
  readonly at: EpochMs;
  readonly sections: readonly { readonly heading: string; readonly lines: readonly string[] }[];
}

/**
 * What came of an attempt; `detail` is a sentence without the address and without secrets.
 * sent: the receiver took it. accepted: it took it and works on it; `receipt` is what to ask for the end with.
 * failed: to be tried again, unless `final`. With `setup`, the receiver refuses the channel as it is configured (a password,
 * a key, an address), whatever the message: people are notified at once. refused: the receiver blames the request (4xx); a few in a row end it.
 * gone: the receiver wants nothing any more, of this message and of all others. `retryAfterMs` is what it asked for.
 * unanswered: it left whole, the receiver gave no answer, and could not tell a repeat: it counts as sent.
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
  | { readonly kind: 'gone'; readonly detail: string }
  | { readonly kind: 'unanswered'; readonly detail: string };

/** `answer`: what came back, for a person who tries the channel out; over HTTP where it does not say otherwise. */
export type SendResult = SendOutcome & {
  readonly answer?: { readonly protocol?: 'SMTP'; readonly status: number; readonly text: string };
};

export interface Channel {
  readonly name: string;
  readonly type: string;
  /** The least time between two sends, milliseconds. */
  readonly minGapMs: number;
  /** The longest that an attempt may take, milliseconds; absent: a minute. */
  readonly longestMs?: number;
  /** Sending twice does harm, and the receiver can't tell: an attempt whose outcome was lost is not repeated. */
  readonly once?: true;
  /** People read it, and what was announced to end without a message does. Others keep alerts open until they end. */
  readonly forPeople?: true;
  /** Its receiver keeps an alert open until it hears of its end, which does not wait for the message of the group. */
  readonly keepsOpen?: true;
  /** A pause of Warmwarden is open there until it is over: its end is a message, too. */
  readonly followsPauses?: true;
  /** Pure: the same message gives the same bytes. null: the receiver has no use for it. */
  render(message: GroupMessage): Rendered | null;
  /** The same for what is no alert. */
  renderNotice(notice: Notice): Rendered | null;
  /** One attempt. Never throws for what the outside does; `signal` ends it. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendResult>;
  /** For a receiver that forgets: what fires is announced again and again, beside the messages. */
  readonly upkeep?: Upkeep;
  /** Instead of a test message, where a message would do something: asks without doing. */
  check?(signal: AbortSignal): Promise<SendResult>;
  /** Ends connections that it keeps. */
  close?(): Promise<void>;
}

interface Upkeep {
  readonly everyMs: number;
  /** `firing`: every alert that fires and was announced through the channel. null: there was nothing to say. */
  send(firing: readonly Alert[], signal: AbortSignal): Promise<SendResult | null>;
}
