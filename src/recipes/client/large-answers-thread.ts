// The thread that reads large answers of a recipe service.
import { serveOrders } from '../../api/http/apart-thread.ts';
import { largeJsonOf } from '../../api/http/exchange.ts';
import { Redactor } from '../../api/http/redactor.ts';
import { withoutRows } from './answers.ts';
import type { Order, Piece } from './large-answers.ts';

serveOrders(function* ({ status, secrets }: Order, body: Uint8Array): Generator<Piece> {
  const read = largeJsonOf(status, body, new Redactor(secrets.own, secrets.others));
  yield read.ok ? { ok: true, value: withoutRows(read.value) } : read;
});
