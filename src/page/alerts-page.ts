// The alerts: what fires, the gravest first, with what was sent where; and what began and ended lately.
import { html } from 'hono/html';
import { matches } from '../alert/matching.ts';
import { type Alert, type Severity, type Silence, severities, type Transition } from '../model/alert.ts';
import type { Delivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/time.ts';
import { counted } from '../wording/phrases.ts';
import { alertItem, alertTitle, runbookLink } from './alert-item.ts';
import { deliveryItem } from './delivery-item.ts';
import { ago, type Markup, severityBadge } from './elements.ts';
import { gravestOf } from './fleet-view.ts';
import { Regions, type View } from './regions.ts';

export interface AlertSelection {
  readonly severity: Severity | null;
  readonly rule: string | null;
  readonly account: string | null;
}

export interface AlertsPageParts {
  /** All that fire, in no order. */
  readonly firing: readonly Alert[];
  /** How many may fire soon. */
  readonly pending: number;
  /** What began and ended, the newest first; null when it could not be read. */
  readonly past: readonly Transition[] | null;
  /** The newest first; null when they could not be read. */
  readonly deliveries: readonly Delivery[] | null;
  readonly silences: readonly Silence[];
  readonly selection: AlertSelection;
  readonly now: EpochMs;
  readonly command: string;
}

const alertsShown = 50;
const sentShown = 4;
const deliveriesShown = 30;

export function alertsPage(parts: AlertsPageParts): View {
  const { firing, selection } = parts;
  const regions = new Regions();
  const body = html`<h1>Alerts</h1>
${regions.piece('states', severityLinks(firing, selection))}
<div class="columns"><div>
${regions.piece('firing', firingPanel(parts))}
${regions.piece('past', pastPanel(parts))}
</div><div>
${regions.piece('messages', messagesPanel(parts))}
</div></div>`;
  return { title: 'Alerts · Warmwarden', body, regions };
}

function pathOf(selection: AlertSelection): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(selection)) if (value !== null) query.set(name, value);
  return query.size === 0 ? '/alerts' : `/alerts?${query}`;
}

function severityLinks(firing: readonly Alert[], selection: AlertSelection): Markup {
  const link = (severity: Severity | null, word: string, total: number) =>
    html`<li><a class="chip ${severity ?? 'all'}" href="${pathOf({ ...selection, severity })}"${selection.severity === severity ? html` aria-current="true"` : ''}>${word} <b>${total}</b></a></li>`;
  const of = (severity: Severity) => firing.filter((alert) => alert.severity === severity).length;
  return html`<nav aria-label="Filter by severity"><ul class="chips">${link(null, 'All firing', firing.length)}${severities.map((severity) => link(severity, severity, of(severity)))}</ul></nav>`;
}

function isChosen(alert: Alert, { severity, rule, account }: AlertSelection): boolean {
  return (
    (severity === null || alert.severity === severity) &&
    (rule === null || alert.rule === rule) &&
    (account === null || alert.account === account)
  );
}

function firingPanel({ firing, pending, deliveries, silences, selection, now }: AlertsPageParts): Markup {
  const chosen = firing.filter((alert) => isChosen(alert, selection));
  const about = byAlert(deliveries ?? []);
  const items = gravestOf(chosen, alertsShown).map((alert) =>
    alertItem({
      alert,
      now,
      ...(deliveries && { sent: (about.get(alert.fingerprint) ?? []).slice(0, sentShown) }),
      silence: silences.find(({ match }) => matches(alert, match)) ?? null,
    }),
  );
  const left = chosen.length - items.length;
  return html`<section class="panel" aria-labelledby="firing"><h2 id="firing">Firing <span class="count">${chosen.length}</span></h2>
${items.length === 0 ? html`<p class="muted">No alert is firing${selection.severity || selection.rule || selection.account ? ' that matches' : ''}.</p>` : html`<ol class="events">${items}</ol>`}
${left > 0 ? html`<p class="muted">${counted(left, 'more alert is', 'more alerts are')} firing: <a href="/api/alerts?status=firing&amp;limit=1000">/api/alerts</a> has them all.</p>` : ''}
${pending > 0 ? html`<p class="muted">${counted(pending, 'condition is', 'conditions are')} observed and may fire soon.</p>` : ''}</section>`;
}

/** The messages about each alert, by its fingerprint. */
function byAlert(deliveries: readonly Delivery[]): ReadonlyMap<string, readonly Delivery[]> {
  const about = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    for (const fingerprint of delivery.alerts) {
      const known = about.get(fingerprint);
      if (known) known.push(delivery);
      else about.set(fingerprint, [delivery]);
    }
  }
  return about;
}

const kindWords: Readonly<Record<Transition['kind'], string>> = {
  firing: 'began',
  worsened: 'got worse',
  reminder: 'reminded',
  resolved: 'resolved',
  event: 'happened',
};

function pastPanel({ past, selection, now }: AlertsPageParts): Markup {
  if (past === null) {
    return html`<section class="panel" aria-labelledby="past"><h2 id="past">Recent alerts</h2>
<p class="bad">Warmwarden cannot read past alerts at the moment. The log says why.</p></section>`;
  }
  const items = past
    .filter(({ alert }) => isChosen(alert, selection))
    .map(
      ({ kind, at, alert }) => html`<li class="${kind === 'resolved' ? 'ok' : alert.severity}">
<p class="line"><span class="badge ${kind === 'resolved' ? 'confirmed' : 'none'}">${kindWords[kind]}</span> ${severityBadge(alert.severity)} <strong>${alertTitle(alert)}</strong> <span class="muted">${ago(at, now)}</span> ${runbookLink(alert)}</p></li>`,
    );
  return html`<section class="panel" aria-labelledby="past"><h2 id="past">Recent alerts <small>what began and ended, the newest first</small></h2>
${items.length === 0 ? html`<p class="muted">Nothing${past.length > 0 ? ' that matches' : ' yet'}.</p>` : html`<ol class="events dense">${items}</ol>`}</section>`;
}

function messagesPanel({ deliveries, now, command }: AlertsPageParts): Markup {
  const items = (deliveries ?? []).slice(0, deliveriesShown).map((delivery) => deliveryItem(delivery, now));
  const dead = (deliveries ?? []).some(({ state }) => state === 'dead');
  return html`<section class="panel" aria-labelledby="messages"><h2 id="messages">Newest messages</h2>
${deliveries === null ? html`<p class="bad">Warmwarden cannot read the list of messages at the moment. The log says why.</p>` : ''}
${dead ? html`<p class="muted">Send undelivered messages again: <code>${command} channels resend CHANNEL</code></p>` : ''}
${deliveries?.length === 0 ? html`<p class="muted">There are no messages yet.</p>` : html`<ul class="plain">${items}</ul>`}</section>`;
}
