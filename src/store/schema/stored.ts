// The JSON columns as model types, and verdicts as short texts.
import type { Action } from '../../model/action.ts';
import type { GuardMemory } from '../../model/guard-memory.ts';
import { orNone } from '../../model/none.ts';
import type { Verdict } from '../../model/verdict.ts';
import type { WritesOff } from '../../model/write-scope.ts';
import type { RowKey } from '../failure.ts';
import { parsed } from './parsed.ts';

export function storedAction({ id, action }: { readonly id: string; readonly action: string }): Action {
  return parsed<Action>(action, 'actions', { id });
}

/** `key`: that of the mailbox's row. */
export function storedMemory(json: string, key: RowKey): GuardMemory {
  const stored = parsed<GuardMemory>(json, 'mailboxes', key);
  return { ...stored, interventions: orNone(stored.interventions), reversals: orNone(stored.reversals) };
}

export function storedWritesOff({ scope, off }: { readonly scope: string; readonly off: string }): WritesOff {
  return parsed<WritesOff>(off, 'writes_off', { scope });
}

/** What most verdicts lack is left out: a fleet has such a row a day and mailbox. */
export function verdictText(verdict: Verdict): string {
  // JSON leaves out what is undefined. To make a copy without those fields takes longer than to write it.
  const kept: Partial<Record<keyof Verdict, unknown>> = { ...verdict };
  if (verdict.wanted === verdict.action) kept.wanted = undefined;
  for (const name of maybeBlank) if (isBlank(kept[name])) kept[name] = undefined;
  return JSON.stringify(kept);
}

const isBlank = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);

const blanks = {
  ...{ mode: null, limitPpm: null, windowFrom: null, windowTo: null },
  ...{ emergency: null, burst: null, bouncesUntilBreach: null, restore: null, warnings: [] },
} as const satisfies Partial<Verdict>;

const maybeBlank = Object.keys(blanks) as readonly (keyof typeof blanks)[];

/** As `verdictText` wrote it. */
export type StoredVerdict = Omit<Verdict, keyof typeof blanks | 'wanted'> & Partial<Verdict>;

export function verdictFrom(stored: StoredVerdict): Verdict {
  return { ...blanks, wanted: stored.action, ...stored };
}

/** `key`: that of the decision's row. */
export function storedVerdict(text: string, key: RowKey): Verdict {
  return verdictFrom(parsed<StoredVerdict>(text, 'decisions', key));
}
