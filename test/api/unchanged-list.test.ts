// A list that came with an ETag is not sent again while it is the same. RFC 9110, section 13.1.2.
import { expect, test } from 'vitest';
import { answer, clientOf, startScripted } from './scripted-server.ts';

const listOf = (...ids: string[]) => ({
  mailboxes: ids.map((id) => ({ id, email: `${id}@a.example`, status: 'active' })),
});

test('the list is asked for with the ETag that it had, and a 304 is that list, read now', async () => {
  await using server = await startScripted(answer(200, listOf('a', 'b'), { etag: '"one"' }));
  await using client = clientOf(server.url);
  const bytes: [string, number][] = [];
  client.api.onReceived = (route, size) => bytes.push([route, size]);
  const first = await client.api.mailboxes();
  server.script = (response) => response.writeHead(304, { etag: '"one"' }).end();
  await client.clock.advance(60_000);
  const second = await client.api.mailboxes();
  expect(server.received.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
  expect(first.ok && second.ok && [second.value.answer, second.value.at - first.value.at]).toEqual([
    first.ok && first.value.answer,
    60_000,
  ]);
  expect(bytes).toEqual([
    ['mailboxes', JSON.stringify(listOf('a', 'b')).length],
    ['mailboxes', 0],
  ]);
});

test('a list that changed takes the place of the one before, also one without an ETag', async () => {
  await using server = await startScripted(answer(200, listOf('a'), { etag: 'W/"one"' }));
  await using client = clientOf(server.url);
  await client.api.mailboxes();
  server.script = answer(200, listOf('a', 'b'));
  const changed = await client.api.mailboxes();
  expect(changed.ok && changed.value.answer.mailboxes.map(({ id }) => id)).toEqual(['a', 'b']);
  await client.api.mailboxes();
  expect(server.received.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'W/"one"', undefined]);
});

test('a 304 that nobody asked for is a failure', async () => {
  await using server = await startScripted((response) => response.writeHead(304).end());
  await using client = clientOf(server.url);
  expect((await client.api.mailboxes()).ok).toBe(false);
});
