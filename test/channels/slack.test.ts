// Slack payloads stay within Slack's documented limits, however many mailboxes are in an incident, and what mailboxes are called cannot ring anybody's phone.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actedEvent } from '../../src/alerts/rules/action-rules.ts';
import { messageText } from '../../src/channels/message-text.ts';
import { slackChannel, slackWriter } from '../../src/channels/slack.ts';
import { type Alert, alertId, type Transition } from '../../src/core/alert.ts';
import { hourMs } from '../../src/core/time.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { firing, resolved, sampleAction, sampleAlert, sampleContext, start } from '../alerts/samples.ts';
import { slackFaults } from '../support/slack-limits.ts';
import { messageAbout, messageWith } from './people.ts';

interface Block {
  readonly type: string;
  readonly text?: { readonly text: string };
  readonly elements?: readonly { readonly text: string; readonly url?: string }[];
}
interface Payload {
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly attachments: readonly { readonly color: string; readonly blocks: readonly Block[] }[];
}

const page = 'http://127.0.0.1:7025';
const settings = { name: 'ops', url: 'http://127.0.0.1:1/', pageUrl: page, publicUrl: null, timeZone: () => 'UTC' };
const channel = slackChannel(settings, movedClock(start));

/** Within every limit of Slack. */
function rendered(transitions: readonly Transition[], by = channel): Payload {
  const payload = JSON.parse(by.render(messageWith(transitions))?.payload ?? '');
  expect(slackFaults(payload)).toEqual([]);
  return payload;
}
const blocksOf = ({ attachments }: Payload) => attachments[0]?.blocks ?? [];

function named(name: string, sentences: readonly string[] = [name], numbers: Alert['facts']['numbers'] = {}) {
  const links = { page_url: `${page}/mailboxes/acme/m1`, runbook_url: `${page}/runbooks#stale_data` };
  return sampleAlert(1, { facts: { title: `${name}: stale`, sentences, numbers: { ...links, ...numbers } } });
}

test('one alert: its title, its sentences, the link, and when, once', () => {
  const payload = rendered([firing(named('bob@acme.example', ['It is stale.', 'Look at it.']))]);
  expect(payload.text).toBe('Warning: bob@acme.example: stale');
  expect(payload.attachments[0]?.color).toBe('#f79009');
  const blocks = blocksOf(payload);
  expect(blocks.map(({ type }) => type)).toEqual(['section', 'actions', 'context']);
  expect(blocks[0]?.text?.text).toBe('It is stale.\nLook at it.');
  expect(JSON.stringify(payload).match(/20 March 10:02 UTC/g)).toHaveLength(1);
  const since = firing(named('bob@acme.example', ['It has failed since 20 March 09:59 UTC.']));
  const at = { ...since, alert: { ...since.alert, since: since.alert.since - 180_000 } };
  expect(JSON.stringify(rendered([at])).match(/09:59 UTC/g)).toHaveLength(1);
  expect(JSON.stringify(rendered([{ ...at, alert: { ...at.alert, facts: named('bob').facts } }]))).toContain(
    'Since 20 March 09:59 UTC',
  );
  const links = [`${page}/mailboxes/acme/m1`, `${page}/runbooks#stale_data`];
  expect(blocks[1]?.elements?.map(({ url }) => url)).toEqual(links);
});

test('the same advice of several alerts stands once, above them', () => {
  const advice = 'Find out which tool does this.';
  const alerts = [1, 2].map((number) =>
    firing(sampleAlert(number, { facts: { ...named('bob').facts, sentences: [`It is ${number}.`, advice] } })),
  );
  const { lead, items } = messageText(messageWith(alerts), settings);
  expect(lead).toEqual([advice]);
  expect(items.map(({ sentences }) => sentences)).toEqual([['It is 1.'], ['It is 2.']]);
});

test('2,000 alerts: twenty in words, the count of the rest, within every limit', () => {
  const long = 'The statistics <are> & remain stale. '.repeat(200);
  const transitions = Array.from({ length: 2_000 }, (_, number) =>
    firing(sampleAlert(number, { facts: { ...named('bob').facts, sentences: [long] } })),
  );
  const payload = rendered(transitions);
  expect(payload.text).toBe('Warning: acme: data out of date (2000)');
  const blocks = blocksOf(payload);
  expect(blocks.filter(({ type }) => type === 'section')).toHaveLength(20);
  expect(blocks.at(-3)?.elements?.[0]?.text).toBe('and 1,980 more: see the page.');
  expect(blocks.at(-2)?.elements?.[0]?.url).toBe('http://127.0.0.1:7025');
});

test('what resolved is green and carries since and until; a mixed message says how many', () => {
  const payload = rendered([resolved(sampleAlert(1), start + hourMs)]);
  expect(payload.attachments[0]?.color).toBe('#12b76a');
  expect(payload.text).toMatch(/^Resolved: /);
  const said = (...transitions: Transition[]) => blocksOf(rendered(transitions))[0]?.text?.text;
  expect(said(resolved(sampleAlert(1), start + hourMs))).toContain(
    'From 20 March 10:02 UTC to 20 March 11:02 UTC, 60 min',
  );
  expect(said(resolved(sampleAlert(1), start + 1_000))).toContain('On 20 March 10:02 UTC, for 1 s');
  const mixed = rendered([firing(sampleAlert(1)), resolved(sampleAlert(2))]);
  expect(mixed.text).toBe('Warning: acme: data out of date (2, 1 of them resolved)');
});

test('markup, mentions and marks in names are harmless', () => {
  const name = '<!channel> <@U123> @here `x` <https://evil.example|safe> \u202egnp.exe a&b\u0000';
  const payload = rendered([firing(named(name))]);
  const text = JSON.stringify(payload);
  expect(text).not.toMatch(/<!|<@|@here|<https:\/\/evil|\u202e|\\u0000|`/);
  expect(text).toContain('&lt;!channel&gt;');
  expect(slackWriter.text('write to bob@here.example', 100)).toBe('write to bob@here.example');
});

test('a command is never cut: half of one might run, and do something else', () => {
  const text = 'Paused. To undo this: `warmwarden resume acme/bob@acme.example`, or wait.';
  expect(slackWriter.text(text, 100)).toBe("Paused. To undo this: 'warmwarden resume acme/bob@acme.example', or wait.");
  for (let max = 23; max < 64; max += 1) expect(slackWriter.text(text, max)).toBe('Paused. To undo this: …');
});

test('of several actions each has its whole command, and the words before it make room', () => {
  const undo = (number: number) =>
    `To undo this: \`warmwarden mode acme/bob${number}@acme.example balanced\`, or in the warm-up service.`;
  const why = 'Bounces went over the limit, and that is told at length. '.repeat(8);
  for (const count of [2, 20]) {
    const acted = Array.from({ length: count }, (_, number) => {
      const facts = {
        ...named(`bob${number}@acme.example`).facts,
        sentences: [`${number}: ${why}`, undo(number), `And more of ${number}.`],
      };
      return firing(sampleAlert(number, { facts }));
    });
    const payload = rendered(acted);
    const sections = blocksOf(payload).filter(({ type }) => type === 'section');
    expect(sections).toHaveLength(count);
    for (const { text } of sections) {
      expect(text?.text).toMatch(
        /To undo this: 'warmwarden mode acme\/bob\d+@acme\.example balanced', or in the warm-up service\./,
      );
      if (count === 2) expect(text?.text).toContain('And more of ');
    }
  }
  expect(slackWriter.lines(['a'.repeat(90), 'Then `b c`.'], 40)).toBe(`${'a'.repeat(27)}…\nThen 'b c'.`);
});

test('any text is cut to its limit without breaking an entity', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '&', '<', '>', '😀', '@here', ' ') }),
      fc.integer({ min: 8, max: 60 }),
      (text, max) => {
        const out = slackWriter.text(text, max);
        expect(out.length).toBeLessThanOrEqual(max);
        expect(out).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
        expect(out.isWellFormed()).toBe(true);
      },
    ),
  );
});

test('worse, still and resolved read as such, alone and in a group', () => {
  const worse = { ...firing(named('bob@acme.example')), kind: 'worsened' } as const;
  const still = { ...firing(sampleAlert(2)), kind: 'reminder' } as const;
  expect(rendered([worse]).text).toBe('Worse, warning: bob@acme.example: stale');
  expect(rendered([still]).text).toBe('Still warning: bob2@acme.example: stale statistics');
  const blocks = blocksOf(rendered([worse, still, resolved(sampleAlert(3))]));
  expect(blocks.slice(0, 3).map(({ text }) => text?.text.split(':')[0])).toEqual(['*Worse', '*Still', '*Resolved']);
});

test('an address that is no plain link is no button and no link', () => {
  const links = { page_url: 'javascript:alert(1)', runbook_url: 'http://a.example/<x>' };
  const blocks = blocksOf(rendered([firing(named('bob', [], links))]));
  expect(blocks.map(({ type }) => type)).toEqual(['context']);
});

test('buttons open the page with the command prepared, when people can reach it', () => {
  const reached = slackChannel({ ...settings, publicUrl: page }, movedClock(start));
  const buttonsOf = (...transitions: readonly Transition[]) => {
    const actions = blocksOf(rendered(transitions, reached)).find(({ type }) => type === 'actions');
    return actions?.elements?.map(({ text, url }) => `${(text as unknown as { text: string }).text} ${url}`);
  };
  const open = `Open ${page}/mailboxes/acme/m1`;
  const advice = (rule: string) => `What to do ${page}/runbooks#${rule}`;
  const stale = named('bob@acme.example');
  const mute = `Silence 4 h ${page}/silences?rule=stale_data&account=acme&mailbox=bob1%40acme.example&for=4h&do=add`;
  const acknowledge = `Acknowledge ${page}/alerts?alert=${alertId(stale)}&do=acknowledge`;
  expect(buttonsOf(firing(stale))).toEqual([open, advice('stale_data'), acknowledge, mute]);
  expect(buttonsOf(resolved(stale))).toEqual([open, advice('stale_data')]);
  const pauseAt = (outcome: string, action = 'pause') => {
    const links = { action, outcome, runbook_url: `${page}/runbooks#guard_acted` };
    const { facts } = named('bob@acme.example', [], links);
    return { kind: 'event', at: start, alert: sampleAlert(1, { rule: 'guard_acted', object: 'a1', facts }) } as const;
  };
  const resume = `Resume ${page}/mailboxes?mailbox=acme%2Fm1&do=resume`;
  expect(buttonsOf(pauseAt('confirmed'))).toEqual([open, advice('guard_acted'), resume]);
  expect(buttonsOf(pauseAt('refused'))).toEqual([open, advice('guard_acted')]);
  expect(buttonsOf(pauseAt('confirmed', 'recovery'))).toEqual([open, advice('guard_acted')]);
  expect(buttonsOf(firing(stale), firing(sampleAlert(2)))).toEqual([
    `Open ${page}`,
    `Acknowledge ${page}/alerts?rule=stale_data&account=acme`,
    `Silence 4 h ${page}/silences?rule=stale_data&account=acme&for=4h&do=add`,
  ]);
});

test('a digest is within the limits, whatever the lines hold', () => {
  const sections = Array.from({ length: 30 }, () => ({ heading: '<!here> & so', lines: ['x & <y>'.repeat(900), ''] }));
  const notice = channel.renderNotice({ name: 'digest', title: 'The day', at: start, sections });
  expect(slackFaults(JSON.parse(notice?.payload ?? ''))).toEqual([]);
});

test('a thousand mailboxes fit as well, and so does an end that tells of nothing else', () => {
  for (const message of [messageAbout(1_000, 'grew'), messageAbout(16, 'ended')]) {
    const payload = JSON.parse(channel.render(message)?.payload ?? '');
    expect(slackFaults(payload)).toEqual([]);
    expect(JSON.stringify(payload)).toContain('"url":"https://warden.example/#inc_sample"');
  }
  const ended = channel.render(messageAbout(16, 'ended'));
  expect(ended?.title).toMatch(/^Resolved: Provider google: 16 mailboxes/);
  expect(ended?.payload).toContain('It lasted from 20 March 10:02 UTC');
});

test('several actions: the title says what was done, and each mailbox has its counts and the way back only', () => {
  const events = (['pause', 'recovery', 'recovery'] as const).map((kind, number) => {
    const action = sampleAction({ kind, email: `bob${number}@acme.example`, mailboxId: `m${number}` });
    return actedEvent(action, sampleContext()) ?? expect.fail();
  });
  const { headline, lead, items } = messageText(messageWith(events), settings);
  expect(headline).toContain('1 warm-up paused, 2 mailboxes switched to recovery mode');
  expect(lead.join()).toContain('Campaigns still send from a paused mailbox');
  expect(headline).not.toContain('(3)');
  for (const { sentences } of items)
    expect(sentences).toEqual([expect.stringContaining('4 bounces'), expect.stringMatching(/`/)]);
});

test('times are those of the zone that is configured when the message is made', () => {
  let zone = 'UTC';
  const here = slackChannel({ ...settings, timeZone: () => zone }, movedClock(start));
  const said = () => JSON.stringify(rendered([firing(named('bob@acme.example'))], here));
  expect(said()).toMatch(/\d+ March \d\d:\d\d UTC/);
  zone = 'Europe/Berlin';
  expect(said()).toMatch(/\d+ March \d\d:\d\d Europe\/Berlin/);
});
