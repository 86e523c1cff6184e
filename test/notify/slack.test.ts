// Slack payloads stay within Slack's documented limits, and what mailboxes are called cannot ring anybody's phone.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GroupMessage, messageOf } from '../../src/alert/grouping.ts';
import type { Transition } from '../../src/model/alert.ts';
import { hourMs } from '../../src/model/time.ts';
import { slackChannel } from '../../src/notify/slack.ts';
import { slackText } from '../../src/notify/slack-text.ts';
import { movedClock } from '../../src/world.ts';
import { firing, resolved, sampleAlert, start } from '../alert/samples.ts';

interface TextObject {
  readonly type: string;
  readonly text: string;
  readonly verbatim?: boolean;
}
interface Block {
  readonly type: string;
  readonly text?: TextObject;
  readonly elements?: readonly TextObject[];
}
interface Payload {
  readonly text: string;
  readonly attachments: readonly {
    readonly color: string;
    readonly fallback: string;
    readonly blocks: readonly Block[];
  }[];
}

/** What breaks Slack's documented limits (docs.slack.dev, "Reference: blocks"); empty when nothing does. */
function faultsOf(payload: Payload): string[] {
  const blocks = payload.attachments.flatMap((attachment) => attachment.blocks);
  const faults = blocks.length > 50 ? [`${blocks.length} blocks`] : [];
  const texts = [
    payload.text,
    ...blocks.flatMap(({ text, elements }) => [text, ...(elements ?? [])].map((one) => one?.text ?? '')),
  ];
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  if (total > 13_000) faults.push(`${total} characters in all`);
  if (texts.some((text) => /<(?!https?:\/\/)|&(?!amp;|lt;|gt;)/.test(text))) faults.push('unescaped text');
  for (const { type, text, elements } of blocks) {
    const length = text?.text.length ?? 0;
    if (type === 'header' && (text?.type !== 'plain_text' || length > 150 || length === 0))
      faults.push(`header of ${length}`);
    if (type === 'section' && (length > 3_000 || length === 0)) faults.push(`section of ${length}`);
    if (type === 'context' && (elements?.length ?? 0) > 10) faults.push('context of too many');
    if (text?.type === 'mrkdwn' && text.verbatim !== true) faults.push('a text that Slack would search for names');
  }
  return faults;
}

const channel = slackChannel({ name: 'ops', url: 'http://127.0.0.1:1/' }, movedClock(start));

function rendered(transitions: readonly Transition[]): Payload {
  return JSON.parse(channel.render(messageOf('acme|stale_data', transitions, start) as GroupMessage).payload);
}

function named(name: string, sentences: readonly string[] = [name]) {
  const facts = {
    title: `${name}: stale`,
    sentences,
    numbers: { page_url: 'http://127.0.0.1:7025/mailboxes/acme/m1' },
  };
  return sampleAlert(1, { facts });
}

test('one alert: its title, its sentences, since when, and the link', () => {
  const payload = rendered([firing(named('bob@acme.example', ['It is stale.', 'Look at it.']))]);
  expect(faultsOf(payload)).toEqual([]);
  expect(payload.text).toBe('Warning: bob@acme.example: stale');
  expect(payload.attachments[0]?.color).toBe('#f79009');
  expect(payload.attachments[0]?.blocks.map(({ type }) => type)).toEqual(['header', 'section', 'context']);
  expect(payload.attachments[0]?.blocks[1]?.text?.text).toBe(
    'It is stale.\nLook at it.\nSince 20 March 10:02 UTC · <http://127.0.0.1:7025/mailboxes/acme/m1|Open the page>',
  );
});

test('2,000 alerts: twenty in words, the count of the rest, within every limit', () => {
  const long = 'The statistics <are> & remain stale. '.repeat(200);
  const transitions = Array.from({ length: 2_000 }, (_, number) =>
    firing(sampleAlert(number, { facts: { ...named('bob').facts, sentences: [long] } })),
  );
  const payload = rendered(transitions);
  expect(faultsOf(payload)).toEqual([]);
  expect(payload.text).toBe('Warning: acme: stale statistics (2000)');
  const blocks = payload.attachments[0]?.blocks ?? [];
  expect(blocks.filter(({ type }) => type === 'section')).toHaveLength(20);
  expect(blocks.at(-2)?.elements?.[0]?.text).toBe('and 1980 more: the page has them all.');
});

test('what resolved is green and carries since and until; a mixed message says how many', () => {
  const payload = rendered([resolved(sampleAlert(1), start + hourMs)]);
  expect(payload.attachments[0]?.color).toBe('#12b76a');
  expect(payload.text).toMatch(/^Resolved: /);
  expect(payload.attachments[0]?.blocks[1]?.text?.text).toContain(
    'From 20 March 10:02 UTC to 20 March 11:02 UTC, 60 min',
  );
  const mixed = rendered([firing(sampleAlert(1)), resolved(sampleAlert(2))]);
  expect(mixed.text).toBe('Warning: acme: stale statistics (2, 1 of them resolved)');
});

test('markup, mentions and marks in names are harmless', () => {
  const payload = rendered([
    firing(named('<!channel> <@U123> @here `x` <https://evil.example|safe> \u202egnp.exe a&b\u0000')),
  ]);
  const text = JSON.stringify(payload);
  expect(faultsOf(payload)).toEqual([]);
  expect(text).not.toMatch(/<!|<@|@here|<https:\/\/evil|\u202e|\\u0000|`/);
  expect(text).toContain('&lt;!channel&gt;');
  expect(slackText('write to bob@here.example', 100)).toBe('write to bob@here.example');
});

test('any text is cut to its limit without breaking an entity', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '&', '<', '>', '😀', '@here', ' ') }),
      fc.integer({ min: 8, max: 60 }),
      (text, max) => {
        const out = slackText(text, max);
        expect(out.length).toBeLessThanOrEqual(max);
        expect(out).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
        expect(out.isWellFormed()).toBe(true);
      },
    ),
  );
});

test('the validator of this file sees what it should (its own control)', () => {
  const bad = (blocks: Block[]) => faultsOf({ text: 'x', attachments: [{ color: '', fallback: '', blocks }] });
  expect(bad(Array.from({ length: 51 }, () => ({ type: 'divider' })))).toEqual(['51 blocks']);
  expect(bad([{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }])).toEqual(['header of 151']);
  expect(bad([{ type: 'section', text: { type: 'mrkdwn', text: '<!here>', verbatim: true } }])).toEqual([
    'unescaped text',
  ]);
});
