// The alertmanager channel: POST /api/v2/alerts. Alertmanager keeps an alert only while it is resent, and forgets all
// when it restarts.

import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import { tagLabel, tagParts } from '../core/mailbox.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import { refuse, serviceUrl } from '../world/schema/scalars.ts';
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

/** Alert as Alertmanager knows it, without its end. It drops empty values, and takes the same labels for one alert. */
interface LabelledAlert {
  readonly labels: LabelSet;
  readonly annotations: LabelSet;
  readonly startsAt: string;
  /** Empty if the alert's subject has no page. */
  readonly generatorURL: string;
}

function labelled({ kind, at, alert }: Transition): LabelledAlert {
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

function testAlert({ title, at }: Notice): LabelledAlert {
  const labels = { alertname: 'warmwarden_test', severity: 'info' };
  return { labels, annotations: { summary: title }, startsAt: new Date(at).toISOString(), generatorURL: '' };
}

/** The end is never before the start: Alertmanager would refuse that after a clock was set back. */
function endsAtOf({ at, alert }: Transition): string {
  return new Date(Math.max(alert.resolvedAt ?? at, alert.firingAt ?? alert.since)).toISOString();
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
  return serviceUrl().superRefine((value, context) => {
    if (/\/api\/v\d/.test(value))
      refuse(
        context,
        'must be the address of Alertmanager, such as http://127.0.0.1:9093: Warmwarden adds /api/v2/alerts',
      );
  });
}

const upkeepEveryMs = minuteMs;
const firesForMs = 5 * minuteMs;
/** An event never resolves: to Alertmanager it is an alert that ends by itself. */
const eventLastsMs = hourMs;
const resolvedKeptMs = 15 * minuteMs;
const maxAlertsInPost = 500;

/** Alert for Alertmanager. It ends `aheadMs` after the moment of sending if `endsAt` is absent. */
interface PostedAlert extends LabelledAlert {
  readonly endsAt?: string;
  readonly aheadMs?: number;
}

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
      notice.name === 'test'
        ? { payload: JSON.stringify([{ ...testAlert(notice), aheadMs: minuteMs }]), title: notice.title }
        : null,
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
  if (transition.kind === 'resolved') return { ...about, endsAt: endsAtOf(transition) };
  return { ...about, aheadMs: transition.kind === 'event' ? eventLastsMs : firesForMs };
}

function thawed({ aheadMs = firesForMs, endsAt, ...alert }: PostedAlert, now: number) {
  return { ...alert, endsAt: endsAt ?? new Date(Math.max(now, Date.parse(alert.startsAt)) + aheadMs).toISOString() };
}

// The body of Alertmanager's webhooks, version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config

/** Alertmanager's notation for "has not ended". */
const noEnd = '0001-01-01T00:00:00Z';
const maxAlerts = 500;

interface WebhookSender {
  readonly name: string;
  readonly pageUrl: string | null;
}

/** An event is reported as firing, since the form has no other word. */
export function alertmanagerBody({ transitions }: Pick<GroupMessage, 'transitions'>, sender: WebhookSender) {
  const alerts = transitions.map((transition) => ({
    ...labelled(transition),
    endsAt: transition.kind === 'resolved' ? endsAtOf(transition) : null,
  }));
  return bodyOf(alerts, sender);
}

export function alertmanagerNotice(notice: Notice, sender: WebhookSender) {
  const alert = testAlert(notice);
  return bodyOf([{ ...alert, endsAt: alert.startsAt }], sender);
}

/** `endsAt` is null for an alert that fires. */
function bodyOf(
  alerts: readonly (LabelledAlert & { readonly endsAt: string | null })[],
  { name, pageUrl }: WebhookSender,
) {
  const { alertname, account, ...labels } = common(alerts.map((alert) => alert.labels));
  const groupLabels = filled({ account, alertname });
  return {
    version: '4',
    receiver: name,
    externalURL: pageUrl ?? '',
    alerts: alerts.slice(0, maxAlerts).map(({ endsAt, ...alert }) => ({
      ...alert,
      status: endsAt === null ? 'firing' : 'resolved',
      endsAt: endsAt ?? noEnd,
      fingerprint: fingerprintOfLabels(alert.labels),
    })),
    truncatedAlerts: Math.max(0, alerts.length - maxAlerts),
    status: alerts.some(({ endsAt }) => endsAt === null) ? 'firing' : 'resolved',
    groupKey: `{}:${labelText(groupLabels)}`,
    groupLabels,
    commonLabels: { ...groupLabels, ...labels },
    commonAnnotations: common(alerts.map(({ annotations }) => annotations)),
  };
}

function common([first = {}, ...others]: readonly LabelSet[]): LabelSet {
  return Object.fromEntries(
    Object.entries(first).filter(([name, value]) => others.every((set) => set[name] === value)),
  );
}

/** Returns a text such as `{account="acme", alertname="dns_failing"}`, as in Prometheus. */
function labelText(labels: LabelSet): string {
  const names = Object.keys(labels).sort();
  return `{${names.map((name) => `${name}=${JSON.stringify(labels[name])}`).join(', ')}}`;
}

const fnvOffset = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;
const separator = 0xff;

/** Alertmanager's own fingerprint: FNV-1a over the sorted names and values, 16 hex digits. */
function fingerprintOfLabels(labels: LabelSet): string {
  let hash = fnvOffset;
  const add = (byte: number) => {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * fnvPrime);
  };
  for (const name of Object.keys(labels).sort()) {
    for (const text of [name, labels[name] ?? '']) {
      for (const byte of Buffer.from(text)) add(byte);
      add(separator);
    }
  }
  return hash.toString(16).padStart(16, '0');
}
