// The processes that share the store: which accounts each guards, its version, and what is wrong with it.
import { html } from 'hono/html';
import type { MissingReplica, ReplicaState } from '../../core/replica.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import { replicaTroubles } from '../../core/wording/replicas.ts';
import { ago, type Markup, Regions, text, type View } from './parts/elements.ts';

export function replicasPage({
  replicas,
  missing,
  now,
  zone,
}: {
  readonly replicas: readonly ReplicaState[];
  readonly missing: readonly MissingReplica[];
  readonly now: EpochMs;
  /** In which sentences give times: an IANA name. */
  readonly zone: string;
}): View {
  const regions = new Regions();
  const alone = html`<p class="muted">This is the only process that uses the store. With a PostgreSQL store, several replicas can share the accounts.</p>`;
  const list = html`<ul class="plain">${replicas.map((replica) => item(replica, now))}</ul>`;
  const body = html`<h1>Replicas</h1>
<section class="panel" aria-label="Replicas">
${regions.piece('replicas', html`${troublesList(replicaTroubles(replicas, missing, zone))}${replicas.length === 0 ? alone : list}`)}</section>`;
  return { title: 'Replicas · Warmwarden', body, regions };
}

function troublesList(troubles: readonly string[]): Markup | string {
  if (troubles.length === 0) return '';
  return html`<ul class="plain bad">${troubles.map((trouble) => html`<li>${text(trouble)}</li>`)}</ul>`;
}

function item(replica: ReplicaState, now: EpochMs): Markup {
  const { name, version, startedAt, silent, accounts, notifies, isSelf } = replica;
  const guards =
    accounts.length === 0
      ? 'Guards no account'
      : `Guards ${counted(accounts.length, 'account')}: ${accounts.join(', ')}`;
  const sends = notifies ? ' Sends the messages.' : '';
  return html`<li><p class="line"><strong>${text(name)}</strong> ${isSelf ? html`<span class="muted">served this page</span>` : ''} ${silent ? html`<strong class="bad">silent</strong>` : ''}</p>
<p>${text(guards)}.${sends}</p>
<p class="muted">Version ${text(version)}, started ${ago(startedAt, now)}.</p></li>`;
}
