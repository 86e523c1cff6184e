// What a command would do, before it does it. A dry run shows the plan; what was agreed to is done only while it is the plan.

import { createHash } from 'node:crypto';
import { errorText } from '../core/nearest.ts';
import type { CommandOutcome, Confirmation } from '../core/operator-command.ts';

export interface Plan {
  /** What will be done, in sentences for the person. */
  readonly effect: readonly string[];
  /** What exactly: JSON that differs when something else would be done. Moments that only move with the clock stay out. */
  readonly about: unknown;
  /** How many of what the sentences name some of. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Letters of a plan's name: enough that two plans never have the same one. */
const nameLetters = 22;

/** The outcome that ends a request here: of a dry run, or when the plan is not the one agreed to. null: carry on. */
export function stopsAt(plan: Plan, { dryRun = false, plan: agreed = null }: Confirmation): CommandOutcome | null {
  const name = createHash('sha256').update(JSON.stringify(plan.about)).digest('base64url').slice(0, nameLetters);
  const said = { messages: plan.effect, plan: name, ...(plan.counts && { counts: plan.counts }) };
  if (dryRun) return { result: 'planned', ...said };
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

/** An error as an outcome: nothing is known of what was done. */
export function failure(error: unknown): CommandOutcome {
  return failed(errorText(error));
}
