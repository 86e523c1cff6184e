// What earlier versions stored, as this one reads it: fields that they did not know are filled in where it is loaded.
import type { Action } from '../../model/action.ts';
import type { GuardMemory } from '../../model/guard-memory.ts';
import { none, orNone } from '../../model/none.ts';
import type { Claim, Verdict } from '../../model/verdict.ts';
import { everything, type WriteScope, type WritesOff } from '../../model/write-scope.ts';
import type { RowKey } from '../failure.ts';
import { parsed } from './parsed.ts';

type StoredAction<One = Action> = One extends Action
  ? Partial<Pick<One, 'by' | 'causes'>> & Omit<One, 'by' | 'causes'>
  : never;

/** Before persons could ask for a change, every action was the guard's, and nothing was said of causes. */
export function storedAction({ id, action }: { readonly id: string; readonly action: string }): Action {
  const stored = parsed<StoredAction>(action, 'actions', { id });
  return { ...stored, by: stored.by ?? null, causes: stored.causes ?? [] };
}

/** As it was before a pause kept the recovery under it, and with the word that proved it inside the claim. */
type StoredClaim = Omit<Claim, 'under'> & { readonly under?: Claim | null; readonly word?: string | null };

type StoredMemory = Omit<GuardMemory, 'claim' | 'pauseWord'> & {
  readonly claim: StoredClaim | null;
  readonly pauseWord?: string | null;
};

/** `key`: that of the mailbox's row. */
export function storedMemory(json: string, key: RowKey): GuardMemory {
  const stored = parsed<StoredMemory>(json, 'mailboxes', key);
  const { claim } = stored;
  const proven = claim?.kind === 'pause' ? (claim.word ?? null) : null;
  const [interventions, reversals] = [orNone(stored.interventions ?? none), orNone(stored.reversals ?? none)];
  const pauseWord = stored.pauseWord ?? proven;
  return { ...stored, interventions, claim: claim && storedClaim(claim), pauseWord, reversals };
}

function storedClaim({ kind, actionId, since, previousMode, under }: StoredClaim): Claim {
  return { kind, actionId, since, previousMode, under: under ?? null };
}

/** As it was when the scope was one text: everything, ACCOUNT, or ACCOUNT/ID; no account's name has a slash. */
export function storedWritesOff({ scope: key, off }: { readonly scope: string; readonly off: string }): WritesOff {
  type Stored = Omit<WritesOff, 'scope'> & { readonly scope: WriteScope | string };
  const stored = parsed<Stored>(off, 'writes_off', { scope: key });
  return { ...stored, scope: typeof stored.scope === 'string' ? scopeOfText(stored.scope) : stored.scope };
}

function scopeOfText(text: string): WriteScope {
  // An account of that name could not be distinguished from it. What is stopped too widely, a person sees and mends.
  if (text === 'everything') return everything;
  const slash = text.indexOf('/');
  if (slash < 0) return { kind: 'account', account: text };
  const mailboxId = text.slice(slash + 1);
  return { kind: 'mailbox', account: text.slice(0, slash), mailboxId, email: mailboxId };
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
