// The Slack channel: an incoming webhook with Block Kit inside a coloured attachment, within Slack's limits.
// Source: docs.slack.dev, "Reference: blocks" (header 150 characters, section text 3,000, 50 blocks, 10 context elements).
import type { ContextBlock, HeaderBlock, KnownBlock, MessageAttachment, SectionBlock } from '@slack/types';
import type { GroupMessage } from '../alert/grouping.ts';
import { momentText, spanText } from '../alert/phrases.ts';
import type { Alert, Transition } from '../model/alert.ts';
import type { Clock } from '../world.ts';
import type { Channel, SendResult } from './channel.ts';
import { messageTitle } from './message-title.ts';
import { failureOf, postJson } from './post.ts';
import { slackLink, slackText } from './slack-text.ts';

export interface SlackSettings {
  readonly name: string;
  /** The incoming webhook's address: a secret. */
  readonly url: string;
}

/** Slack allows one message a second and channel; more earns 429. */
const slackGapMs = 1_000;
const maxHeader = 150;
const maxFallback = 300;
/** Alerts that one message tells in words. */
const maxSlackAlerts = 20;
/** A single alert gets a section's whole room; of several each gets a part, since Slack also limits their sum. */
const maxSectionAlone = 3_000;
const maxSectionInGroup = 500;
const linkRoom = 600;

export function slackChannel(settings: SlackSettings, clock: Clock): Channel {
  return {
    name: settings.name,
    type: 'slack',
    minGapMs: slackGapMs,
    render: (message) => ({ payload: JSON.stringify(payloadOf(message)), title: messageTitle(message) }),
    send: async (delivery, signal) => {
      const { payload: body } = delivery;
      return resultOf(await postJson({ url: settings.url, body, headers: {}, signal, now: clock.now() }));
    },
  };
}

/** Slack says `ok` when it took the message; an error may come with status 200. */
function resultOf(answer: Awaited<ReturnType<typeof postJson>>): SendResult {
  if (answer.kind === 'failed') return { kind: 'failed', detail: answer.detail, retryAfterMs: null, final: false };
  const word = answer.text.trim();
  if (answer.status === 200 && word === 'ok') return { kind: 'sent' };
  const said = /^[a-z_]{1,60}$/.test(word) ? ` (${word})` : '';
  if (answer.status === 200) {
    return {
      kind: 'failed',
      detail: `Slack answered 200 without ok${said}`,
      retryAfterMs: answer.retryAfterMs,
      final: false,
    };
  }
  return failureOf(answer.status, answer.retryAfterMs, `Slack answered ${answer.status}${said}`);
}

const colours = { critical: '#d92d20', warning: '#f79009', info: '#2e90fa', resolved: '#12b76a' } as const;

function payloadOf(message: GroupMessage): { text: string; attachments: MessageAttachment[] } {
  const title = messageTitle(message);
  const colour = message.kind === 'resolved' ? colours.resolved : colours[message.severity];
  return {
    text: slackText(title, maxFallback),
    attachments: [{ color: colour, fallback: slackText(title, maxFallback), blocks: blocksOf(message, title) }],
  };
}

function blocksOf(message: GroupMessage, title: string): KnownBlock[] {
  const { transitions } = message;
  const header: HeaderBlock = {
    type: 'header',
    text: { type: 'plain_text', text: slackText(title, maxHeader), emoji: false },
  };
  const alone = transitions.length === 1;
  const told = transitions.slice(0, maxSlackAlerts).map((transition) => section(alertText(transition, alone)));
  const left = transitions.length - told.length;
  const rest = left > 0 ? [context(`and ${left} more: the page has them all.`)] : [];
  return [
    header,
    ...told,
    ...rest,
    context([message.account, message.rule, momentText(message.at)].filter((part) => part).join(' · ')),
  ];
}

/** An alert in words: its title when it is one of several, what happened, since when, and where to look. */
function alertText(transition: Transition, alone: boolean): string {
  const { alert } = transition;
  const { title, sentences, numbers } = alert.facts;
  const page = numbers['page_url'];
  const link = typeof page === 'string' && page.length < linkRoom ? slackLink(page, 'Open the page') : '';
  const tail = [slackText(timesText(transition), 100), link].filter((text) => text !== '').join(' · ');
  const room = (alone ? maxSectionAlone : maxSectionInGroup + link.length) - tail.length - 1;
  const status = statusWords[transition.kind];
  const words = alone ? sentences.join('\n') : [`${status}${title}`, sentences.join(' ')].join('\n');
  return `${slackText(words || title, room)}\n${tail}`;
}

const statusWords = {
  resolved: 'Resolved: ',
  worsened: 'Worse: ',
  reminder: 'Still: ',
  firing: '',
  event: '',
} as const;

function timesText({ kind, alert }: Transition): string {
  if (kind === 'event') return momentText(alert.since);
  return kind === 'resolved' ? endedText(alert) : `Since ${momentText(alert.since)}`;
}

function endedText({ since, resolvedAt }: Alert): string {
  const until = resolvedAt ?? since;
  return `From ${momentText(since)} to ${momentText(until)}, ${spanText(until - since)}`;
}

/** verbatim: Slack neither looks for names and channels in the text nor turns addresses into links. */
function section(text: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

function context(text: string): ContextBlock {
  return { type: 'context', elements: [{ type: 'mrkdwn', text: slackText(text, 1_000), verbatim: true }] };
}
