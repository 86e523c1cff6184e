// A receiver that shows a message to people: a chat, a push service, or any HTTP service.
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Clock } from '../world/world.ts';
import type { Channel, Hook, Notice, Rendered, SendResult } from './channel.ts';
import { type ForPeople, type MessageText, messageText, noticeText } from './message-text.ts';
import {
  failureOf,
  type HttpMethod,
  postJson,
  type ReceiverAnswer,
  resultOf,
  setupRefused,
  unanswered,
} from './post.ts';

export type ChatSettings = Hook & ForPeople;

export interface Chat {
  readonly who: string;
  readonly minGapMs: number;
  readonly remedy: string;
  /** Makes the stored message: fields of JSON, or the text itself. It has no secrets. */
  readonly write: (text: MessageText, source: GroupMessage | Notice) => object | string;
  /** Request of a stored message, with the secrets. Absent: a POST to `url`. */
  readonly request?: (payload: string, id: string) => ChatRequest;
  readonly read: (text: string, status: number) => ChatAnswer;
  /**
   * Treatment of an attempt whose outcome is unknown. Absent: one without an answer in time counts as sent, since a chat
   * shows a repeat as another message.
   * always: it is retried, since the receiver recognizes a repeat.
   * never: it counts as sent, or is undelivered if the process ended.
   */
  readonly repeats?: 'always' | 'never';
}

export interface ChatRequest {
  readonly url?: string;
  readonly body?: string;
  readonly method?: HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ChatAnswer {
  /** Empty if the chat gives no reason. */
  readonly reason: string;
  /** True if the answer blames the address, whatever its status. */
  readonly blamesSetup?: boolean;
  /** True if the answer is an error, whatever its status. */
  readonly isError?: boolean;
  /** True if the answer is a success, whatever its status. */
  readonly isSuccess?: boolean;
  /** True if the answer does not blame the message, whatever its status: it is retried for a day. */
  readonly isTemporary?: boolean;
}

export function chatChannel(chat: Chat & { readonly type: string }, settings: ChatSettings, clock: Clock): Channel {
  const rendered = (text: MessageText, source: GroupMessage | Notice): Rendered => {
    const written = chat.write(text, source);
    return { payload: typeof written === 'string' ? written : JSON.stringify(written), title: text.headline };
  };
  return {
    name: settings.name,
    type: chat.type,
    minGapMs: chat.minGapMs,
    skipsForetoldEnds: true,
    ...(chat.repeats === 'never' ? { once: true } : {}),
    render: (message) => rendered(messageText(message, settings), message),
    renderNotice: (notice) => rendered(noticeText(notice, settings), notice),
    send: async ({ id, payload }, signal) => {
      const { url = settings.url, body = payload, ...rest } = chat.request?.(payload, id) ?? {};
      return meaningOf(await postJson({ ...settings, url }, body, { signal, clock, ...rest }), chat);
    },
  };
}

/** Statuses with which a webhook reports that its address or its key is wrong. */
const setupStatuses = [401, 403, 404, 410];
/** Status with which a gateway reports that the receiver got the request and did not answer in time. */
const gatewayTimeout = 504;

export function meaningOf(
  answer: ReceiverAnswer,
  { who, remedy, read, repeats }: Pick<Chat, 'who' | 'remedy' | 'read' | 'repeats'>,
): SendResult {
  const result = resultOf(answer, who);
  if (answer.kind === 'failed') {
    const isUncertain = repeats === 'never' ? answer.mayHaveArrived : answer.isLate;
    return isUncertain && repeats !== 'always' ? unanswered(answer.detail) : result;
  }
  const { status, retryAfterMs } = answer;
  const { reason, blamesSetup = false, isError = false, ...said } = read(answer.text, status);
  const because = reason === '' ? '' : ` (${reason})`;
  if (said.isSuccess) return { kind: 'sent', answer };
  const detail = `${who} answered ${status}${because}`;
  if (blamesSetup || setupStatuses.includes(status)) return { ...setupRefused(`${detail}: ${remedy}`), answer };
  if (result.kind === 'sent' && !isError) return result;
  if (result.kind === 'sent') {
    const error = `${who} answered ${status} with an error${because}`;
    return { kind: 'failed', detail: error, retryAfterMs, final: false, answer };
  }
  if (status === gatewayTimeout && repeats !== 'always') return { ...unanswered(detail), answer };
  if (said.isTemporary) return { kind: 'failed', detail, retryAfterMs, final: false, answer };
  return { ...failureOf(answer, detail), answer };
}
