// The JSON columns as model types, and verdicts as short texts.
import type { Action } from '../../core/action.ts';
import type { DecisionDay } from '../../core/decision.ts';
import type { GuardMemory } from '../../core/guard-memory.ts';
import { addDays, dayMs, type IsoDate } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import type { WritesOff } from '../../core/write-scope.ts';
import { DamagedRowError, type RowKey } from '../failure.ts';
import type { Tables } from './tables.ts';

// Reads the JSON in a row. What is no JSON is a damaged row: it is named, so that a person can look at it and delete it.

/** The object that was stored. Throws DamagedRowError. */
export function parsed<Value>(json: string, table: keyof Tables, key: RowKey): Value {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new DamagedRowError(table, key);
  }
  if (typeof value !== 'object' || value === null) throw new DamagedRowError(table, key);
  return value as Value;
}

export function storedAction({ id, action }: { readonly id: string; readonly action: string }): Action {
  return parsed<Action>(action, 'actions', { id });
}

/** `key`: that of the mailbox's row. */
export function storedMemory(json: string, key: RowKey): GuardMemory {
  return parsed<GuardMemory>(json, 'mailboxes', key);
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

/** The names that a message is about. `id`: that of the delivery. Throws DamagedRowError. */
export function storedNames(text: string, id: string): readonly string[] {
  const names = parsed<unknown>(text, 'deliveries', { id });
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new DamagedRowError('deliveries', { id });
}

// The days that a decision rests on, as one short text: a fleet has such a row a day and mailbox.

/** `["2026-03-04",0,12,0,1,30,1]`: the first date, then for each day how many days after it, sent, and bounced. */
export function daysText(days: readonly DecisionDay[]): string {
  const [first] = days.map(([date]) => date).sort();
  if (first === undefined) return '[]';
  const flat = days.flatMap(([date, sent, bounced]) => [daysBetween(first, date), sent, bounced]);
  return JSON.stringify([first, ...flat]);
}

/** Days as `daysText` wrote them. `key`: that of the decision's row. Throws DamagedRowError. */
export function storedDays(text: string, key: RowKey): readonly DecisionDay[] {
  const [first, ...flat] = parsed<readonly [IsoDate, ...(number | null)[]]>(text, 'decisions', key);
  return Array.from({ length: Math.floor(flat.length / 3) }, (_, index) => {
    const [after, sent, bounced] = flat.slice(index * 3);
    return [addDays(first, after ?? 0), sent ?? null, bounced ?? null];
  });
}

const daysBetween = (from: IsoDate, to: IsoDate) => Math.round((Date.parse(to) - Date.parse(from)) / dayMs);

// One object for answers of one text, while a fleet is read: the mailboxes of a domain have the same DNS records, and those that are well
// the same details.

/** In what the other routes answer, hardly two mailboxes are alike. */
const sharedRoutes: readonly unknown[] = ['dns', 'mailbox'];
/** Then it begins anew. */
const maxTexts = 2_000;

export class SharedAnswers {
  readonly #byText = new Map<string, unknown>();

  /** `key`: that of the observation's row. Throws DamagedRowError. */
  read<Answer>(text: string, key: RowKey): Answer {
    if (!sharedRoutes.includes(key['route'])) return parsed<Answer>(text, 'observations', key);
    const known = this.#byText.get(text);
    if (known !== undefined) return known as Answer;
    const answer = parsed<Answer>(text, 'observations', key);
    if (this.#byText.size >= maxTexts) this.#byText.clear();
    this.#byText.set(text, answer);
    return answer;
  }
}
