// PagerDuty on loopback, which refuses what breaks a published limit and throttles as the real one does; what breaks the limits of Discord
// and Teams. Sources: docs.discord.com "Execute Webhook", "Embed Limits"; learn.microsoft.com "Create an Incoming Webhook" and
// "Limits and specifications" (28 KB); developer.pagerduty.com "Events API v2 Overview", "Send an Alert Event".
import { type Receiver, startReceiver } from '../outbox/receiver.ts';
import { type Fields, fields, list } from './slack-limits.ts';

/** An event as it arrived. */
interface Attempt {
  readonly at: number;
  readonly body: string;
  readonly status: number;
}

interface Reply {
  readonly status: number;
  readonly body?: object;
}

const taken = { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: 'k' } };
/** Adjusted as PagerDuty sees fit, and without a hint when to come back. */
const rate = { count: 120, withinMs: 60_000 };
const throttled = {
  status: 429,
  body: { status: 'throttle exceeded', message: 'Requests for this service are arriving too quickly' },
};

export class PagerDutyReceiver implements AsyncDisposable {
  readonly attempts: Attempt[] = [];
  /** Set, it answers in place of PagerDuty. */
  fault: (() => Reply) | null = null;
  readonly #receiver: Receiver;

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
    receiver.answer = (response, { body, at }) => {
      const reply = this.fault?.() ?? this.#judge(body, at);
      this.attempts.push({ at, body, status: reply.status });
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body ?? null));
    };
  }

  static async start(now: () => number): Promise<PagerDutyReceiver> {
    return new PagerDutyReceiver(await startReceiver(now, '/v2/enqueue'));
  }

  get url(): string {
    return this.#receiver.url;
  }

  /** The events that were taken, in order. */
  taken(): readonly Fields[] {
    const good = this.attempts.filter(({ status }) => status === taken.status);
    return good.map(({ body }) => JSON.parse(body) as Fields);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#receiver[Symbol.asyncDispose]();
  }

  #judge(body: string, at: number): Reply {
    const lately = this.attempts.filter((one) => one.at > at - rate.withinMs && one.status !== 429);
    if (lately.length >= rate.count) return throttled;
    const errors = pagerdutyFaults(fields(JSON.parse(body)), Buffer.byteLength(body));
    const refusal = { status: 'invalid event', message: 'Event object is invalid', errors };
    return errors.length > 0 ? { status: 400, body: refusal } : taken;
  }
}

function lengthFaults(name: string, value: unknown, max: number, min = 0): readonly string[] {
  if (value === undefined && min === 0) return [];
  if (typeof value !== 'string') return [`${name} is no text`];
  return value.length < min || value.length > max ? [`${name} of ${value.length}`] : [];
}

export function discordFaults(payload: Fields): readonly string[] {
  const { content, embeds, allowed_mentions: mentions } = payload;
  const all = list(embeds).map(fields);
  const sizes = all.flatMap(({ title, description, footer }) => [title, description, fields(footer)['text']]);
  const total = sizes.reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
  return [
    ...lengthFaults('content', content, 2_000),
    ...(content === '' && all.length === 0 ? ['an empty message'] : []),
    ...(all.length > 10 ? [`${all.length} embeds`] : []),
    ...(total > 6_000 ? [`embeds of ${total}`] : []),
    ...all.flatMap(({ title, description, footer, color }) => [
      ...lengthFaults('title', title, 256),
      ...lengthFaults('description', description, 4_096),
      ...lengthFaults('footer', fields(footer)['text'], 2_048),
      ...(Number.isInteger(color) && Number(color) >= 0 && Number(color) <= 0xff_ff_ff ? [] : ['no colour']),
    ]),
    ...(JSON.stringify(fields(mentions)['parse']) === '[]' ? [] : ['mentions are allowed']),
  ];
}

const maxTeamsBytes = 28 * 1_024;

export function teamsFaults(payload: Fields, bytes: number): readonly string[] {
  const attachments = list(payload['attachments']).map(fields);
  const card = fields(attachments[0]?.['content']);
  const body = list(card['body']).map(fields);
  return [
    ...(bytes > maxTeamsBytes ? [`${bytes} bytes`] : []),
    ...(payload['type'] === 'message' ? [] : ['no message']),
    ...(attachments.length === 1 ? [] : [`${attachments.length} attachments`]),
    ...(attachments[0]?.['contentType'] === 'application/vnd.microsoft.card.adaptive' ? [] : ['no Adaptive Card']),
    ...(card['type'] === 'AdaptiveCard' && card['version'] === '1.4' ? [] : ['no Adaptive Card 1.4']),
    ...(body.length === 0 ? ['an empty card'] : []),
    ...body.flatMap(({ type, inlines }) => {
      if (type !== 'RichTextBlock') return [`a ${String(type)}, which reads its text as Markdown`];
      const runs = list(inlines).map(fields);
      const bad = runs.filter((run) => run['type'] !== 'TextRun' || typeof run['text'] !== 'string');
      return runs.length === 0 || bad.length > 0 ? ['a block without runs of text'] : [];
    }),
    ...list(card['actions'])
      .map(fields)
      .flatMap(({ type, title, url }) => {
        const opens = type === 'Action.OpenUrl' && typeof title === 'string' && /^https?:\/\//.test(String(url));
        return opens ? [] : ['an action that opens nothing'];
      }),
  ];
}

const maxEventBytes = 512 * 1_024;
export const routingKey = 'R0123456789abcdef0123456789abcde';

function pagerdutyFaults(event: Fields, bytes: number): readonly string[] {
  const { routing_key: key, event_action: action, dedup_key: dedup, links } = event;
  const { summary, source, severity, timestamp } = fields(event['payload']);
  const known = key === routingKey ? [] : ["'routing_key' is invalid"];
  const base = [...known, ...lengthFaults("'dedup_key'", dedup, 255, 1)];
  if (action === 'resolve') return base;
  return [
    ...base,
    ...(action === 'trigger' ? [] : [`'event_action' is ${String(action)}`]),
    ...(bytes > maxEventBytes ? [`${bytes} bytes`] : []),
    ...lengthFaults("'payload.summary'", summary, 1_024, 1),
    ...lengthFaults("'payload.source'", source, 1_024, 1),
    ...(['critical', 'error', 'warning', 'info'].includes(String(severity)) ? [] : ["'payload.severity'"]),
    ...(Number.isNaN(Date.parse(String(timestamp))) ? ["'payload.timestamp'"] : []),
    ...list(links).flatMap((link) => (typeof fields(link)['href'] === 'string' ? [] : ['a link without href'])),
  ];
}
