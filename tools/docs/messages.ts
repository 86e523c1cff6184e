// docs/messages.md: a message of each rule and cause, made by the code that sends.

import { elapse, step } from '../../src/alerts/engine.ts';
import { type GroupMessage, groupOf, incidentMessageOf, messageOf } from '../../src/alerts/grouping.ts';
import { messageIncident } from '../../src/alerts/incident-message.ts';
import { withLinks } from '../../src/alerts/notifications.ts';
import type { Channel, Notice, Rendered } from '../../src/channels/channel.ts';
import { emailChannel } from '../../src/channels/email.ts';
import { pagerdutyChannel } from '../../src/channels/pagerduty.ts';
import { slackChannel } from '../../src/channels/slack.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import { alertRules, ruleBook } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { dayMs, type EpochMs } from '../../src/core/time.ts';
import type { Claim } from '../../src/core/verdict.ts';
import { digestOf } from '../../src/outbox/digest.ts';
import { sampleIncident } from '../../test/alerts/incident-samples.ts';
import { judged, sampleAction, start } from '../../test/alerts/samples.ts';
import { row } from '../../test/guard/samples.ts';
import { memory } from '../../test/store/records.ts';
import { movedClock } from '../simulator/moved-clock.ts';
import { connectionBack, messageSamples, type Sample, severalAtOnce } from './message-samples.ts';

const page = 'https://warmwarden.example';
const people = { pageUrl: page, publicUrl: page, timeZone: () => 'UTC' };
const clock = movedClock(start);
const hook = { name: 'ops', url: page, ...people };
const slack = slackChannel(hook, clock);
const email = emailChannel({ ...hook, from: 'alerts@example.com', to: ['ops@example.com'], allowPlain: false });
const webhook = webhookChannel({ ...hook, secrets: [] }, clock);
const pagerduty = pagerdutyChannel({ ...hook, routingKey: '' }, clock);

/** The whole file. */
export function messagesText(): string {
  const rules = alertRules.map((rule) => {
    const messages = messageSamples[rule].map((sample) => fenced(slackText(messageAbout(sample))));
    return `## ${rule}\n\n*${ruleBook[rule].name}* · [runbook](runbooks.md#${rule})\n\n${messages.join('\n')}`;
  });
  const notGuarded = messageAbout(messageSamples.not_guarded[0]);
  const several = fenced(slackText(messageAbout(...severalAtOnce)));
  const end = fenced(slackText(messageAbout(connectionBack)));
  const shapes = [
    `## An incident\n\n${fenced(slackText(incidentMessage()))}`,
    `## Several alerts\n\n${several}`,
    `## Resolved\n\n${end}`,
    `## The digest\n\n${fenced(shownBy(slack.renderNotice(digest())))}`,
    `## An email\n\n${fenced(letterText(notGuarded))}`,
    `## A webhook\n\n${fenced(bytesOf(webhook, notGuarded), 'json')}`,
    `## A PagerDuty event\n\n${fenced(bytesOf(pagerduty, notGuarded), 'json')}`,
  ];
  return [head, ...shapes, ...rules].join('\n');
}

/** The file with sample alerts, for the check of templates and for previews. */
export function samplesText(): string {
  const samples = Object.fromEntries(
    alertRules.map((rule) => [rule, messageSamples[rule].flatMap((sample) => messageAbout(sample).transitions)]),
  );
  return `${JSON.stringify(samples, null, 1)}\n`;
}

const head = `# Messages

<!-- Written by \`npm run docs\`. -->

A message of each rule as Slack shows it: title, text, buttons, and the line below. The code that sends made them, of the facts in
\`tools/docs/message-samples.ts\`. Email, Teams and Discord have the same title and text. [Notifications](notifications.md) says when
they come.
`;

function fenced(text: string, language = 'text'): string {
  return `\`\`\`${language}\n${text}\n\`\`\`\n`;
}

function bytesOf(channel: Channel, message: GroupMessage): string {
  return JSON.stringify(JSON.parse(channel.render(message)?.payload ?? ''), null, 2);
}

function letterText(message: GroupMessage): string {
  const { subject, text } = JSON.parse(email.render(message)?.payload ?? '');
  return `Subject: ${subject}\n\n${text.trimEnd()}`;
}

function messageAbout(...samples: readonly Sample[]): GroupMessage {
  const news = samples.map((sample) => {
    if (!sample) throw new Error('a sample without a message');
    const transition = 'kind' in sample ? sample : firing(sample);
    return { ...transition, alert: withLinks(transition.alert, page) };
  });
  const [first] = news;
  const message = first && messageOf(groupOf(first.alert), news, first.at);
  if (!message) throw new Error('a message is about something');
  return message;
}

/** The moment at which the engine announces the condition, and how. */
function firing(condition: Exclude<Sample, Transition | null | undefined>): Transition {
  let now: EpochMs = start;
  let alert: Alert | undefined;
  for (let look = 0; look < 3; look += 1) {
    const seen = step([condition], () => alert, now);
    const waited = elapse(seen.changed, Math.max(now, seen.changed[0]?.firesAt ?? now));
    const [news] = [...seen.transitions, ...waited.transitions];
    if (news) return news;
    alert = seen.changed[0];
    now = alert?.firesAt ?? now;
  }
  throw new Error(`${condition.subject.rule} ${condition.subject.object} does not fire`);
}

function incidentMessage(): GroupMessage {
  const incident = sampleIncident(16);
  const [held] = messageSamples.guard_held;
  const firingAlerts = held && !('kind' in held) ? [firing(held).alert] : [];
  const look = { now: start, zone: 'UTC', pageUrl: page, firing: firingAlerts };
  const restOf = () => ({ sharing: 3, changed: 0, others: 141 });
  return incidentMessageOf(messageIncident(incident, 'began', incident.members, { ...look, restOf }), [], start);
}

interface Block {
  readonly type: string;
  readonly text?: { readonly text: string };
  readonly elements?: readonly { readonly text: string | { readonly text: string } }[];
}

interface Payload {
  readonly blocks: readonly Block[];
  readonly attachments: readonly { readonly blocks: readonly Block[] }[];
}

/** A day with two actions, a failing record and a mailbox that cannot be judged. */
function digest(): Notice {
  const fleet = new Fleet();
  fleet.putMailbox(changedMailbox('bob', 'recovery', { sent: 260, bounced: 4 }));
  fleet.putMailbox(changedMailbox('eve', 'pause', emergency));
  fleet.putMailbox({ ...judged({}), ...{ id: 'joe', email: 'joe@acme.example' } });
  for (const rule of ['dns_failing', 'guard_blind'] as const) {
    const [sample] = messageSamples[rule];
    if (sample && !('kind' in sample)) fleet.putAlert(ofJoe(firing(sample).alert));
  }
  const verdict = {
    ...sampleAction().verdict,
    reason: 'emergency',
    emergency: { ...emergency, from: '2026-03-19' },
  } as const;
  const paused = sampleAction({ id: 'a2', kind: 'pause', email: 'eve@acme.example', verdict });
  const actions = [sampleAction(), paused];
  const reader = { channel: 'ops', match: {}, routes: [], fleet, zone: 'UTC', now: start };
  return digestOf({ actions, undelivered: [] }, reader, { since: start - dayMs, now: start });
}

/** Counts of a day on which a mailbox is in an emergency. */
const emergency = { sent: 30, bounced: 4 };

/** An alert about a mailbox of its own. */
function ofJoe(alert: Alert): Alert {
  if (alert.mailboxId === null) return alert;
  const title = alert.facts.title.replace(/^\S+:/, 'joe@acme.example:');
  return { ...alert, mailboxId: 'joe', email: 'joe@acme.example', facts: { ...alert.facts, title } };
}

/** A mailbox that Warmwarden changed. `counts`: those of yesterday. */
function changedMailbox(id: string, kind: Claim['kind'], counts: typeof emergency): MailboxState {
  const claim: Claim = { kind, actionId: 'a1', since: start, previousMode: 'balanced', under: null };
  const rows = [row('2026-03-19', counts.sent, counts.bounced)];
  return {
    ...judged({}),
    id,
    email: `${id}@acme.example`,
    stats: { at: start, answer: { rows } },
    memory: { ...memory, claim },
  };
}

function slackText(message: GroupMessage): string {
  return shownBy(slack.render(message));
}

/** What Slack shows of the bytes that it gets. */
function shownBy(rendered: Rendered | null): string {
  const payload: Payload = JSON.parse(rendered?.payload ?? '');
  const blocks = [...payload.blocks, ...payload.attachments.flatMap((one) => one.blocks)];
  const links = blocks
    .map(blockText)
    .join('\n\n')
    .replace(/<[^<>|]+\|([^<>]+)>/g, '[$1]');
  return links.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function blockText({ type, text, elements = [] }: Block): string {
  const said = elements.map((element) => (typeof element.text === 'string' ? element.text : element.text.text));
  if (type === 'actions') return said.map((label) => `[${label}]`).join(' ');
  return text?.text ?? said.join(' ');
}
