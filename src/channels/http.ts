// The http channel: any HTTP service, whose request the configuration writes as a template.
import { z } from 'zod';
import { type GroupMessage, messageOf } from '../alerts/grouping.ts';
import { minuteMs } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { checked, duration, truth, whole } from '../world/schema/scalars.ts';
import { group, keyed, oneOf, orNull, secretMap, section, unexpanded } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, checkCredentials, credentialKeys, hookKeys, type Notice, withCredentials } from './channel.ts';
import { type ChatSettings, chatChannel } from './chat.ts';
import { bodyText, escapedHtml, type MessageText, messageText } from './message-text.ts';
import { alertView, filledIn, mergedView, sampleAlerts, type TemplateView, templateComplaint } from './template.ts';

const usualBody =
  '{"title": "{{title}}", "text": "{{text}}", "severity": "{{severity}}", "status": "{{status}}", "url": "{{url}}"}';

const statusRange = z.union([
  whole(100, 599),
  z.string().regex(/^[1-5]\d\d-[1-5]\d\d$/, 'must be a status, such as 202, or a range, such as 200-299'),
]);

const fromEnvironment =
  'takes nothing from the environment: write the variable below secrets, and {{secrets.NAME}} here';

export const httpSettings = section(
  {
    ...hookKeys,
    ...credentialKeys,
    type: z.literal('http').describe('Any HTTP service: you write the request.'),
    method: keyed(oneOf(['POST', 'PUT', 'PATCH']), 'POST', 'The method of the request.'),
    secrets: secretMap(
      z.record(z.string(), z.string()),
      'Secrets of the body, which writes {{secrets.NAME}} for NAME. NAME_file names a file.',
    ),
    contentType: keyed(
      z.string().regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w-]+)*$/, 'must be a media type, such as text/plain'),
      'application/json',
      'The type of the body. {{name}} is escaped for JSON, HTML or a form; in text it is not.',
    ),
    body: unexpanded(
      keyed(
        checked((body) => body.includes('${') && fromEnvironment),
        usualBody,
        'The body, as a Mustache template.',
      ),
    ),
    success: group('Which answers mean that the service has the message.', {
      status: keyed(z.array(statusRange).min(1), ['200-299'], 'Statuses and ranges of statuses.'),
      text: orNull(z.string().min(1), 'A text that the answer must contain, too.'),
    }),
    once: keyed(truth(), false, 'true: a message that may have arrived is not sent again.'),
    maxLength: keyed(whole(100, 100_000), 4_000, 'The most bytes of {{text}}. It is cut at the end of a line.'),
    minGapMs: keyed(duration(0, 10 * minuteMs), '0s', 'The shortest time between two messages.'),
  },
  (keys, refuseKey) => {
    checkCredentials(keys, refuseKey);
    const { body = usualBody, content_type: contentType = 'application/json', secrets = {} } = keys;
    if (typeof body !== 'string' || typeof contentType !== 'string' || typeof secrets !== 'object') return;
    const wrong = bodyComplaint({ body, contentType, secrets: Object.keys(secrets ?? {}), maxLength: 4_000 });
    if (wrong !== null) refuseKey('body', wrong);
  },
).transform(({ secrets = {}, ...keys }) => ({ ...withCredentials(keys), secrets }));
type HttpKeys = Omit<z.output<typeof httpSettings>, 'type' | 'allowHttp' | 'ca'>;

export function httpChannel(settings: HttpKeys & ChatSettings, clock: Clock): Channel {
  const { method, secrets, contentType, success, once, minGapMs, timeZone } = settings;
  const template = { ...settings, secrets: Object.keys(secrets) };
  const escaped = escapeFor(contentType);
  const isSuccess = (status: number) => success.status.some((one) => isWithin(status, one));
  return chatChannel(
    {
      type: 'http',
      who: 'the service',
      minGapMs,
      remedy: 'check url and headers',
      repeats: once ? 'never' : 'always',
      write: (text, source) => bodyWith(messageView(text, source, template.maxLength, timeZone()), template),
      request: (payload, id) => ({
        method,
        headers: { 'content-type': contentType, 'idempotency-key': id },
        body: Object.entries(secrets).reduce((body, [name, value]) => {
          const place = placeOf(name);
          return body.replaceAll(escaped(place), () => escaped(value)).replaceAll(place, () => value);
        }, payload),
      }),
      read: (text, status) => {
        const hasText = success.text === null || text.includes(success.text);
        if (!isSuccess(status)) return { reason: '', isError: true };
        return hasText ? { reason: '', isSuccess: true } : { reason: 'without the text of success', isError: true };
      },
    },
    settings,
    clock,
  );
}

interface BodyTemplate extends Pick<HttpKeys, 'body' | 'contentType' | 'maxLength'> {
  /** Names of the secrets. The stored body has none of their values. */
  readonly secrets: readonly string[];
}

/** Stands for a secret until the message is sent. Texts of messages have no control characters. */
function placeOf(secret: string): string {
  return `\u001f${secret}\u001f`;
}

/** The place of a secret in a stored body, escaped or not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they mark the place.
export const storedSecret = /(\u001f|\\u001f|%1F)[\w.-]+?\1/g;

function bodyWith(view: TemplateView, template: BodyTemplate): string {
  const secrets = Object.fromEntries(template.secrets.map((name) => [name, placeOf(name)]));
  return filledIn(template.body, { ...view, secrets }, escapeFor(template.contentType));
}

/** Variables of a message. Those of an alert have values only if the message is about one. */
function messageView(text: MessageText, source: GroupMessage | Notice, maxLength: number, zone: string): TemplateView {
  const { headline, links } = text;
  const isNotice = 'sections' in source;
  const transitions = isNotice ? [] : source.transitions;
  const shown = transitions.slice(0, maxAlerts).map((one) => rewritten(alertView(one, zone), visible));
  const alerts = shown.map((one, index) => ({ ...one, last: index === shown.length - 1 }));
  const [only = noAlert, ...others] = alerts;
  return {
    ...(others.length === 0 ? only : noAlert),
    alerts,
    count: transitions.length,
    title: headline,
    text: bodyText(text, maxLength),
    severity: isNotice ? 'info' : source.severity,
    status: isNotice ? source.name : source.kind,
    resolved: !isNotice && source.kind === 'resolved',
    group: isNotice ? source.name : source.group,
    rule: isNotice ? '' : (source.rule ?? ''),
    account: isNotice ? '' : (source.account ?? ''),
    url: links.find(({ name }) => name === 'page_url')?.url ?? '',
  };
}

/** Maximum number of alerts in a body: a list of all could have half a gigabyte. */
const maxAlerts = 500;
const noAlert: TemplateView = {
  ...{ sentences: [], numbers: {}, tags: [], tag: {} },
  ...{ mailbox: '', domain: '', provider: '', since: '' },
};

/** Returns a copy whose texts are rewritten. */
function rewritten(view: TemplateView, write: (text: string) => string): TemplateView {
  return JSON.parse(JSON.stringify(view), (_, value) => (typeof value === 'string' ? write(value) : value));
}

/** Text without control and direction characters, but for its line breaks. */
const visible = (text: string) => text.split('\n').map(visibleText).join('\n');
/** Text with a quotation mark: a name or the words of an answer may have one. */
const quoted = (text: string) => text && `${text}"`;

function escapeFor(contentType: string): (value: unknown) => string {
  if (/json/.test(contentType)) return (value) => JSON.stringify(String(value)).slice(1, -1);
  if (/html|xml/.test(contentType)) return (value) => escapedHtml(String(value));
  if (/x-www-form-urlencoded/.test(contentType)) return (value) => encodeURIComponent(String(value));
  return String;
}

function isWithin(status: number, range: number | string): boolean {
  const [from = 0, to = from] = String(range).split('-').map(Number);
  return status >= from && status <= to;
}

/** Fills the body in for sample alerts. Returns why it is wrong, or null. */
function bodyComplaint(template: BodyTemplate): string | null {
  const people = { pageUrl: null, publicUrl: null, timeZone: () => 'UTC' };
  const samples = Object.values(sampleAlerts());
  const messages = [...samples.map((some) => some.slice(0, 1)), samples.flat()].flatMap(
    (some) => messageOf('sample', some, some[0]?.at ?? 0) ?? [],
  );
  const texts = messages.map((message) => ({ message, text: messageText(message, people) }));
  const views = texts.map(({ message, text }) => messageView(text, message, template.maxLength, 'UTC'));
  const secrets = Object.fromEntries(template.secrets.map((name) => [name, '']));
  const wrong = templateComplaint(template.body, new Map([['', { ...mergedView(views), secrets }]]));
  if (wrong !== null || !/json/.test(template.contentType)) return wrong;
  try {
    for (const view of views) JSON.parse(bodyWith(rewritten(view, quoted), template));
    return null;
  } catch {
    return 'does not become JSON when it is filled in: write {{name}} between quotes, not {{{name}}}';
  }
}
