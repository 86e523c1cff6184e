// A service that gives its mailbox list one ETag for ever, and answers 304 to whatever is asked with it.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { answer, clientOf, type Script, startScripted } from '../api/scripted-server.ts';

const listOf = (...ids: string[]) => ({
  mailboxes: ids.map((id) => ({ id, email: `${id}@a.example`, status: 'active' })),
});

/** The list as `ids` has it, 304 to every If-None-Match, and 404 to everything else. */
function constant(ids: () => readonly string[]): Script {
  return (response, request) => {
    const isList = request.url === '/v1/mailboxes';
    if (isList && request.headers['if-none-match'] !== undefined) {
      response.writeHead(304, { etag: '"const"' }).end();
      return;
    }
    const body = isList
      ? answer(200, listOf(...ids()), { etag: '"const"' })
      : answer(404, { error: 'no such mailbox' });
    body(response, request);
  };
}

test('the list is asked for as a whole every ten minutes: a new mailbox is seen then', async () => {
  let ids = ['a'];
  await using server = await startScripted(constant(() => ids));
  await using client = clientOf(server.url);
  const read = async () => {
    const list = await client.api.mailboxes();
    return list.ok ? list.value.answer.mailboxes.map(({ id }) => id) : expect.fail();
  };
  await read();
  ids = ['a', 'b'];
  const seen: (readonly string[])[] = [];
  for (let minute = 1; minute <= 11; minute += 1) {
    await client.clock.advance(minuteMs);
    seen.push(await read());
  }
  expect(seen.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);
  expect(server.received.filter(({ headers }) => headers['if-none-match'] === undefined)).toHaveLength(2);
});

test('the next list is asked for as a whole when another route says that a mailbox of it is missing', async () => {
  let ids = ['a', 'b'];
  await using server = await startScripted(constant(() => ids));
  await using client = clientOf(server.url);
  await client.api.mailboxes();
  ids = ['b'];
  await client.api.stats('a');
  const list = await client.api.mailboxes();
  expect(list.ok && list.value.answer.mailboxes.map(({ id }) => id)).toEqual(['b']);
});
