// The alertmanager channel: POST /api/v2/alerts. Alertmanager keeps an alert only as long as it is resent, and forgets
// all alerts when it restarts. So firing alerts are resent every minute, and resolved ones for a quarter of an hour.

import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import type { Alert, Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import { refuse, serviceUrl } from '../world/schema/scalars.ts';
import { secret, section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, type Hook, hookKeys, type Notice, type SendResult } from './channel.ts';
import { messageTitle } from './message-text.ts';
import { postJson, resultOf } from './post.ts';

// Our alerts in Alertmanager's form: labels that identify them, annotations that describe them, and its fingerprint.

type LabelSet = Readonly<Record<string, string>>;
/** Labels or annotations that may have unknown or empty values. */
type Raw = Readonly<Record<string, string | number | null | undefined>>;

/** Labels of an alert. Alertmanager treats alerts with the same labels as one alert, and drops empty values. */
function labelsOf(alert: Alert): LabelSet {
  return filled(rawLabelsOf(alert));
}

function rawLabelsOf({ rule, severity, account, email, mailboxId, object }: Alert): Raw {
  // The object of an event is one action, command or moment: as a label it would make each event an alert for ever.
  const named = ruleBook[rule].event === undefined ? object : null;
  return { alertname: rule, severity, account, mailbox: email, mailbox_id: mailboxId, object: named };
}

/** Annotations of an alert: the customary `summary` and `description`, and every number under its own name. */
function annotationsOf(alert: Alert): LabelSet {
  return filled(rawAnnotationsOf(alert));
}

function rawAnnotationsOf({ rule, object, facts }: Alert): Raw {
  const { title, sentences, numbers } = facts;
  const name = ruleBook[rule].event;
  return { ...numbers, ...(name ? { [name]: object } : {}), summary: title, description: sentences.join(' ') };
}

/** URL of the page about the alert's subject. */
function generatorUrlOf({ facts }: Alert): string {
  const page = facts.numbers['page_url'];
  return typeof page === 'string' && URL.canParse(page) ? page : '';
}

/** Start of an alert, ISO 8601. An event starts when it happens. */
function startsAtOf({ kind, at, alert }: Transition): string {
  return new Date(kind === 'event' ? at : (alert.firingAt ?? alert.since)).toISOString();
}

/** End of a resolved alert, never before its start: Alertmanager would refuse that after a clock was set back. */
function endsAtOf({ at, alert }: Transition): string {
  return new Date(Math.max(alert.resolvedAt ?? at, alert.firingAt ?? alert.since)).toISOString();
}

/** Labels and annotations that all alerts have with the same value. */
function commonOf(transitions: readonly Transition[]): { readonly labels: LabelSet; readonly annotations: LabelSet } {
  return { labels: common(transitions, rawLabelsOf), annotations: common(transitions, rawAnnotationsOf) };
}

function common(transitions: readonly Transition[], rawOf: (alert: Alert) => Raw): LabelSet {
  const [first, ...others] = transitions.map(({ alert }) => rawOf(alert));
  const shared = Object.entries(first ?? {}).filter(([name, value]) => others.every((raw) => raw[name] === value));
  return filled(Object.fromEntries(shared));
}

/** Labels by which a message is grouped: the account and the rule, if they are common labels. */
function groupLabelsOf({ alertname, account }: LabelSet): LabelSet {
  return filled({ account, alertname });
}

/** Label set in the notation of Prometheus: `{account="acme", alertname="dns_failing"}`. */
function labelText(labels: LabelSet): string {
  const names = Object.keys(labels).sort();
  return `{${names.map((name) => `${name}=${JSON.stringify(labels[name])}`).join(', ')}}`;
}

const fnvOffset = 0xcbf29ce484222325n;
const fnvPrime = 0x100000001b3n;
const separator = 0xff;

/** Fingerprint that Alertmanager gives to the same labels: FNV-1a over the sorted names and values, 16 hex digits. */
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

/** Labels or annotations without unknown or empty values; well-formed, since Alertmanager refuses broken UTF-8. */
function filled(words: Raw): LabelSet {
  const given = Object.entries(words).flatMap(([name, value]): [string, string][] => {
    const text = value === null || value === undefined ? '' : String(value).toWellFormed();
    return text === '' ? [] : [[name, text]];
  });
  return Object.fromEntries(given);
}

export const alertmanagerSettings = section({
  ...hookKeys,
  url: secret(serverUrl().describe('Where Alertmanager is. Warmwarden adds /api/v2/alerts. Treated as a secret.')),
  type: z.literal('alertmanager').describe('A Prometheus Alertmanager. Warmwarden adds /api/v2/alerts to url.'),
});

/** Address of the server. Refuses one with a path of its API, which people copy from a curl line. */
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
/** Time after which a firing alert ends by itself if it is not resent. */
const firesForMs = 5 * minuteMs;
/** Duration of an event, which never resolves: to Alertmanager it is an alert that ends by itself. */
const eventLastsMs = hourMs;
const resolvedKeptMs = 15 * minuteMs;
const maxAlertsInPost = 500;

/** Alert in a payload. Without `endsAt` its end is `aheadMs` after the moment of sending. */
interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt?: string;
  readonly aheadMs?: number;
  readonly generatorURL: string;
}

export function alertmanagerChannel(settings: Hook, clock: Clock): Channel {
  const to = { ...settings, url: `${settings.url.replace(/\/+$/, '')}/api/v2/alerts` };
  /** Recently resolved alerts by their labels, kept until `until` on the monotonic scale. */
  const resolvedLately = new Map<string, { readonly alert: PostedAlert; readonly until: number }>();
  /** Alerts by their labels that the last upkeep reported as firing. */
  let keptFiring = new Map<string, PostedAlert>();

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
      const key = keyOf(alert);
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
        const now = new Map(firing.map((alert) => frozen(asFiring(alert))).map((one) => [keyOf(one), one]));
        const sent = [...now.values()];
        // Alertmanager groups by itself, so an ended alert need not wait for the interval of our own group.
        const ended = [...keptFiring].filter(([key]) => !now.has(key) && !resolvedLately.has(key));
        remember([...sent, ...ended.map(([, alert]) => endedAt(alert, clock.now()))]);
        keptFiring = now;
        for (const [key, { until }] of resolvedLately) if (until < clock.monotonic()) resolvedLately.delete(key);
        const all = [...sent, ...[...resolvedLately.values()].map(({ alert }) => alert)];
        return all.length === 0 ? null : post(all, signal);
      },
    },
  };
}

/** Identity of an alert for Alertmanager. All labels are made in one order. */
function keyOf({ labels }: PostedAlert): string {
  return JSON.stringify(labels);
}

function asFiring(alert: Alert): Transition {
  return { kind: 'firing', at: alert.firingAt ?? alert.since, alert };
}

function frozen(transition: Transition): PostedAlert {
  const { kind, alert } = transition;
  const end =
    kind === 'resolved' ? { endsAt: endsAtOf(transition) } : { aheadMs: kind === 'event' ? eventLastsMs : firesForMs };
  return {
    labels: labelsOf(alert),
    annotations: annotationsOf(alert),
    startsAt: startsAtOf(transition),
    ...end,
    generatorURL: generatorUrlOf(alert),
  };
}

function endedAt({ aheadMs: _, ...alert }: PostedAlert, now: number): PostedAlert {
  return { ...alert, endsAt: new Date(Math.max(now, Date.parse(alert.startsAt))).toISOString() };
}

function thawed({ aheadMs = firesForMs, endsAt, ...alert }: PostedAlert, now: number) {
  return { ...alert, endsAt: endsAt ?? new Date(Math.max(now, Date.parse(alert.startsAt)) + aheadMs).toISOString() };
}

/** Test alert that ends by itself a minute later. */
function testAlert(notice: { readonly title: string; readonly at: number }): PostedAlert {
  return {
    labels: { alertname: 'warmwarden_test', severity: 'info' },
    annotations: { summary: notice.title },
    startsAt: new Date(notice.at).toISOString(),
    aheadMs: minuteMs,
    generatorURL: '',
  };
}

// The body of Alertmanager's webhooks, version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config

/** Alertmanager's notation for "has not ended". */
const noEnd = '0001-01-01T00:00:00Z';
const maxAlerts = 500;

interface WebhookSender {
  readonly name: string;
  readonly pageUrl: string | null;
}

/** Body of a message in Alertmanager's form. An event is reported as firing, since the form has no other word. */
export function alertmanagerBody(message: GroupMessage, sender: WebhookSender) {
  const { transitions } = message;
  const common = commonOf(transitions);
  const groupLabels = groupLabelsOf(common.labels);
  return {
    ...bodyOf(transitions.slice(0, maxAlerts).map(alertBody), sender),
    groupKey: `{}:${labelText(groupLabels)}`,
    truncatedAlerts: Math.max(0, transitions.length - maxAlerts),
    status: transitions.some(({ kind }) => kind !== 'resolved') ? 'firing' : 'resolved',
    groupLabels,
    commonLabels: common.labels,
    commonAnnotations: common.annotations,
  };
}

/** Body of a test, which has already resolved. */
export function alertmanagerNotice({ title, at }: Notice, sender: WebhookSender) {
  const labels = { alertname: 'warmwarden_test', severity: 'info' };
  const annotations = { summary: title };
  const moment = new Date(at).toISOString();
  const alert = { status: 'resolved', labels, annotations, startsAt: moment, endsAt: moment, generatorURL: '' };
  return {
    ...bodyOf([{ ...alert, fingerprint: fingerprintOfLabels(labels) }], sender),
    groupKey: `{}:${labelText({ alertname: labels.alertname })}`,
    truncatedAlerts: 0,
    status: 'resolved',
    groupLabels: { alertname: labels.alertname },
    commonLabels: labels,
    commonAnnotations: annotations,
  };
}

function bodyOf<Item>(alerts: readonly Item[], { name, pageUrl }: WebhookSender) {
  return { version: '4', receiver: name, externalURL: pageUrl ?? '', alerts };
}

function alertBody(transition: Transition) {
  const { kind, alert } = transition;
  const labels = labelsOf(alert);
  return {
    status: kind === 'resolved' ? 'resolved' : 'firing',
    labels,
    annotations: annotationsOf(alert),
    startsAt: startsAtOf(transition),
    endsAt: kind === 'resolved' ? endsAtOf(transition) : noEnd,
    generatorURL: generatorUrlOf(alert),
    fingerprint: fingerprintOfLabels(labels),
  };
}
