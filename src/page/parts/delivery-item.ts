// One message to a channel as an entry of a list: whether it arrived, and what the last attempt said.
import { html } from 'hono/html';
import { type ListedDelivery, publicState } from '../../model/delivery.ts';
import { resendPath } from '../../model/page-links.ts';
import type { EpochMs } from '../../model/time.ts';
import { doLink } from './command-links.ts';
import { ago, type Markup, text } from './elements.ts';

export const deliveryWords: Readonly<
  Record<ReturnType<typeof publicState>, { readonly word: string; readonly tone: string }>
> = {
  pending: { word: 'waiting', tone: 'waiting' },
  sent: { word: 'sent', tone: 'confirmed' },
  replaced: { word: 'replaced', tone: 'waiting' },
  dead: { word: 'undelivered', tone: 'critical' },
};

export function deliveryItem(delivery: ListedDelivery, now: EpochMs): Markup {
  const { word, tone } = deliveryWords[publicState(delivery)];
  return html`<li id="delivery-${delivery.id}"><p class="line"><span class="badge ${tone}">${word}</span> ${text(delivery.title)}${publicState(delivery) === 'dead' ? doLink(resendPath({ delivery: delivery.id }), 'Send again') : ''}</p>
<p class="muted">${text(delivery.channel)}, ${ago(delivery.settledAt ?? delivery.createdAt, now)}${delivery.detail ? `: ${text(delivery.detail)}` : ''}</p></li>`;
}
