// Plans of commands. A dry run shows the plan; an agreement is valid only while the plan is the same.

import { createHash } from 'node:crypto';
import { errorText } from '../core/nearest.ts';
import type { CommandOutcome, Confirmation } from '../core/operator-command.ts';

export interface Plan {
  readonly effect: readonly string[];
  /** Exact effect: JSON that differs whenever the effect differs. Omits moments that only move with the clock. */
  readonly about: unknown;
  /** Counts by kind, if the sentences name only some. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Characters of a plan's name: enough that no two plans share a name. */
const nameLetters = 22;

/** Outcome that ends a request here, for a dry run or if the plan is not the agreed one; null to carry on. */
export function stopsAt(
  plan: Plan,
  { dry_run: isDry = false, plan: agreed = null }: Confirmation,
): CommandOutcome | null {
  const name = createHash('sha256').update(JSON.stringify(plan.about)).digest('base64url').slice(0, nameLetters);
  const said = { messages: plan.effect, plan: name, ...(plan.counts && { counts: plan.counts }) };
  if (isDry) return { result: 'planned', ...said };
  if (agreed === null || agreed === name) return null;
  return { result: 'changed', ...said, messages: [changedSince, ...plan.effect] };
}

const changedSince = 'Nothing was done: the situation has changed since you were asked. Now:';

export function noChange(...messages: readonly string[]): CommandOutcome {
  return { result: 'no_change', messages };
}

export function invalid(...messages: readonly string[]): CommandOutcome {
  return { result: 'invalid', messages };
}

export function failed(...messages: readonly string[]): CommandOutcome {
  return { result: 'failed', messages };
}

/** Outcome for an error: it is not known what was carried out. */
export function failure(error: unknown): CommandOutcome {
  return failed(errorText(error));
}
