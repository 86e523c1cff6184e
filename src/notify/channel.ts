// What a channel is to the notifier: it renders a message once, and sends the frozen bytes as often as it takes.
import type { GroupMessage } from '../alert/grouping.ts';
import type { Delivery } from '../model/delivery.ts';

/** The body of a message, frozen, and its one line for people. */
export interface Rendered {
  readonly payload: string;
  readonly title: string;
}

/**
 * failed: to be tried again, unless `final`. refused: the receiver blames the request (4xx); a few in a row end it.
 * `detail` is a sentence without the address and without secrets; `retryAfterMs` is what the receiver asked for.
 */
export type SendResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly detail: string; readonly retryAfterMs: number | null; readonly final: boolean }
  | { readonly kind: 'refused'; readonly detail: string; readonly retryAfterMs: number | null };

export interface Channel {
  readonly name: string;
  readonly type: string;
  /** The least time between two sends, milliseconds. */
  readonly minGapMs: number;
  /** Pure: the same message gives the same bytes. */
  render(message: GroupMessage): Rendered;
  /** One attempt. Never throws for what the outside does; `signal` ends it. */
  send(delivery: Delivery, signal: AbortSignal): Promise<SendResult>;
}
