// A command before it is carried out: its effect, what can still be chosen, and the reason; and how it ended.
import { html } from 'hono/html';
import type { CommandOutcome, CommandResult } from '../../core/operator-command.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import { formTokenField } from './layout.ts';
import { ago, type Markup, prose, text } from './parts/elements.ts';

export interface CommandText {
  readonly title: string;
  readonly button: string;
  /** The path that the reader comes from. */
  readonly back: string;
  /** Under these words, what can be chosen is folded behind the button, which must not wait for that. */
  readonly folded?: string;
}

/** Something that can be chosen before the effect is shown. */
export interface CommandField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly kind: 'text' | 'number' | 'choice';
  readonly options?: readonly string[];
  readonly hint?: string | undefined;
}

/** What the command would do to one thing, or why it would do nothing. */
export interface CommandEffect {
  /** Empty where the command is about one thing. */
  readonly name: string;
  readonly outcome: CommandOutcome;
}

export interface CommandPageParts {
  readonly text: CommandText;
  /** The path of the form. */
  readonly path: string;
  readonly fields: readonly CommandField[];
  /** Names and values that the form carries along. */
  readonly given: readonly (readonly [name: string, value: string])[];
  /** Empty while something is to be chosen. */
  readonly effects: readonly CommandEffect[];
  /** The plan that the reader agrees to; null: there is nothing to carry out. */
  readonly plan: string | null;
  readonly formToken: string;
  readonly reason: string;
  /** A sentence about what the reader sent; null: nothing is wrong with it. */
  readonly problem: string | null;
}

/** As long as a reason may be, letters. */
export const maxReasonLength = 1_000;

export function commandPage(parts: CommandPageParts): Markup {
  const { fields, effects, plan, problem } = parts;
  const folded = plan === null ? undefined : parts.text.folded;
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${parts.text.back}">Back</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">${text(parts.text.title)}</h1>
${problem === null ? '' : html`<p class="bad" role="alert">${prose(problem)}</p>`}
${fields.length === 0 || folded !== undefined ? '' : choiceForm(parts)}
${effects.length === 0 ? '' : html`<h2>${headingOf(parts)}</h2>${effectList(effects)}`}
${plan === null ? '' : confirmForm(parts, plan)}
${folded === undefined ? '' : html`<details><summary>${folded}</summary>${choiceForm(parts)}</details>`}
</section>`;
}

function headingOf({ effects, plan }: CommandPageParts): string {
  if (plan !== null) return 'What will happen';
  return effects.some(({ outcome }) => outcome.result === 'invalid') ? 'Not possible like this' : 'Nothing to do';
}

/** A GET: it only shows what would happen. */
function choiceForm({ path, fields, given }: CommandPageParts): Markup {
  return html`<form method="get" action="${path}">${hidden(given)}
${fields.map(fieldMarkup)}
<p><button type="submit">Show the effect</button></p></form>`;
}

function fieldMarkup({ name, label, value, kind, options = [], hint }: CommandField): Markup {
  const id = `field-${name}`;
  const described = hint === undefined ? '' : html` aria-describedby="${id}-hint"`;
  const control =
    kind === 'choice'
      ? html`<select id="${id}" name="${name}" required><option value="">Choose …</option>${options.map((option) => html`<option value="${option}"${option === value ? html` selected` : ''}>${option}</option>`)}</select>`
      : html`<input id="${id}" name="${name}" type="${kind}" value="${value}" maxlength="${maxReasonLength}"${kind === 'number' ? html` min="1" required inputmode="numeric"` : ''}${described} autocomplete="off">`;
  return html`<p class="field"><label for="${id}">${label}</label> ${control}${hint === undefined ? '' : html` <small id="${id}-hint">${hint}</small>`}</p>`;
}

function effectList(effects: readonly CommandEffect[]): Markup {
  return html`<ul class="events">${effects.map(
    ({ outcome }) => html`<li>${outcome.messages.map((message) => html`<p>${prose(message)}</p>`)}</li>`,
  )}</ul>`;
}

function confirmForm(parts: CommandPageParts, plan: string): Markup {
  const { path, fields, given, formToken, reason } = parts;
  const chosen = fields.map(({ name, value }) => [name, value] as const);
  return html`<form method="post" action="${path}">${hidden([...given, ...chosen, ['plan', plan], [formTokenField, formToken]])}
<p class="field"><label for="reason">Reason, for the audit log</label>
<input id="reason" name="reason" type="text" value="${reason}" maxlength="${maxReasonLength}" required autocomplete="off"></p>
<p class="line"><button class="primary" type="submit">${parts.text.button}</button> <a href="${parts.text.back}">Cancel</a></p></form>`;
}

function hidden(pairs: readonly (readonly [string, string])[]): readonly Markup[] {
  return pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** A command that was begun on the page. */
export interface CommandRun {
  readonly text: CommandText;
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
  /** How many requests it consists of, and the outcomes so far. */
  readonly total: number;
  readonly outcomes: readonly CommandEffect[];
}

const resultWords: Readonly<Record<CommandResult, { readonly word: string; readonly tone: string }>> = {
  planned: { word: 'not done', tone: 'info' },
  done: { word: 'done', tone: 'confirmed' },
  no_change: { word: 'no change', tone: 'info' },
  changed: { word: 'not done', tone: 'warning' },
  invalid: { word: 'not done', tone: 'critical' },
  failed: { word: 'failed', tone: 'critical' },
};

export function commandRunPage(run: CommandRun, now: EpochMs): Markup {
  const { total, outcomes } = run;
  const left = total - outcomes.length;
  const items = outcomes.map(({ name, outcome }) => {
    const { word, tone } = resultWords[outcome.result];
    return html`<li class="${tone}"><p class="line"><span class="badge ${tone}">${word}</span> ${text(name)}</p>
${outcome.messages.map((message) => html`<p>${prose(message)}</p>`)}</li>`;
  });
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${run.text.back}">Back</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">${text(run.text.title)}</h1>
<p class="muted">${text(run.by)}, ${ago(run.at, now)}: ${text(run.reason)}</p>
<div role="status">
${left === 0 ? '' : html`<p><span class="badge waiting">in progress</span> ${counted(left, 'command is', 'commands are')} being carried out and read back. This page updates itself.</p>`}
<ul class="events">${items}</ul></div>
<p><a href="${run.text.back}">Back</a></p>
</section>`;
}
