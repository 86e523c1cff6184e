// Templates of messages: Mustache, which has no logic, over the facts of an alert. https://mustache.github.io/mustache.5.html
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Mustache, { type TemplateSpans } from 'mustache';
import type { Alert, Transition } from '../core/alert.ts';
import { type AlertRule, ruleBook } from '../core/alert-rules.ts';
import { domainOf, tagParts } from '../core/mailbox.ts';
import { fitsGlob } from '../core/mailbox-pattern.ts';
import { didYouMean, errorText } from '../core/nearest.ts';
import { momentText } from '../core/wording/phrases.ts';
import { isObject } from '../world/schema/json.ts';

/** Variables of a template: texts, lists, and mappings with further names. */
export type TemplateView = Readonly<Record<string, unknown>>;

/** `escaped` writes a value for the place where the template puts it; `{{{name}}}` leaves it out. */
export function filledIn(template: string, view: TemplateView, escaped: (value: unknown) => string = String): string {
  return Mustache.render(template, view, {}, { escape: escaped });
}

export function alertView({ kind, alert }: Pick<Transition, 'kind' | 'alert'>, zone: string): TemplateView {
  const { rule, severity, account, since, facts } = alert;
  const { title, sentences, numbers, tags = [], provider = '' } = facts;
  return {
    title,
    text: sentences.join('\n'),
    sentences,
    status: kind,
    resolved: kind === 'resolved',
    rule,
    severity,
    account,
    mailbox: alert.email ?? '',
    domain: domainIn(alert),
    provider,
    tags,
    tag: Object.fromEntries(tags.map(tagParts)),
    numbers,
    since: momentText(since, zone),
    url: numbers['page_url'] ?? '',
  };
}

/** Domain of the mailbox, or the one that the alert is about. */
function domainIn({ rule, email, object }: Alert): string {
  if (email !== null) return domainOf(email);
  const { shows } = ruleBook[rule];
  const isDomain = (shows === 'sender' || shows === 'shared') && /\.[a-z][a-z0-9-]*$/i.test(object ?? '');
  return isDomain ? (object ?? '') : '';
}

// Own words: templates of the configuration for the title and the text of alerts.

/** `rule` is a glob. The built-in templates are {{title}} and {{text}}. */
export interface AlertTemplate {
  readonly rule: string;
  readonly title?: string;
  readonly text?: string;
}

/** Variables whose words tell an end from a beginning. */
const tellsEnd = /\{\{[{&#^]?\s*(status|resolved|title|text|sentences)\b/;

/**
 * The alert with the words of its last template for each of title and text. The built-in ones stay where a template is
 * blank, and at an end that it would not tell from a beginning.
 */
export function inOwnWords(transition: Transition, templates: readonly AlertTemplate[], zone: string): Alert {
  const { alert } = transition;
  const own = templates.filter(({ rule }) => fitsGlob(rule, alert.rule));
  if (own.length === 0) return alert;
  const view = alertView(transition, zone);
  const linesOf = (key: 'title' | 'text') => {
    const template = own.findLast((one) => one[key] !== undefined)?.[key] ?? '';
    if (transition.kind === 'resolved' && !tellsEnd.test(template)) return [];
    return filledIn(template, view)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  };
  const [title, text] = [linesOf('title').join(' '), linesOf('text')];
  const { facts } = alert;
  return {
    ...alert,
    facts: { ...facts, title: title || facts.title, sentences: text.length > 0 ? text : facts.sentences },
  };
}

// Check of a template against the facts of sample alerts.

export type SampleAlerts = Readonly<Record<AlertRule, readonly Transition[]>>;

let read: SampleAlerts | null = null;

/** Sample alerts of each rule, with its causes. `npm run docs` writes the file. */
export function sampleAlerts(): SampleAlerts {
  const file = fileURLToPath(new URL('../../src/channels/samples.json', import.meta.url));
  read ??= JSON.parse(readFileSync(file, 'utf8')) as SampleAlerts;
  return read;
}

/** Reason why a template for the title or the text of a rule's alerts is wrong, or null. Takes what the file has. */
export function wordsComplaint(template: unknown, rule: unknown): string | null {
  if (typeof template !== 'string' || typeof rule !== 'string') return null;
  const samples = Object.entries(sampleAlerts()).filter(([name]) => fitsGlob(rule, name));
  const views = samples.map(([name, some]) => [name, mergedView(some.map((one) => alertView(one, 'UTC')))] as const);
  return templateComplaint(template, new Map(views));
}

/** Reason why a template is wrong, or null. `views`: the variables of each rule that it is for, by the rule's name. */
export function templateComplaint(template: string, views: ReadonlyMap<string, TemplateView>): string | null {
  let spans: TemplateSpans;
  try {
    spans = Mustache.parse(template);
  } catch (error) {
    return `can't be read as a template: ${errorText(error)}`;
  }
  const all = mergedView([...views.values()]);
  for (const [rule, view] of views) {
    const [name] = missingIn(spans, [view], all);
    if (name === undefined) continue;
    if (variable(name, [all]) !== undefined)
      return `alerts of the rule ${rule} have no ${name}: write {{#${name}}} before and {{/${name}}} after what needs it, or narrow rule`;
    const names = namesIn(all);
    const guess = didYouMean(name, names);
    return `has an unknown variable "${name}"${guess === '' ? `; known here: ${names.join(', ')}` : guess}`;
  }
  return null;
}

/** Variables of all these views: those of a mapping, such as `numbers`, and of the items of a list, too. */
export function mergedView(views: readonly TemplateView[]): TemplateView {
  const merged: Record<string, unknown> = {};
  for (const view of views) for (const [name, value] of Object.entries(view)) merged[name] = both(merged[name], value);
  return merged;
}

function both(before: unknown, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = [...(Array.isArray(before) ? before : []), ...value].filter(isObject);
    return items.length === 0 ? value : [mergedView(items)];
  }
  return isObject(value) && isObject(before) ? { ...before, ...value } : value;
}

/** Names without a value. What stands in a section is needed only if `all` has the section and the scopes do, too. */
function missingIn(spans: TemplateSpans, scopes: readonly TemplateView[], all: TemplateView): readonly string[] {
  return spans.flatMap(([type, name, , , inner]) => {
    if (type === 'text' || type === '!' || type === '=') return [];
    const value = variable(name, scopes);
    if (type === '>') return [`> ${name}`];
    if (value === undefined && variable(name, [all]) === undefined) return [name];
    if (type !== '#' && type !== '^') return value === undefined ? [name] : [];
    if (!Array.isArray(inner) || (type === '#' && value === undefined)) return [];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return missingIn(inner as TemplateSpans, isObject(first) ? [...scopes, first] : scopes, all);
  });
}

/** Undefined if no scope has the name. `.` is the item of a list. */
function variable(name: string, scopes: readonly TemplateView[]): unknown {
  // The names of tags are the user's own.
  if (name === '.' || /^tag\.\w/.test(name)) return '';
  const [first = '', ...rest] = name.split('.');
  const scope = scopes.findLast((one) => Object.hasOwn(one, first));
  const value = rest.reduce<unknown>(
    (inner, step) => (isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined),
    scope?.[first],
  );
  return value === null ? '' : value;
}

function namesIn(view: TemplateView): readonly string[] {
  return Object.entries(view).flatMap(([name, value]) =>
    isObject(value) ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
  );
}
