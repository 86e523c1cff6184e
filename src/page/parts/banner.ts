// Shown above every page: what makes all of it old or without effect, and what is wrong with the replicas.
import { html } from 'hono/html';
import type { MissingReplica, ReplicaState } from '../../model/replica.ts';
import { type LeadFacts, leadsOf } from '../../overview/headline.ts';
import { replicaTroubles } from '../../wording/replicas.ts';
import { type Markup, prose, text } from './elements.ts';

export interface BannerFacts extends LeadFacts {
  readonly replicas: readonly ReplicaState[];
  readonly missing: readonly MissingReplica[];
  /** In which sentences give times: an IANA name. */
  readonly zone: string;
}

/** `isFleet`: the headline of the fleet's page says the same as the first of these, and more. */
export function bannerOf(facts: BannerFacts, isFleet: boolean): Markup | string {
  const leads = isFleet ? [] : leadsOf(facts);
  const troubles = replicaTroubles(facts.replicas, facts.missing, facts.zone);
  if (leads.length + troubles.length === 0) return '';
  return html`<div class="banner wrap" role="status">${leads.map(
    ({ sentence, advice }) => html`<p><a href="/">${text(sentence)}</a> ${prose(advice)}</p>`,
  )}
${troubles.length === 0 ? '' : html`<p><a href="/replicas">${text(troubles.join(' '))}</a></p>`}</div>`;
}
