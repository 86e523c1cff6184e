// The body of an email: a message as plain text, and the same as simple HTML, which every mail program shows.
import { fittedSentences, fittedText, fitting, type MessageItem, type MessageText, moreText } from './message-text.ts';

/** Characters: nobody reads more of an email. */
const maxBody = 50_000;
const maxLead = 15_000;
const maxItem = 4_000;
const signature = 'Sent by Warmwarden.';

export function textBody(text: MessageText): string {
  const { items, left } = itemsOf(text);
  const listed = items.map(({ head, words, foot, url }) =>
    lines(head && `* ${head}`, indented(words), indented(foot), indented(url ?? '')),
  );
  const links = text.links.map(({ label, url }) => `${label}: ${url}`);
  const paragraphs = [
    text.headline,
    leadOf(text),
    ...listed,
    moreText(left) ?? '',
    links.join('\n'),
    lines('-- ', `${text.foot}`, signature),
  ];
  return `${paragraphs.filter((one) => one !== '').join('\n\n')}\n`;
}

export function htmlBody(text: MessageText): string {
  const { items, left } = itemsOf(text);
  const listed = items.map(({ head, words, foot, url }) => {
    const title = url === null ? escaped(head) : linkText(head || 'Open', url);
    const small = foot === '' ? '' : `<small>${escaped(foot)}</small>`;
    const parts = [`<strong>${title}</strong>`, prose(words), small].filter((part) => part !== '');
    return `<li>${parts.join('<br>')}</li>`;
  });
  const more = moreText(left);
  const links = text.links.map(({ label, url }) => linkText(label, url)).join(' · ');
  return [
    '<!doctype html><html><head><meta charset="utf-8"></head><body style="font-family:sans-serif">',
    `<p><strong style="color:${colours[text.tone]}">${escaped(text.headline)}</strong></p>`,
    ...(text.lead.length === 0 ? [] : [`<p>${prose(leadOf(text))}</p>`]),
    ...(listed.length === 0 ? [] : [`<ul>${listed.join('')}</ul>`]),
    ...(more === null ? [] : [`<p>${escaped(more)}</p>`]),
    ...(links === '' ? [] : [`<p>${links}</p>`]),
    `<p><small>${escaped(text.foot)}<br>${signature}</small></p></body></html>`,
  ].join('\n');
}

const colours = { critical: '#b42318', warning: '#b54708', info: '#175cd3', resolved: '#027a48' } as const;
const asWritten = (piece: string) => piece;

interface ItemWords extends Pick<MessageItem, 'head' | 'foot' | 'url'> {
  readonly words: string;
}

function leadOf({ lead }: MessageText): string {
  return fittedSentences(lead, { separator: '\n', max: maxLead, write: asWritten });
}

function itemsOf(text: MessageText) {
  const all = text.items.map(({ head, sentences, foot, url }): ItemWords => {
    const words = fittedSentences(sentences, { separator: '\n', max: maxItem, write: asWritten });
    return { head: fittedText(head, maxItem, asWritten), words, foot, url };
  });
  return fitting(
    { items: all, more: text.more },
    maxBody,
    ({ head, words, foot }) => head.length + words.length + foot.length,
  );
}

function lines(...all: readonly string[]): string {
  return all.filter((line) => line !== '').join('\n');
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Sentences with their line breaks; a command in a fixed font. */
function prose(text: string): string {
  return escaped(text)
    .replace(/`([^`\n]*)`/g, '<code>$1</code>')
    .replaceAll('\n', '<br>');
}

function linkText(label: string, url: string): string {
  return `<a href="${escaped(url)}">${escaped(label)}</a>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
