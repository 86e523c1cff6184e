// A process that has a store and answers commands only once a line comes in, as a daemon that is starting; killed by its test.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { socketPathOf } from '../../src/operations/socket.ts';
import { Store } from '../../src/store/store.ts';

const path = process.argv[2] ?? '';
const since = Number(process.argv[3]);
await Store.open(path, since);
process.stdout.write('starting\n');
await once(process.stdin, 'data');
const outcome = JSON.stringify({ result: 'done', messages: ['it started'] });
createServer((asked, answer) => answer.end(asked.method === 'GET' ? '{"mailboxes":[]}' : outcome)).listen(
  socketPathOf(path),
);
