// The alertmanager channel: POST /api/v2/alerts. Alertmanager keeps an alert only while it is resent, and forgets all
// when it restarts.

import { z } from 'zod';
import type { Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import { tagLabel, tagParts } from '../core/mailbox.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import { serviceUrl } from '../world/schema/scalars.ts';
import { secret, section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import {
  type Channel,
  checkCredentials,
  credentialKeys,
  type Hook,
  hookKeys,
  type Notice,
  type SendResult,
  withCredentials,
} from './channel.ts';
import { messageTitle } from './message-text.ts';
import { postJson, resultOf } from './post.ts';

type LabelSet = Readonly<Record<string, string>>;

/**
 * Alert for Alertmanager, which drops empty values, and takes the same labels for one alert. It ends `aheadMs` after the
 * moment of sending if `endsAt` is absent.
 */
interface PostedAlert {
  readonly labels: LabelSet;
  readonly annotations: LabelSet;
  readonly startsAt: string;
  /** Empty if the alert's subject has no page. */
  readonly generatorURL: string;
  readonly endsAt?: string;
  readonly aheadMs?: number;
}

function labelled({ kind, at, alert }: Transition): PostedAlert {
  const { rule, severity, account, email, mailboxId, object, facts, firingAt, since } = alert;
  const { title, sentences, numbers, tags = [] } = facts;
  // The object of an event is one action, command or moment: as a label it would make each event an alert for ever.
  const { event } = ruleBook[rule];
  const { page_url: page } = numbers;
  return {
    labels: filled({
      alertname: rule,
      severity,
      account,
      mailbox: email,
      mailbox_id: mailboxId,
      object: event === undefined ? object : null,
      ...Object.fromEntries(tags.map(tagParts).map(([name, value]) => [tagLabel(name), value])),
    }),
    annotations: filled({
      ...numbers,
      ...(event === undefined ? {} : { [event]: object }),
      summary: title,
      description: sentences.join(' '),
    }),
    startsAt: new Date(kind === 'event' ? at : (firingAt ?? since)).toISOString(),
    generatorURL: typeof page === 'string' && URL.canParse(page) ? page : '',
  };
}

function testAlert({ title, at }: Notice): PostedAlert {
  const labels = { alertname: 'warmwarden_test', severity: 'info' };
  const startsAt = new Date(at).toISOString();
  return { labels, annotations: { summary: title }, startsAt, generatorURL: '', aheadMs: minuteMs };
}

/** Labels or annotations without unknown or empty values; well-formed, since Alertmanager refuses broken UTF-8. */
function filled(words: Readonly<Record<string, string | number | null | undefined>>): LabelSet {
  const given = Object.entries(words).flatMap(([name, value]): [string, string][] => {
    const text = value === null || value === undefined ? '' : String(value).toWellFormed();
    return text === '' ? [] : [[name, text]];
  });
  return Object.fromEntries(given);
}

export const alertmanagerSettings = section(
  {
    ...hookKeys,
    ...credentialKeys,
    url: secret(serverUrl().describe('Where Alertmanager is. Treated as a secret.')),
    type: z.literal('alertmanager').describe('A Prometheus Alertmanager. Warmwarden adds /api/v2/alerts to url.'),
  },
  checkCredentials,
).transform(withCredentials);

/** Refuses an address with a path of the API, which people copy from a curl line. */
function serverUrl() {
  const wanted = 'must be the address of Alertmanager, such as http://127.0.0.1:9093: Warmwarden adds /api/v2/alerts';
  return serviceUrl((url) => /\/api\/v\d/.test(url) && wanted);
}

const upkeepEveryMs = minuteMs;
const firesForMs = 5 * minuteMs;
/** An event never resolves: to Alertmanager it is an alert that ends by itself. */
const eventLastsMs = hourMs;
const resolvedKeptMs = 15 * minuteMs;
const maxAlertsInPost = 500;

export function alertmanagerChannel(settings: Hook, clock: Clock): Channel {
  const to = { ...settings, url: `${settings.url.replace(/\/+$/, '')}/api/v2/alerts` };
  /** Recently resolved alerts by their labels, kept until `until` on the monotonic scale. */
  const resolvedLately = new Map<string, { readonly alert: PostedAlert; readonly until: number }>();

  const post = async (alerts: readonly PostedAlert[], signal: AbortSignal): Promise<SendResult> => {
    let result: SendResult = { kind: 'sent' };
    for (let from = 0; from < alerts.length; from += maxAlertsInPost) {
      const body = JSON.stringify(
        alerts.slice(from, from + maxAlertsInPost).map((alert) => thawed(alert, clock.now())),
      );
      result = resultOf(await postJson(to, body, { signal, clock }), 'Alertmanager');
      if (result.kind !== 'sent') return result;
    }
    return result;
  };
  const remember = (alerts: readonly PostedAlert[]) => {
    for (const alert of alerts) {
      const key = JSON.stringify(alert.labels);
      if (alert.endsAt === undefined) resolvedLately.delete(key);
      else resolvedLately.set(key, { alert, until: clock.monotonic() + resolvedKeptMs });
    }
  };

  return {
    name: settings.name,
    type: 'alertmanager',
    minGapMs: 0,
    keepsOpen: true,
    render: ({ transitions, ...message }) =>
      transitions.length > 0
        ? { payload: JSON.stringify(transitions.map(frozen)), title: messageTitle({ ...message, transitions }) }
        : null,
    renderNotice: (notice) =>
      notice.name === 'test' ? { payload: JSON.stringify([testAlert(notice)]), title: notice.title } : null,
    send: async ({ payload }, signal) => {
      const alerts: readonly PostedAlert[] = JSON.parse(payload);
      const result = await post(alerts, signal);
      if (result.kind === 'sent') remember(alerts);
      return result;
    },
    upkeep: {
      everyMs: upkeepEveryMs,
      send: async (firing, signal) => {
        const sent = firing.map((alert) => frozen({ kind: 'firing', at: alert.firingAt ?? alert.since, alert }));
        remember(sent);
        for (const [key, { until }] of resolvedLately) if (until < clock.monotonic()) resolvedLately.delete(key);
        const all = [...sent, ...[...resolvedLately.values()].map(({ alert }) => alert)];
        return all.length === 0 ? null : post(all, signal);
      },
    },
  };
}

function frozen(transition: Transition): PostedAlert {
  const about = labelled(transition);
  const { kind, at, alert } = transition;
  if (kind !== 'resolved') return { ...about, aheadMs: kind === 'event' ? eventLastsMs : firesForMs };
  // Alertmanager would refuse an end before the start, after a clock was set back.
  return { ...about, endsAt: new Date(Math.max(alert.resolvedAt ?? at, alert.firingAt ?? alert.since)).toISOString() };
}

function thawed({ aheadMs = firesForMs, endsAt, ...alert }: PostedAlert, now: number) {
  return { ...alert, endsAt: endsAt ?? new Date(Math.max(now, Date.parse(alert.startsAt)) + aheadMs).toISOString() };
}
