// The thread that reads large answers: parsed, freed of secrets and checked here, handed over a few hundred items at a time.
import { serveOrders } from './http/apart-thread.ts';
import { largeJsonOf } from './http/exchange.ts';
import { Redactor } from './http/redactor.ts';
import { interpret } from './interpret.ts';
import type { Order, Piece } from './large-answers.ts';

const itemsAPiece = 500;

function* carryOut({ expected, status, nextPage, secrets }: Order, body: Uint8Array): Generator<Piece> {
  const redactor = new Redactor(secrets.own, secrets.others);
  const answer = interpret(expected, { status, json: largeJsonOf(status, body, redactor), nextPage });
  const { result } = answer;
  if (!result.ok || result.value === true) return yield { answer };
  const lists = Object.entries(result.value).filter((entry): entry is [string, unknown[]] => {
    return Array.isArray(entry[1]) && entry[1].length > itemsAPiece;
  });
  const emptied = Object.fromEntries(lists.map(([name]) => [name, []]));
  yield { answer: { ...answer, result: { ok: true, value: { ...result.value, ...emptied } } } };
  for (const [list, items] of lists) {
    for (let at = 0; at < items.length; at += itemsAPiece) yield { list, items: items.slice(at, at + itemsAPiece) };
  }
}

serveOrders(carryOut);
