// The PagerDuty channel: Events API v2. Events page nobody, except a pause of Warmwarden. Source:
// developer.pagerduty.com, "Events API v2 Overview" (512 KB an event; 202, 400, 429 and 5xx) and "Send an Alert Event"
// (summary 1,024 characters, dedup_key 255).

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import { isPause } from '../alerts/routing.ts';
import { fieldsIn } from '../api/http/failure.ts';
import { isCause, noAccount, type Transition } from '../core/alert.ts';
import type { Severity } from '../core/alert-rules.ts';
import { type EpochMs, minuteMs, secondMs } from '../core/time.ts';
import { visibleText } from '../core/wording/phrases.ts';
import { serviceUrl } from '../world/schema/scalars.ts';
import { plainHttp, privateAuthority, secret, section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, channelName, type Hook, type SendOutcome, type SendResult } from './channel.ts';
import { cutText, type ForPeople, messageText, messageTitle, moreText } from './message-text.ts';
import { failureOf, postJson, type ReceiverAnswer, resultOf, setupRefused } from './post.ts';

/** Address of the service region US. */
const usualUrl = 'https://events.pagerduty.com/v2/enqueue';

export const pagerdutySettings = section({
  name: channelName,
  type: z.literal('pagerduty').describe('PagerDuty (Events API v2).'),
  routingKey: secret(
    z
      .string()
      .regex(/^[A-Za-z0-9]{32}$/, 'is not an integration key of the Events API v2: those have 32 letters and digits')
      .describe('The integration key.'),
  ),
  url: secret(
    serviceUrl()
      .optional()
      .transform((url = usualUrl) => url)
      .describe(
        'Default: https://events.pagerduty.com/v2/enqueue. In the EU: https://events.eu.pagerduty.com/v2/enqueue.',
      ),
  ),
  allowHttp: plainHttp(),
  ca: privateAuthority(),
});

/** The key is a secret that no stored message contains. */
type PagerDutySettings = Hook & ForPeople & Pick<z.output<typeof pagerdutySettings>, 'routingKey'>;

const maxSummary = 1_024;
const maxKey = 255;
const maxDetails = 20_000;
const maxTriggers = 20;
/** Wait if PagerDuty asks for none: "Preferably with a backoff of a few minutes". */
const throttledMs = 2 * minuteMs;
const continueMs = secondMs;

export interface PagerDutyEvent {
  readonly event_action: 'trigger' | 'resolve';
  readonly dedup_key: string;
  readonly payload?: {
    readonly summary: string;
    readonly source: string;
    readonly severity: Severity;
    readonly timestamp: string;
    readonly class: string;
    readonly custom_details: Readonly<Record<string, string>>;
  };
  readonly links?: readonly { readonly href: string; readonly text: string }[];
  readonly client?: string;
  readonly client_url?: string;
}

export function pagerdutyChannel(settings: PagerDutySettings, clock: Clock): Channel {
  const { routingKey } = settings;
  const pager: Pager<PagerDutyEvent> = {
    ...{ type: 'pagerduty', who: 'PagerDuty', key: 'routing key' },
    write: (event) => event,
    post: async (event, signal) => {
      const body = JSON.stringify({ routing_key: routingKey, ...event });
      return meaningOf(await postJson(settings, body, { signal, clock }), routingKey);
    },
  };
  return pagerChannel(pager, settings);
}

/** Service that pages people, and keeps an alert open until it is resolved. */
interface Pager<Stored> {
  readonly type: string;
  readonly who: string;
  /** Name of the key that a check tests. */
  readonly key: string;
  /** Makes the request of an event, without secrets. */
  readonly write: (event: PagerDutyEvent) => Stored;
  readonly post: (stored: Stored, signal: AbortSignal) => Promise<SendResult>;
}

export function pagerChannel<Stored>(pager: Pager<Stored>, settings: ForPeople & Pick<Hook, 'name'>): Channel {
  const { type, who, key, write, post } = pager;
  return {
    name: settings.name,
    type,
    minGapMs: 0,
    keepsOpen: true,
    render: (message) => {
      const events = eventsOf(message, settings);
      return events.length === 0 ? null : { payload: JSON.stringify(events.map(write)), title: messageTitle(message) };
    },
    renderNotice: () => null,
    send: async ({ payload, receipt }, signal) => {
      const events: readonly Stored[] = JSON.parse(payload);
      const from = receipt === null ? 0 : Number(receipt);
      for (const [index, event] of events.entries()) {
        if (index < from) continue;
        const result = await post(event, signal);
        if (result.kind === 'sent') continue;
        return index === from
          ? result
          : acceptedUntil(index, `${who} accepted ${index} of ${events.length} events`, result);
      }
      return { kind: 'sent' };
    },
    // The check resolves an alert that does not exist, which pages nobody.
    check: async (signal) => {
      const result = await post(write(resolveOf('warmwarden-test')), signal);
      const detail = `${who} accepts the ${key}. The test did not page anyone: it resolved an alert that does not exist`;
      return result.kind === 'sent' ? { ...result, detail } : result;
    },
  };
}

/** The next attempt continues after the accepted events. */
function acceptedUntil(index: number, accepted: string, { detail, ...result }: SendResult): SendOutcome {
  const asked = 'retryAfterMs' in result ? result.retryAfterMs : null;
  const said = detail === undefined ? '' : `: ${detail}`;
  return {
    kind: 'accepted',
    receipt: String(index),
    detail: `${accepted}${said}`,
    againInMs: asked ?? continueMs,
  };
}

function eventsOf(message: GroupMessage, people: ForPeople): readonly PagerDutyEvent[] {
  const { incident, transitions } = message;
  const resolved = transitions.filter(({ kind }) => kind === 'resolved');
  if (incident) {
    const { id, step, severity, cause, kind, beganAt } = incident;
    const about = { key: id, severity, source: cause.value, class: kind ?? 'incident', at: beganAt, details: {} };
    // An alert that was triggered before it belonged to the incident ends under its own key.
    const own = resolved.filter(({ alone }) => alone).map(({ alert }) => resolveOf(alert.fingerprint));
    return [step === 'ended' ? resolveOf(id) : triggerOf(message, about, people), ...own];
  }
  const triggers = transitions.filter(isTrigger);
  const told = triggers.slice(0, maxTriggers);
  const others = moreText(triggers.length - told.length);
  const more = others === null ? {} : { others };
  return [
    ...told.map((transition) => {
      const { kind, alert } = transition;
      const alone: GroupMessage = { ...message, kind, severity: alert.severity, transitions: [transition] };
      return triggerOf(alone, triggerSubjectOf(transition, more), people);
    }),
    ...resolved.map(({ alert }) => resolveOf(alert.fingerprint)),
  ];
}

/** An alert that fires or goes on pages, and of the events only a pause. */
function isTrigger(transition: Transition): boolean {
  return transition.kind === 'event' ? isPause(transition) : transition.kind !== 'resolved';
}

interface TriggerSubject {
  readonly key: string;
  readonly severity: Severity;
  readonly source: string;
  readonly class: string;
  readonly at: EpochMs;
  readonly details: Readonly<Record<string, string>>;
}

function triggerSubjectOf({ at, alert }: Transition, more: TriggerSubject['details']): TriggerSubject {
  const { rule, account, email, object, severity } = alert;
  const isOfNone = account === noAccount;
  return {
    key: alert.fingerprint,
    severity,
    source: email ?? (isCause(alert) ? null : object) ?? (isOfNone ? 'Warmwarden' : account),
    class: rule,
    at,
    details: { ...(isOfNone ? {} : { account }), ...more },
  };
}

function triggerOf(message: GroupMessage, subject: TriggerSubject, people: ForPeople): PagerDutyEvent {
  const { headline, lead, items, more, links } = messageText(message, people);
  const what = [...lead, ...items.map(({ head }) => head), moreText(more) ?? ''].filter((line) => line !== '');
  return {
    event_action: 'trigger',
    dedup_key: keyOf(subject.key),
    payload: {
      summary: cutText(headline, maxSummary),
      source: visibleText(subject.source),
      severity: subject.severity,
      timestamp: new Date(subject.at).toISOString(),
      class: subject.class,
      custom_details: { what: cutText(what.join('\n'), maxDetails), ...subject.details },
    },
    links: links.map(({ label, url }) => ({ href: url, text: label })),
    client: 'Warmwarden',
    ...(people.pageUrl === null ? {} : { client_url: people.pageUrl }),
  };
}

function resolveOf(key: string): PagerDutyEvent {
  return { event_action: 'resolve', dedup_key: keyOf(key) };
}

/** A long identity is replaced by its hash. */
function keyOf(identity: string): string {
  return identity.length <= maxKey ? identity : createHash('sha256').update(identity).digest('hex');
}

/** PagerDuty answers 202, or JSON with a `message` and `errors`, which may quote the key. */
function meaningOf(answer: ReceiverAnswer, routingKey: string): SendResult {
  const result = resultOf(answer, 'PagerDuty');
  if (answer.kind === 'failed' || result.kind === 'sent') return result;
  const { message, errors } = fieldsIn(answer.text) ?? {};
  const words = [message, errors].flat().filter((word) => typeof word === 'string');
  const said = visibleText(words.join('; ')).replaceAll(routingKey, '[hidden]');
  const detail = `PagerDuty answered ${answer.status}${said === '' ? '' : ` (${cutText(said, 200)})`}`;
  const blamesKey = [401, 403, 404, 410].includes(answer.status) || /routing.?key|integration.?key/i.test(said);
  if (answer.status < 500 && blamesKey) {
    const remedy = 'write the integration key of an Events API v2 integration as routing_key';
    return { ...setupRefused(`${detail}: ${remedy}`), answer };
  }
  const outcome = failureOf(answer, detail);
  const throttled = answer.status === 429 && outcome.kind === 'failed' && outcome.retryAfterMs === null;
  return { ...outcome, ...(throttled ? { retryAfterMs: throttledMs } : {}), answer };
}
