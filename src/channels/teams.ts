// The Teams channel: a workflow's webhook (Power Automate) with one Adaptive Card. Source: learn.microsoft.com, "Post a
// workflow when a webhook request is received in Microsoft Teams" (28 KB a message, four requests a second).

import { z } from 'zod';
import { fieldsIn } from '../api/http/failure.ts';
import { serviceUrl } from '../world/schema/scalars.ts';
import { secret, section } from '../world/schema/section.ts';
import type { Clock } from '../world/world.ts';
import { type Channel, hookKeys } from './channel.ts';
import { type ChatSettings, chatChannel } from './chat.ts';
import {
  cutText,
  fitting,
  isCommand,
  type MessageItem,
  type MessageText,
  moreText,
  plainWriter,
} from './message-text.ts';

export const teamsSettings = section({
  ...hookKeys,
  url: secret(teamsUrl().describe("The workflow's address. Treated as a secret.")),
  type: z.literal('teams').describe('Microsoft Teams: a workflow that posts when a webhook request is received.'),
});

/** Signature in the address of a workflow. */
export const teamsSecret = /\bsig=[\w%-]{8,}/;

const retired =
  'is the address of an Office 365 connector, which Microsoft has retired: in Teams, add the workflow "Post to a channel when a webhook request is received" and write its address';

/** Refuses the older connectors. */
function teamsUrl() {
  return serviceUrl((url) => {
    const host = new URL(url).hostname;
    const isRetired =
      host === 'outlook.office.com' || host === 'outlook.office365.com' || host.endsWith('.webhook.office.com');
    return isRetired && retired;
  });
}

/** A little less than 28 KB, since Teams adds its own part. */
const maxCardBytes = 27_000;
const maxHeadline = 1_000;
const maxParagraph = 600;
/** Maximum length of the lead, in characters of up to four bytes; `maxLeadParagraphs` limits its paragraphs. */
const maxLead = 4_000;
const maxLeadParagraphs = 40;
const colours = { critical: 'attention', warning: 'warning', info: 'accent', resolved: 'good' } as const;

export function teamsChannel(settings: ChatSettings, clock: Clock): Channel {
  return chatChannel(
    {
      type: 'teams',
      who: 'Teams',
      minGapMs: 1_000,
      remedy: 'find the workflow in Teams (Workflows), switch it on or create it again, and set url to its address',
      write: payloadOf,
      read: answerIn,
    },
    settings,
    clock,
  );
}

function payloadOf(text: MessageText): object {
  const whole = cardOf(text, [], text.items.length + text.more);
  const room = maxCardBytes - bytesOf(whole);
  const blocks = text.items.map(itemBlocks);
  const { items, left } = fitting({ items: blocks, more: text.more }, room, bytesOf);
  return cardOf(text, items.flat(), left);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function cardOf(text: MessageText, list: readonly object[], left: number) {
  const more = moreText(left);
  const headline = cutText(text.headline, maxHeadline);
  const paragraphs = plainWriter
    .lines(text.lead, maxLead)
    .split('\n')
    .filter((paragraph) => paragraph !== '');
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: headline,
    msteams: { width: 'Full' },
    body: [
      runs([{ text: headline, weight: 'bolder', size: 'large', color: colours[text.tone] }]),
      ...paragraphs.slice(0, maxLeadParagraphs).map(words),
      ...list,
      ...(more === null ? [] : [runs([{ text: more, isSubtle: true }])]),
      runs([{ text: text.foot, isSubtle: true, size: 'small' }]),
    ],
    actions: text.links.map(({ label, url }) => ({ type: 'Action.OpenUrl', title: label, url })),
  };
  const card = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content };
  return { type: 'message', attachments: [card] };
}

function itemBlocks({ head, sentences, foot, url }: MessageItem): readonly object[] {
  const open = url === null ? {} : { selectAction: { type: 'Action.OpenUrl', title: 'Open', url } };
  return [
    ...(head === '' ? [] : [runs([{ text: cutText(head, maxParagraph), weight: 'bolder', ...open }], 'medium')]),
    ...sentences.map((sentence) => words(plainWriter.text(sentence, maxParagraph))),
    ...(foot === '' ? [] : [runs([{ text: foot, isSubtle: true, size: 'small' }])]),
  ];
}

/** A run (TextRun of adaptivecards.io) is shown as it is, not read as formatting, mention or link. */
function words(sentence: string): object {
  const parts = sentence.split(/(`[^`\n]*`)/).filter((part) => part !== '');
  return runs(parts.map((text) => (isCommand(text) ? { text: text.slice(1, -1), fontType: 'monospace' } : { text })));
}

function runs(inlines: readonly object[], spacing: 'small' | 'medium' = 'small'): object {
  return { type: 'RichTextBlock', spacing, inlines: inlines.map((inline) => ({ type: 'TextRun', ...inline })) };
}

/** A workflow answers 202, or JSON with an `error` that has a `code`, such as WorkflowTriggerIsNotEnabled. */
function answerIn(answer: string) {
  const { error } = fieldsIn(answer) ?? {};
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  const reason = /^[A-Za-z]{1,60}$/.test(code) ? code : '';
  return { reason, blamesSetup: reason === 'WorkflowTriggerIsNotEnabled' };
}
