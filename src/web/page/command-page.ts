// Page of a command before it runs: its effect, its open choices, and the reason. Also the page of its outcome.
import { html } from 'hono/html';
import type { CommandOutcome, CommandResult } from '../../core/operator-command.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import { formTokenField } from './layout.ts';
import { ago, type Markup, prose, text } from './parts/elements.ts';

export interface CommandText {
  readonly title: string;
  readonly button: string;
  readonly back: string;
  /** Title of a folded section that holds the choices, below the button: the button must be usable at once. */
  readonly folded?: string;
}

export interface CommandField {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly kind: 'text' | 'number' | 'choice' | 'duration';
  readonly options?: readonly string[];
  readonly hint?: string;
  readonly optional?: boolean;
  readonly limits?: { readonly min: number | null; readonly max: number | null; readonly step: '1' | 'any' };
}

/** Effect of the command on one subject, or the reason why it has none. */
export interface CommandEffect {
  /** The email address among several mailboxes, or else empty. */
  readonly name: string;
  readonly outcome: CommandOutcome;
}

export interface CommandPageParts {
  readonly text: CommandText;
  readonly path: string;
  readonly fields: readonly CommandField[];
  readonly hidden: readonly (readonly [name: string, value: string])[];
  readonly effects: readonly CommandEffect[];
  readonly plan: string | null;
  readonly formToken: string;
  readonly reason: string;
  readonly problem: string | null;
}

export const maxReasonLength = 1_000;

export function commandPage(parts: CommandPageParts): Markup {
  const { fields, effects, plan, problem, text: words } = parts;
  const folded = plan === null ? undefined : words.folded;
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${words.back}">Back</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">${text(words.title)}</h1>
${problem !== null && html`<p class="bad" role="alert">${prose(problem)}</p>`}
${fields.length > 0 && folded === undefined && choiceForm(parts)}
${effects.length > 0 && html`<h2>${headingOf(parts)}</h2><ul class="events">${effects.map(({ outcome }) => html`<li>${messagesOf(outcome)}</li>`)}</ul>`}
${plan !== null && confirmForm(parts, plan)}
${folded !== undefined && html`<details><summary>${folded}</summary>${choiceForm(parts)}</details>`}
</section>`;
}

function headingOf({ effects, plan }: CommandPageParts): string {
  if (plan !== null) return 'What will happen';
  return effects.some(({ outcome }) => outcome.result === 'invalid') ? 'Not possible like this' : 'Nothing to do';
}

function messagesOf({ messages }: CommandOutcome): readonly Markup[] {
  return messages.map((message) => html`<p>${prose(message)}</p>`);
}

/** Form with the choices. It is a GET, because it only shows the effect. */
function choiceForm({ path, fields, hidden }: CommandPageParts): Markup {
  return html`<form method="get" action="${path}">${hiddenInputs(hidden)}
${fields.map(fieldMarkup)}
<p><button type="submit">Show the effect</button></p></form>`;
}

const countLimits = { min: 1, max: null, step: '1' } as const;

/** Control of a field. A choice or a number must be made, unless it is optional. */
export function fieldMarkup({
  name,
  label,
  value,
  kind,
  options = [],
  hint,
  optional = kind === 'text' || kind === 'duration',
  limits = countLimits,
}: CommandField): Markup {
  const id = `field-${name}`;
  const option = (word: string) =>
    html`<option value="${word}"${word === value && html` selected`}>${text(word)}</option>`;
  const bound = (at: 'min' | 'max') => limits[at] !== null && html` ${at}="${limits[at]}"`;
  const common = html`id="${id}" name="${name}"${!optional && html` required`}${hint !== undefined && html` aria-describedby="${id}-hint"`}`;
  const control =
    kind === 'choice'
      ? html`<select ${common}><option value="">${optional ? '' : 'Choose …'}</option>${options.map(option)}</select>`
      : kind === 'number'
        ? html`<input type="number" ${common} value="${value}" step="${limits.step}"${bound('min')}${bound('max')} autocomplete="off">`
        : html`<input type="text" ${common} value="${value}" maxlength="${maxReasonLength}" autocomplete="off">`;
  return html`<p class="field"><label for="${id}">${label}</label> ${control}${hint !== undefined && html` <small id="${id}-hint">${text(hint)}</small>`}</p>`;
}

function confirmForm({ path, fields, hidden, formToken, reason, text: words }: CommandPageParts, plan: string): Markup {
  const chosen = fields.map(({ name, value }) => [name, value] as const);
  return html`<form method="post" action="${path}">${hiddenInputs([...hidden, ...chosen, ['plan', plan], [formTokenField, formToken]])}
<p class="field"><label for="reason">Reason, for the audit log</label>
<input id="reason" name="reason" type="text" value="${reason}" maxlength="${maxReasonLength}" required autocomplete="off"></p>
<p class="line"><button class="primary" type="submit">${words.button}</button> <a href="${words.back}">Cancel</a></p></form>`;
}

function hiddenInputs(pairs: readonly (readonly [string, string])[]): readonly Markup[] {
  return pairs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

export interface CommandRun {
  readonly text: CommandText;
  readonly by: string;
  readonly reason: string;
  readonly at: EpochMs;
  /** Number of its requests; `outcomes` has the outcomes so far. */
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
${messagesOf(outcome)}</li>`;
  });
  return html`<nav class="crumbs" aria-label="Where you are"><a href="${run.text.back}">Back</a></nav>
<section class="panel command" aria-labelledby="command"><h1 id="command">${text(run.text.title)}</h1>
<p class="muted">${text(run.by)}, ${ago(run.at, now)}: ${text(run.reason)}</p>
<div role="status">
${left > 0 && html`<p><span class="badge waiting">in progress</span> ${counted(left, 'command is', 'commands are')} being carried out and read back. This page updates itself.</p>`}
<ul class="events">${items}</ul></div>
<p><a href="${run.text.back}">Back</a></p>
</section>`;
}
