// Discord, Teams and PagerDuty on loopback: they refuse what breaks a published limit, and throttle as the real ones do.
// Sources: docs.discord.com "Execute Webhook", "Embed Limits", "Rate Limits"; learn.microsoft.com "Create an Incoming Webhook" and
// "Limits and specifications" (28 KB, four a second); developer.pagerduty.com "Events API v2 Overview", "Send an Alert Event".
import type { ServerResponse } from 'node:http';
import { type Receiver, startReceiver } from '../outbox/receiver.ts';
import { type Fields, fields, list } from './slack-limits.ts';

/** A request as it arrived. */
export interface Attempt {
  readonly at: number;
  readonly path: string;
  readonly body: string;
  readonly status: number;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Service {
  readonly path: string;
  /** What breaks a limit, in words; none when it is taken. */
  readonly faults: (payload: Fields, bytes: number) => readonly string[];
  readonly refusal: (faults: readonly string[]) => Reply;
  readonly taken: Reply;
  /** So many in so many milliseconds. */
  readonly rate: { readonly count: number; readonly withinMs: number };
  readonly throttled: (waitMs: number) => Reply;
}

export class StrictReceiver implements AsyncDisposable {
  readonly attempts: Attempt[] = [];
  /** Set, it answers before the service looks. null: the service itself. status 0: the connection is cut, after it was taken; -1: silence. */
  fault: ((body: string) => Reply | null) | null = null;
  readonly #service: Service;
  readonly #receiver: Receiver;

  private constructor(service: Service, receiver: Receiver) {
    this.#service = service;
    this.#receiver = receiver;
    receiver.answer = (response, got) => this.#answer(response, got);
  }

  static async start(kind: keyof typeof services, now: () => number): Promise<StrictReceiver> {
    return new StrictReceiver(services[kind], await startReceiver(now, services[kind].path));
  }

  get url(): string {
    return this.#receiver.url;
  }

  /** The payloads that were taken, in order. */
  taken(): readonly Fields[] {
    const good = this.#service.taken.status;
    return this.attempts.filter(({ status }) => status === good).map(({ body }) => JSON.parse(body) as Fields);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#receiver[Symbol.asyncDispose]();
  }

  #answer(response: ServerResponse, { path, body, at }: Omit<Attempt, 'status'>): void {
    const reply = this.fault?.(body) ?? this.#judge(body, Buffer.byteLength(body), at);
    if (reply.status < 0) return;
    const cut = reply.status === 0;
    this.attempts.push({ at, path, body, status: cut ? this.#service.taken.status : reply.status });
    if (cut) {
      response.destroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(reply.body === undefined ? '' : JSON.stringify(reply.body));
  }

  #judge(body: string, bytes: number, at: number): Reply {
    const { rate, throttled, faults, refusal, taken } = this.#service;
    const since = at - rate.withinMs;
    const lately = this.attempts.filter((one) => one.at > since && one.status !== 429);
    const oldest = lately.at(-rate.count);
    if (lately.length >= rate.count && oldest) return throttled(oldest.at - since);
    const found = faults(fields(parsed(body)), bytes);
    return found.length > 0 ? refusal(found) : taken;
  }
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
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

export function pagerdutyFaults(event: Fields, bytes: number): readonly string[] {
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

const services = {
  discord: {
    path: '/api/webhooks/123/T0P-SECRET',
    faults: discordFaults,
    refusal: (faults) => ({ status: 400, body: { message: 'Invalid Form Body', code: 50_035, errors: faults } }),
    taken: { status: 200, body: { id: '1', type: 0 } },
    rate: { count: 30, withinMs: 60_000 },
    // Seconds, with a fraction; here without the header, which some proxies take away.
    throttled: (waitMs) => ({
      status: 429,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': String(waitMs / 1_000) },
      body: { message: 'You are being rate limited.', retry_after: waitMs / 1_000, global: false },
    }),
  },
  teams: {
    path: '/workflows/T0P-SECRET/triggers/manual/paths/invoke?api-version=1&sig=SIGNATURE_OF_IT',
    faults: teamsFaults,
    refusal: (faults) => ({ status: 400, body: { error: { code: 'InvalidRequestContent', message: faults.join() } } }),
    taken: { status: 202 },
    rate: { count: 4, withinMs: 1_000 },
    throttled: (waitMs) => ({ status: 429, headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) } }),
  },
  pagerduty: {
    path: '/v2/enqueue',
    faults: pagerdutyFaults,
    refusal: (errors) => ({
      status: 400,
      body: { status: 'invalid event', message: 'Event object is invalid', errors },
    }),
    taken: { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: 'k' } },
    // Adjusted as PagerDuty sees fit, and without a hint when to come back.
    rate: { count: 120, withinMs: 60_000 },
    throttled: () => ({
      status: 429,
      body: { status: 'throttle exceeded', message: 'Requests for this service are arriving too quickly' },
    }),
  },
} as const satisfies Readonly<Record<string, Service>>;
