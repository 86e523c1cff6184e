// Answers of the mailbox API as they are read: small ones at once, large ones in a thread that hands them over in pieces.

import type { StatsAnswer } from '../core/answers.ts';
import { PackedStats } from '../core/packed-stats.ts';
import { Apart, threadFile } from './http/apart.ts';
import { isLarge, jsonOf, type Success, textOf } from './http/exchange.ts';
import { malformed, type Result } from './http/failure.ts';
import type { Redactor } from './http/redactor.ts';
import { type AnswerTo, type Expected, type Interpreted, interpret, type RequestKind } from './interpret.ts';

/** What the thread gets besides the body. */
export interface Order {
  readonly expected: Expected<RequestKind>;
  readonly status: number;
  readonly nextPage: boolean;
  /** What its redactor takes out. */
  readonly secrets: { readonly own: string | null; readonly others: readonly string[] };
}

/** The answer with its long lists empty; then what they hold, so many items at a time. */
export type Piece =
  | { readonly answer: Interpreted<RequestKind> }
  | { readonly list: string; readonly items: readonly unknown[] };

const apart = new Apart<Order, Piece>(threadFile('large-answers-thread', import.meta.url));

/** An answer, and how many days of statistics it says that it holds. */
interface ReadAnswer<Answer> {
  readonly result: Result<Answer>;
  readonly days: number | null;
}

/** `doubt`: called with a field's name and a sentence about it. */
export async function readAnswer<Kind extends RequestKind>(
  expected: Expected<Kind>,
  success: Success,
  redactor: Redactor,
  doubt: (field: string, sentence: string) => void,
): Promise<ReadAnswer<AnswerTo<Kind>>> {
  const { status, headers, body } = success;
  const reported = ({ result, doubts, days }: Interpreted<RequestKind>): ReadAnswer<AnswerTo<Kind>> => {
    for (const [field, sentence] of doubts) doubt(field, sentence);
    const kept = expected.about === 'stats' ? packed(result as Result<StatsAnswer>) : result;
    return { result: kept as Result<AnswerTo<Kind>>, days };
  };
  // A Link header to a next page says the same as `has_more` in the body (docs/faults.md S8).
  const nextPage = /rel="?next\b/i.test(String(headers['link'] ?? ''));
  if (isLarge(success)) {
    const secrets = { own: redactor.own, others: redactor.others };
    return reported(await readApart({ expected, status, nextPage, secrets }, body));
  }
  const text = textOf(body);
  // The document does not show the body of a pause: a success without one is a success, for it is read back.
  if (expected.about === 'warmup_write' && text.trim() === '')
    return { result: { ok: true, value: true as AnswerTo<Kind> }, days: null };
  return reported(interpret(expected, { status, json: jsonOf({ status, text }, redactor), nextPage }));
}

/** As it is kept from here on. No earlier: what comes out of the thread is a copy. */
function packed(result: Result<StatsAnswer>): Result<StatsAnswer> {
  return result.ok ? { ok: true, value: PackedStats.of(result.value) } : result;
}

async function readApart(order: Order, body: Buffer): Promise<Interpreted<RequestKind>> {
  let answer: Interpreted<RequestKind> | null = null;
  const lists = new Map<string, unknown[]>();
  const failure = await apart.carryOut(order, body, (piece) => {
    if ('answer' in piece) {
      answer = piece.answer;
      return;
    }
    const list = lists.get(piece.list) ?? [];
    lists.set(piece.list, list);
    list.push(...piece.items);
  });
  if (failure !== null || !answer) {
    return {
      result: malformed(order.status, `it can't be read: ${failure ?? 'it gave no result'}`),
      doubts: new Map(),
      days: null,
    };
  }
  return withLists(answer, lists);
}

function withLists(
  answer: Interpreted<RequestKind>,
  lists: ReadonlyMap<string, readonly unknown[]>,
): Interpreted<RequestKind> {
  const { result } = answer;
  if (!result.ok || result.value === true) return answer;
  return { ...answer, result: { ok: true, value: { ...result.value, ...Object.fromEntries(lists) } } };
}
