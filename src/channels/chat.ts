// A chat: a webhook that shows a message to people.
import type { Clock } from '../world/world.ts';
import type { Channel, Hook, Rendered, SendResult } from './channel.ts';
import { type ForPeople, type MessageText, messageText, noticeText } from './message-text.ts';
import { failureOf, postJson, type ReceiverAnswer, resultOf, setupRefused, unanswered } from './post.ts';

export type ChatSettings = Hook & ForPeople;

interface Chat {
  readonly type: string;
  readonly who: string;
  readonly minGapMs: number;
  readonly remedy: string;
  readonly write: (text: MessageText) => object;
  readonly read: (answer: string) => ChatAnswer;
}

interface ChatAnswer {
  /** Empty if the chat gives no reason. */
  readonly reason: string;
  /** True if the answer blames the address, whatever its status. */
  readonly blamesSetup?: boolean;
  /** True if the answer is an error, whatever its status. */
  readonly isError?: boolean;
}

export function chatChannel(chat: Chat, settings: ChatSettings, clock: Clock): Channel {
  const rendered = (text: MessageText): Rendered => ({
    payload: JSON.stringify(chat.write(text)),
    title: text.headline,
  });
  return {
    name: settings.name,
    type: chat.type,
    minGapMs: chat.minGapMs,
    skipsForetoldEnds: true,
    render: (message) => rendered(messageText(message, settings)),
    renderNotice: (notice) => rendered(noticeText(notice, settings)),
    send: async ({ payload }, signal) => meaningOf(await postJson(settings, payload, { signal, clock }), chat),
  };
}

/** Statuses with which a webhook reports that its address or its key is wrong. */
const setupStatuses = [401, 403, 404, 410];
/** Status with which a gateway reports that the receiver got the request and did not answer in time. */
const gatewayTimeout = 504;

/** A chat shows a repeated message as another one. */
function meaningOf(answer: ReceiverAnswer, { who, remedy, read }: Chat): SendResult {
  const result = resultOf(answer, who);
  if (answer.kind === 'failed') return answer.isLate ? unanswered(answer.detail) : result;
  const { status, retryAfterMs } = answer;
  const { reason, blamesSetup = false, isError = false } = read(answer.text);
  const because = reason === '' ? '' : ` (${reason})`;
  if (result.kind === 'sent' && !isError) return result;
  if (result.kind === 'sent') {
    const detail = `${who} answered ${status} with an error${because}`;
    return { kind: 'failed', detail, retryAfterMs, final: false, answer };
  }
  const detail = `${who} answered ${status}${because}`;
  if (blamesSetup || setupStatuses.includes(status)) return { ...setupRefused(`${detail}: ${remedy}`), answer };
  if (status === gatewayTimeout) return { ...unanswered(detail), answer };
  return { ...failureOf(answer, detail), answer };
}
