// The body of Alertmanager's webhooks, version 4: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
import type { GroupMessage } from '../alert/grouping.ts';
import type { Transition } from '../model/alert.ts';
import {
  annotationsOf,
  commonOf,
  endsAtOf,
  fingerprintOfLabels,
  generatorUrlOf,
  groupLabelsOf,
  labelsOf,
  labelText,
  startsAtOf,
} from './alertmanager-alert.ts';
import type { Notice } from './channel.ts';

/** How Alertmanager writes "has not ended". */
const noEnd = '0001-01-01T00:00:00Z';
const maxAlerts = 500;

interface Sender {
  readonly name: string;
  readonly pageUrl: string | null;
}

/** A message as Alertmanager would send it. An event stands there as firing, for it has no other word. */
export function alertmanagerBody(message: GroupMessage, sender: Sender) {
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

/** A test, which has resolved already. */
export function alertmanagerNotice({ title, at }: Notice, sender: Sender) {
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

function bodyOf<Item>(alerts: readonly Item[], { name, pageUrl }: Sender) {
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
