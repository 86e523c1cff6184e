// Own words: each channel gets an alert in the words of the last template for its rule; what is about no single alert keeps its own.
import { expect, test } from 'vitest';
import { inOwnWords, sampleAlerts, wordsComplaint } from '../../src/channels/template.ts';
import { alertRules } from '../../src/core/alert-rules.ts';
import { hourMs } from '../../src/core/time.ts';
import { sampleAlert } from '../alerts/samples.ts';
import { collectorRig } from './collector-rig.ts';

const templates = [
  { rule: '*', title: '{{account}}: {{title}}', text: '{{{text}}}\n\nCall {{rule}}.' },
  { rule: 'stale_*', title: '{{mailbox}} at {{domain}} <{{status}}> {{numbers.unheard}}' },
];
const mails = 'bob@acme.example';
const alert = (number: number) => sampleAlert(number, { email: mails, mailboxId: `m${number}` });

test('an alert has its own title and text from the first message to the end; a group and the page keep the built-in ones', async () => {
  const at = collectorRig({ mailboxes: [], settings: { templates } });
  const built = alert(1).facts;
  at.fire(alert(1));
  await at.run(hourMs);
  at.end({ ...alert(1), firingAt: at.now() });
  await at.run(hourMs);
  expect(at.sent.map(({ title }) => title)).toEqual([
    expect.stringContaining(`: ${mails} at acme.example <firing>`),
    `Resolved: ${mails} at acme.example <resolved>`,
  ]);
  const [first] = at.sent[0]?.message.transitions ?? [];
  expect(first?.alert.facts.sentences).toEqual([...built.sentences, 'Call stale_data.']);
  expect([...at.fleet.alerts()].every(({ facts }) => facts.title === built.title)).toBe(true);
  at.fire(...[2, 3, 4].map(alert));
  await at.run(hourMs);
  expect(at.sent.at(-1)?.title).not.toContain(mails);
  expect(at.sent.at(-1)?.message.transitions.map((one) => one.alert.facts.title)[2]).toContain(`${mails} at`);
});

test('an empty template leaves the built-in words, and names are never a template', () => {
  const facts = { title: '{{account}} {{{text}}} <b>&', sentences: ['{{#sentences}}'], numbers: {} };
  const transition = { kind: 'firing', at: 0, alert: sampleAlert(1, { facts }) } as const;
  const words = (...own: Parameters<typeof inOwnWords>[1]) => inOwnWords(transition, own, 'UTC').facts;
  expect(words({ rule: '*', title: '{{#numbers.none}}x{{/numbers.none}}', text: ' \n' })).toEqual(facts);
  expect(words({ rule: 'dns_*', title: 'x' })).toEqual(facts);
  expect(words({ rule: '*', title: '{{title}}' }).title).toBe(facts.title);
});

test.each([
  ['{{mailbox}} stopped', 'built', 'Call Ann.', 'built'],
  [
    '{{mailbox}} stopped{{#resolved}}, and is well{{/resolved}}',
    `${mails} stopped, and is well`,
    '{{status}}',
    'resolved',
  ],
  ['North: {{title}}', 'North: built', '{{{text}}} Call Ann.', 'built Call Ann.'],
])(
  'the end of an alert has the words of %s and a text only if they tell it from its beginning',
  (title, ended, text, body) => {
    const facts = { title: 'built', sentences: ['built'], numbers: {} };
    const words = (kind: 'firing' | 'resolved') =>
      inOwnWords({ kind, at: 0, alert: { ...alert(1), facts } }, [{ rule: '*', title, text }], 'UTC').facts;
    expect(words('firing').title).toMatch(/stopped$|^North/);
    expect(words('resolved')).toMatchObject({ title: ended, sentences: [body] });
  },
);

test.each([
  ['dns_failing', 'acme.example', 'acme.example'],
  ['shared_bounces', 'whole account', ''],
  ['blacklisted', '203.0.113.7', ''],
  ['channel_failing', 'ops.mail', ''],
] as const)('the domain of %s about %s is "%s"', (rule, object, domain) => {
  const about = sampleAlert(1, { rule, object, email: null, mailboxId: null });
  const own = [{ rule: '*', title: '<{{domain}}>' }];
  expect(inOwnWords({ kind: 'firing', at: 0, alert: about }, own, 'UTC').facts.title).toBe(`<${domain}>`);
});

test('a template has the tags, one by its name, and the provider of a mailbox that the fleet knows', async () => {
  const title = '{{tag.client}}/{{#tags}}{{.}} {{/tags}}/{{tag.none}}/{{provider}}';
  expect(wordsComplaint(title, '*')).toBeNull();
  const facts = { ...alert(1).facts, tags: ['client=north', 'vip'], provider: 'google' };
  const own = [{ rule: '*', title }];
  const worded = inOwnWords({ kind: 'firing', at: 0, alert: { ...alert(1), facts } }, own, 'UTC');
  expect(worded.facts.title).toBe('north/client=north vip //google');
  const at = collectorRig({ settings: { templates: [{ rule: '*', title: '{{mailbox}} at {{provider}}.' }] } });
  const [known] = [...at.fleet.mailboxes()];
  at.fire(sampleAlert(1, { mailboxId: known?.id ?? '', email: known?.email ?? '', account: known?.account ?? '' }));
  const [sent] = await at.run(hourMs);
  expect(sent?.title).toContain(`${known?.email} at google.`);
});

test('every rule has examples, and the built-in templates and all its own variables are right for them', () => {
  expect(Object.keys(sampleAlerts())).toEqual([...alertRules]);
  for (const [rule, samples] of Object.entries(sampleAlerts())) {
    const numbers = samples.flatMap((sample) => Object.keys(sample.alert.facts.numbers));
    expect(wordsComplaint(`{{title}} ${numbers.map((name) => `{{numbers.${name}}}`).join('')}`, rule), rule).toBeNull();
    expect(
      wordsComplaint('{{text}}{{#sentences}}{{.}}{{/sentences}}{{^mailbox}}{{account}}{{/mailbox}}', rule),
    ).toBeNull();
    expect(wordsComplaint('{{numbers.unheard}}', rule)).toContain('unknown variable "numbers.unheard"');
  }
});

test.each([
  ['{{#numbers.held}}{{numbers.held}} held{{/numbers.held}}', 'guard_*', null],
  ['{{#numbers}}{{reason}}{{/numbers}}', 'guard_held', expect.stringContaining('unknown variable "reason"')],
  ['{{=<% %>=}}<%title%>', '*', null],
  ['{{constructor}}', '*', expect.stringContaining('unknown variable')],
  ['{{> title}}', '*', expect.stringContaining('unknown variable')],
])('%s for %s', (template, rule, said) => {
  expect(wordsComplaint(template, rule)).toEqual(said);
});
