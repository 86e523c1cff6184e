// One action of Warmwarden as an entry of a list: what, on whom, how it ended, and why.
import { html } from 'hono/html';
import {
  type Action,
  type ActionKind,
  type ActionState,
  alreadySo,
  neededNoChange,
  type Person,
} from '../../model/action.ts';
import { mailboxPath } from '../../model/page-links.ts';
import type { EpochMs } from '../../model/time.ts';
import type { Verdict } from '../../model/verdict.ts';
import { sentence } from '../../wording/explain.ts';
import { counted } from '../../wording/phrases.ts';
import { ago, breakable, type Markup, prose } from './elements.ts';

export interface ActionItemParts {
  readonly action: Action;
  readonly explain: (verdict: Verdict) => string;
  readonly now: EpochMs;
  /** Whether to name the mailbox and lead to its page. */
  readonly link: boolean;
}

const done: Readonly<Record<ActionKind, string>> = {
  recovery: 'Switched to recovery',
  pause: 'Paused warm-up',
  restore: 'Restored',
  resume: 'Resumed warm-up',
  mode: 'Mode set',
  limit: 'Target daily limit set',
};
const wanted: Readonly<Record<ActionKind, string>> = {
  recovery: 'Switch to recovery',
  pause: 'Pause warm-up',
  restore: 'Restore',
  resume: 'Resume warm-up',
  mode: 'Set the mode',
  limit: 'Set the target daily limit',
};

/** How an action stands, as a word and as the class that colours it. */
const stateWords: Readonly<Record<ActionState, { readonly word: string; readonly tone: string }>> = {
  planned: { word: 'planned', tone: 'waiting' },
  open: { word: 'in progress', tone: 'waiting' },
  confirmed: { word: 'confirmed', tone: 'confirmed' },
  refused: { word: 'refused', tone: 'critical' },
  unconfirmed: { word: 'not confirmed', tone: 'critical' },
  dropped: { word: 'dropped', tone: 'info' },
};
const noChange = { word: alreadySo, tone: 'none' };

function askedFor({ name, reason }: Person): string {
  return reason === '' ? `${name} requested it.` : `${name} requested it: ${reason}`;
}

export function actionItem({ action, explain, now, link }: ActionItemParts): Markup {
  const { word, tone } = neededNoChange(action) ? noChange : stateWords[action.state];
  const target = action.targetLimit === undefined ? '' : ` to ${counted(action.targetLimit, 'email')}`;
  const what = (action.state === 'confirmed' ? done : wanted)[action.kind] + target;
  const path = mailboxPath({ account: action.account, id: action.mailboxId });
  return html`<li id="action-${action.id}" class="${tone}">
<p class="line"><span class="badge ${tone}">${word}</span> <strong>${what}</strong>
${link ? html`<a href="${path}">${breakable(action.email)}</a>` : ''} <span class="muted">${ago(action.settledAt ?? action.plannedAt, now)}</span></p>
<p>${prose(action.by ? askedFor(action.by) : explain(action.verdict))}</p>
${action.causes.map((cause) => html`<p class="muted">${prose(cause)}</p>`)}
${action.detail === null || action.detail === word ? '' : html`<p class="muted">${prose(sentence(action.detail))}</p>`}
${action.nextTryAt === null ? '' : html`<p class="muted">Next try ${ago(action.nextTryAt, now)}.</p>`}
</li>`;
}
